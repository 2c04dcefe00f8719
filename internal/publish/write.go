package publish

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
)

// target is where a page goes, and what it is about.
type target struct {
	pull gh.Pull
	// sha is the head that was measured, as the API tells it.
	sha string
	// stale is set when that is no longer the head of the pull request.
	stale bool
	// passed is set when the run is green as a whole.
	passed bool
	// whole is set when the page is of all jobs of the run.
	whole bool
}

// ToPull writes a page about reports that were measured here, or given by hand.
// sha is the head of the pull request that they are about; when it is empty the
// reports tell, for whoever gives them by hand.
func ToPull(ctx context.Context, g GitHub, number int, sha string, parts []report.Part, o Options) (Outcome, error) {
	pull, err := g.Pull(ctx, number)
	if err != nil {
		return Outcome{}, err
	}
	if sha == "" {
		sha = about(ctx, g, pull, parts)
	}
	if pull.State != "open" {
		return Outcome{Said: fmt.Sprintf("pull request %d is closed", number), Page: page(parts, o, pull.Fork()), Reports: reports(parts)}, nil
	}
	if other := foreign(ctx, g, pull, sha, parts); other != "" {
		return Outcome{Said: fmt.Sprintf("commit %s was measured, which does not contain the pull request's %s, so nothing is written: check out the pull request", short(other), short(sha)), Page: page(parts, o, pull.Fork()), Reports: reports(parts)}, nil
	}
	t := target{pull: pull, sha: sha, stale: pull.Stale(sha), passed: !red(parts)}
	return write(ctx, g, t, parts, Outcome{Reports: reports(parts)}, o)
}

// about is the head that reports are about: that of the pull request, unless
// they measured a commit that does not contain it.
func about(ctx context.Context, g GitHub, pull gh.Pull, parts []report.Part) string {
	for _, p := range parts {
		sha := p.Report.Check.Head.SHA
		if sha == pull.Head.SHA || sha == pull.MergeSHA || !isSHA(sha) || contains(ctx, g, sha, pull.Head.SHA) == nil {
			continue
		}
		return sha
	}
	return pull.Head.SHA
}

// foreign is the commit of a report that the API knows not to contain what the
// pull request proposes, as main checked out by mistake; empty when there is none.
func foreign(ctx context.Context, g GitHub, pull gh.Pull, sha string, parts []report.Part) string {
	for _, p := range parts {
		got := p.Report.Check.Head.SHA
		if p.Problem != "" || got == sha || got == pull.MergeSHA || !isSHA(got) {
			continue
		}
		if base, err := g.MergeBase(ctx, sha, got); err == nil && base != sha {
			return got
		}
	}
	return ""
}

// write decides what the comment is to say, and writes it.
func write(ctx context.Context, g GitHub, t target, parts []report.Part, out Outcome, o Options) (Outcome, error) {
	body := page(parts, o, t.pull.Fork())
	create := red(parts) && body != ""
	if create {
		body = note(parts, t.sha) + body
	}
	out.Page = body
	switch {
	case !create && !t.passed:
		out.Said = "the run left no report, and it is not green either: the comment stays as it is"
		return out, nil
	case !create:
		body = fmt.Sprintf("**The check is green** at %s: nothing is red any more.\n", short(t.sha))
	}
	if o.DryRun {
		out.Page, out.Said = body, "dry run: nothing was written"
		return out, nil
	}
	// The head may have moved while the artifacts were read.
	pull, err := g.Pull(ctx, t.pull.Number)
	if err != nil {
		return out, err
	}
	key, old, err := place(ctx, g, pull.Number, t, parts, o)
	if err != nil {
		return out, err
	}
	if t.stale = pull.Stale(t.sha); t.stale {
		if pull.State != "open" {
			out.Said = "the pull request was closed in the meantime"
			return out, nil
		}
		if old.head == pull.Head.SHA {
			out.Said = "the comment already speaks of a newer commit"
			return out, nil
		}
		body = fmt.Sprintf("**Out of date:** this is about %s, and the pull request is at %s now.\n\n", short(t.sha), short(pull.Head.SHA)) + body
		out.Said = "the pull request has moved on to another commit"
	}
	if !t.whole && old.of(t.sha, o.Source) {
		if !create || utf8.RuneCountInString(old.page)+utf8.RuneCountInString(body) > report.CommentLimit-reserve {
			out.Said = "another job of this run has written the comment of this check, and it stays: give each its own check-name"
			return out, nil
		}
		body = joined(old.page, body, parts)
	}
	out.Page = body
	body = headLine(t.sha) + o.Source.line() + body
	if out.Comment, err = g.Upsert(ctx, pull.Number, gh.Comment{Marker: key, Body: body, Create: create}); err != nil {
		return out, err
	}
	if out.Comment.Action == gh.None {
		out.Said = "nothing is red, and there is no comment to correct"
	}
	return out, nil
}

// shortSHA is how much of a commit's name is shown; GitHub makes it a link.
const shortSHA = 12

func short(sha string) string { return sha[:min(len(sha), shortSHA)] }

// headLine is the hidden line that says which head a comment is about.
func headLine(sha string) string { return "<!-- triagebot-head:" + sha + " -->\n" }
