package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// issueWriter is what keeps the tracking issue; [*gh.Client] is one.
type issueWriter interface {
	UpsertIssue(ctx context.Context, w gh.Issue) (gh.Result, error)
}

// The tracking issue of sweeps: there is one for a repository and suite, and never
// one for a test.
const (
	sweepLabel = "triagebot"
	// sweepIssues is how many open issues of ours there may be; at that number no
	// other is opened.
	sweepIssues = 3
)

// trackSweep brings the tracking issue up to date with a sweep: open with the page
// while there are findings, closed with the evidence once a whole sweep is clean. A
// sweep that found nothing but was cut short, or left leads open, proves nothing, and
// changes nothing. What the issue says comes from untrusted tests: it is made by
// package report.
func trackSweep(ctx context.Context, w issueWriter, r triage.Report, link string) (gh.Result, error) {
	n := report.SweepFindings(r)
	switch {
	case r.Sweep == nil:
		return gh.Result{Action: gh.None}, nil
	case n == 0 && !report.SweepClean(r):
		return gh.Result{Action: gh.None}, nil
	}
	i := gh.Issue{Marker: "sweep/" + markerWord(r.Check.Suite), Labels: []string{sweepLabel}, Cap: sweepIssues}
	if n == 0 {
		i.Closing = report.SweepEvidence(r)
		if link != "" {
			i.Closing += "\n\n" + link
		}
	} else {
		i.Open = true
		i.Title = fmt.Sprintf("triagebot: the sweep of %s found %s", markerWord(r.Check.Suite), several1(n, "test", "tests"))
		i.Body = report.Markdown(r, report.Options{ReportPath: reportFile, Limit: report.CommentLimit - issueSlack})
		if link != "" {
			i.Body = link + "\n\n" + i.Body
		}
	}
	res, err := w.UpsertIssue(ctx, i)
	if err != nil {
		return res, fmt.Errorf("keeping the tracking issue: %w", err)
	}
	return res, nil
}

// tellGitHub keeps the comment of a pull request, or the tracking issue of a sweep.
func (a *actionRun) tellGitHub(ctx context.Context, r triage.Report) (url string, err error) {
	if r.Sweep == nil {
		return a.comment(ctx, &r, []report.Part{{Name: a.in["check-name"], Report: r}})
	}
	ref, main := a.env("GITHUB_REF"), "refs/heads/"+a.event.Repo.DefaultBranch
	switch {
	case a.in["comment"] == commentOff || ctx.Err() != nil:
		return "", nil
	case ref != "" && ref != main:
		a.annotate(gh.Notice, "The sweep is not of the default branch, so its tracking issue is left alone.")
		return "", nil
	case a.in["dry-run"] == "true":
		a.annotate(gh.Notice, fmt.Sprintf("The tracking issue would be kept: %d findings.", report.SweepFindings(r)))
		return "", nil
	}
	g, err := a.client()
	var res gh.Result
	if err == nil {
		res, err = trackSweep(ctx, g, r, a.runLink())
	}
	switch {
	case err != nil && a.in["comment"] == commentAlways:
		return "", err
	case err != nil:
		a.annotate(gh.Warning, "There is no tracking issue, only the job summary: it needs a token with the permission issues: write. "+err.Error())
		return "", nil
	}
	a.logf("tracking issue %s: %s", res.Action, res.URL)
	return res.URL, nil
}

// runLink is the address of this run, empty when it is not known.
func (a *actionRun) runLink() string {
	server, repo, id := a.env("GITHUB_SERVER_URL"), a.env("GITHUB_REPOSITORY"), a.env("GITHUB_RUN_ID")
	if server == "" || repo == "" || id == "" {
		return ""
	}
	return "[The run](" + server + "/" + repo + "/actions/runs/" + id + ") has the report."
}

// issueSlack is room for the marker and the link.
const issueSlack = 2000

func several1(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// markerWord makes a suite's name safe for a marker and a title.
func markerWord(s string) string {
	s = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
			return c
		}
		return '-'
	}, s)
	return s[:min(len(s), 60)]
}
