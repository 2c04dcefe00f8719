package publish

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// standing is a comment of ours as it stands.
type standing struct {
	there  bool
	head   string
	source Source
	page   string
}

var (
	headMark   = regexp.MustCompile(`^<!-- triagebot-head:([0-9a-f]{40,64}) -->\n`)
	sourceMark = regexp.MustCompile(`^<!-- triagebot-run:([0-9]{1,18}):([0-9]{1,6}):([A-Za-z0-9._-]*) -->\n`)
	notFile    = regexp.MustCompile(`[^A-Za-z0-9._-]|-->|--+`)
)

// line is the hidden line that says where a page comes from, empty when that is
// not known.
func (s Source) line() string {
	if s.Run == 0 {
		return ""
	}
	return fmt.Sprintf("<!-- triagebot-run:%d:%d:%s -->\n", s.Run, s.Attempt, s.file())
}

// file is the workflow's file without what could mean something in a comment.
func (s Source) file() string {
	if s.Workflow == "" {
		return ""
	}
	return notFile.ReplaceAllString(path.Base(s.Workflow), "_")
}

// of reports whether the comment is of the same attempt of the same run.
func (s standing) of(sha string, from Source) bool {
	return s.there && s.head == sha && from.Run != 0 && s.source.Run == from.Run && s.source.Attempt == from.Attempt
}

// stands finds the comment with a key among those of a pull request.
func stands(all []gh.CommentRef, login, key string) standing {
	for _, c := range all {
		rest, ours := strings.CutPrefix(strings.ReplaceAll(c.Body, "\r\n", "\n"), gh.Marker(key)+"\n")
		if !ours || !strings.EqualFold(c.Author, login) {
			continue
		}
		s := standing{there: true}
		if m := headMark.FindStringSubmatch(rest); m != nil {
			s.head, rest = m[1], rest[len(m[0]):]
		}
		if m := sourceMark.FindStringSubmatch(rest); m != nil {
			run, err := strconv.ParseInt(m[1], 10, 64)
			attempt, aerr := strconv.Atoi(m[2])
			if err == nil && aerr == nil {
				s.source = Source{run, attempt, m[3]}
			}
			rest = rest[len(m[0]):]
		}
		s.page = rest
		return s
	}
	return standing{}
}

// place is the comment that a page belongs in, and how it stands. What tells of
// some tests only, or of another workflow, has a comment of its own: it must not
// take away what was said of the others.
func place(ctx context.Context, g GitHub, number int, t target, parts []report.Part, o Options) (string, standing, error) {
	login, err := g.Login(ctx)
	if err != nil {
		return "", standing{}, err
	}
	all, err := g.Comments(ctx, number, time.Time{})
	if err != nil {
		return "", standing{}, err
	}
	key := Key(o.Check)
	if some(parts) {
		key += "-some" // no name of a check has a hyphen in its key
	}
	own := key + "-of/" + o.Source.file()
	old, mine := stands(all, login, key), stands(all, login, own)
	// A green run corrects what its own workflow said, also of an older commit.
	others := old.there && (old.head == t.sha || !red(parts)) && old.source.file() != "" && old.source.file() != o.Source.file()
	if o.Source.file() != "" && (mine.there || others) {
		return own, mine, nil
	}
	return key, old, nil
}

// some reports whether a report is of tests that were named, and says nothing of
// the others that were red.
func some(parts []report.Part) bool {
	return slices.ContainsFunc(parts, func(p report.Part) bool { return p.Problem == "" && p.Report.Check.Source == "test" })
}

// note is what a page of some tests begins with.
func note(parts []report.Part, sha string) string {
	if !some(parts) {
		return ""
	}
	return fmt.Sprintf("This is about the tests that were asked for, at %s. Others of this check may be red, and are not in here.\n\n", short(sha))
}

// joined is the page of two jobs of a run; the one with a fault of the pull
// request's comes first.
func joined(old, page string, parts []report.Part) string {
	first, second := old, page
	if slices.ContainsFunc(parts, func(p report.Part) bool { return slices.ContainsFunc(p.Report.Verdicts, triage.Verdict.Yours) }) {
		first, second = page, old
	}
	return strings.TrimRight(first, "\n") + "\n\n---\n\n" + second
}
