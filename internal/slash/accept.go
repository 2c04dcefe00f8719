package slash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
)

// An acceptance is the hidden line of our reply that pins a command: the comment
// and a digest of its first line, the commit, the run, and the attempt that it
// starts. Only a comment of our own account counts as one.
type acceptance struct {
	comment int64
	digest  string
	sha     string
	run     int64
	attempt int
}

var acceptanceLine = regexp.MustCompile(`^<!-- triagebot-accepted:([0-9]{1,18}):([0-9a-f]{16}):([0-9a-f]{40,64}):([0-9]{1,18}):([0-9]{1,6}) -->\n`)

func digest(body string) string {
	line, _, _ := strings.Cut(body, "\n")
	sum := sha256.Sum256([]byte(strings.TrimSuffix(line, "\r")))
	return hex.EncodeToString(sum[:8])
}

// acceptance is the reply to an accepted command.
func (h *handler) acceptance(run gh.Run, sha string) string {
	what := "The failing tests are triaged again"
	switch {
	case h.cmd.Action == Rerun:
		what = "The failed jobs run again as they are"
	case len(h.cmd.Tests) == 1:
		what = "One test is triaged"
	case len(h.cmd.Tests) > 1:
		what = fmt.Sprintf("%d tests are triaged", len(h.cmd.Tests))
	}
	if h.cmd.Runs > 0 {
		what += fmt.Sprintf(", at most %d runs each", h.cmd.Runs)
	}
	if h.cmd.Lag != "" {
		what += ", lag " + h.cmd.Lag
	}
	return fmt.Sprintf("<!-- triagebot-accepted:%d:%s:%s:%d:%d -->\n%s, at %s: [run %d](%s). If the pull request moves on, the result is marked as out of date.\n",
		h.comment.ID, digest(h.comment.Body), sha, run.ID, run.Attempt+1, what, sha, run.ID, run.URL)
}

// acceptanceIn reads the acceptance of a comment of ours.
func acceptanceIn(c gh.CommentRef, login string) (acceptance, bool) {
	if !strings.EqualFold(c.Author, login) {
		return acceptance{}, false
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(c.Body, "\r\n", "\n"), "\n")
	m := acceptanceLine.FindStringSubmatch(rest)
	if m == nil || first != gh.Marker("reply/"+m[1]) { // a report of ours shows strangers' text, a reply does not
		return acceptance{}, false
	}
	comment, cerr := strconv.ParseInt(m[1], 10, 64)
	run, rerr := strconv.ParseInt(m[4], 10, 64)
	attempt, aerr := strconv.Atoi(m[5])
	return acceptance{comment, m[2], m[3], run, attempt}, cerr == nil && rerr == nil && aerr == nil
}

// Reader is what [Accepted] asks for. [gh.Client] has it; reading is enough.
type Reader interface {
	Login(ctx context.Context) (string, error)
	CommentByID(ctx context.Context, id int64) (gh.CommentRef, error)
	Comments(ctx context.Context, number int, since time.Time) ([]gh.CommentRef, error)
}

// Accepted finds the command that started this attempt of this run: one that we
// replied to with this commit, run and attempt, and whose comment still says
// what it said then. It is false when the attempt was started in another way.
func Accepted(ctx context.Context, g Reader, number int, sha string, run int64, attempt int) (Command, bool, error) {
	login, err := g.Login(ctx)
	if err != nil {
		return Command{}, false, err
	}
	all, err := g.Comments(ctx, number, time.Time{})
	if err != nil {
		return Command{}, false, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		a, ok := acceptanceIn(all[i], login)
		if !ok || a.sha != sha || a.run != run || a.attempt != attempt {
			continue
		}
		c, err := g.CommentByID(ctx, a.comment)
		if err != nil {
			return Command{}, false, fmt.Errorf("reading the command that started this attempt: %w", err)
		}
		if digest(c.Body) != a.digest {
			return Command{}, false, fmt.Errorf("reading the command that started this attempt: comment %d was edited after it was accepted", a.comment)
		}
		cmd, err := Parse(c.Body)
		return cmd, err == nil, err
	}
	return Command{}, false, nil
}
