package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/publish"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/slash"
	"github.com/triagebot/triagebot/internal/triage"
)

// measure runs the measuring half as a process of its own, without the token,
// and then does with its report what the untrusted bytes of a stranger get.
func (a *actionRun) measure(ctx context.Context, mode string) error {
	c, err := a.newChild()
	if err != nil {
		return err
	}
	defer func() {
		if err := c.close(); err != nil {
			a.annotate(gh.Warning, harmless(err.Error()))
		}
	}()
	if c.readsCredentials() {
		a.annotate(gh.Warning, "The checkout keeps its credentials where the tests can read them: give actions/checkout persist-credentials: false.")
	}
	err = a.prepare(ctx, c, mode)
	if errors.Is(err, errGreen) {
		a.annotate(gh.Notice, "Nothing is red: no job of this run has failed.")
		return a.finishGreen(ctx)
	}
	if err != nil {
		return err
	}
	end, err := c.run(ctx)
	if err != nil {
		return err
	}
	r, ok, err := c.report()
	switch {
	case err != nil:
		return err
	case !ok && end.code == exitOK:
		a.annotate(gh.Notice, "The suite is green here: nothing to triage. Of a run that was red, give the report (reports) or the log (logs).")
		return a.finishGreen(ctx)
	case !ok:
		return end.failure()
	}
	return a.finish(ctx, r, end.code == exitPolicy)
}

// prepare says what is measured: the files, the command line, the trees.
func (a *actionRun) prepare(ctx context.Context, c *child, mode string) error {
	in := a.in
	var extra []string
	cmd, ok := a.accepted(ctx)
	if ok {
		extra = cmd.Flags()
	}
	if len(cmd.Tests) > 0 { // they are what was asked for, and nothing else
		in = in.without("reports", "logs", "tests", "command")
	}
	if mode == modeSweep { // it looks for what is red itself
		in = in.without("reports", "logs", "tests")
	}
	if in["base"] == "" && in["head"] == "" {
		base := baseOf(a.event, mode)
		if base == "" {
			base = a.leftAt(ctx, c)
		}
		in = in.with("base", base)
	}
	var words []string
	if in["command"] != "" {
		var err error
		if words, err = config.Split(in["command"]); err != nil {
			return fmt.Errorf("reading input command: %w", err)
		}
	}
	if mode == modeMeasure && in.sources() == 0 && len(cmd.Tests) == 0 {
		logs, err := a.failedLogs(ctx, c)
		if err != nil {
			return err
		}
		for _, path := range logs {
			extra = append(extra, "--log="+path)
		}
	}
	args, err := c.handOver(ctx, in)
	if err != nil {
		return err
	}
	c.args = append(append([]string{a.subcommand(mode), "--out=" + c.out()}, args...), extra...)
	if len(words) > 0 {
		c.args = append(append(c.args, "--"), words...)
	}
	return nil
}

// subcommand is what carries out a mode. A sweep is the suite measured as it is,
// where this program has nothing better.
func (a *actionRun) subcommand(mode string) string {
	if c, _, err := a.root.Find([]string{mode}); mode == modeSweep && err == nil && c.Name() == modeSweep {
		return modeSweep
	}
	return modeMeasure
}

// beforeHead is the base where a branch has no other: what main was before its
// last change.
const beforeHead = "HEAD^"

// baseOf is the base where the event tells it better than git can.
func baseOf(ev gh.Event, mode string) string {
	onMain := ev.Repo.DefaultBranch != "" && strings.TrimPrefix(ev.Ref, "refs/heads/") == ev.Repo.DefaultBranch
	switch {
	case ev.Group != nil:
		return ev.Group.BaseSHA
	case ev.Push != nil && ev.Push.Ref == "refs/heads/"+ev.Repo.DefaultBranch && strings.Trim(ev.Push.Before, "0") != "":
		return ev.Push.Before
	case mode == modeSweep, ev.Name == "workflow_dispatch" && onMain:
		return beforeHead
	}
	return ""
}

// leftAt is where the pull request left its base branch, when its own head is
// checked out and not GitHub's merge of it: git knows neither the branch that it
// is for, nor whether a merge is one of the author's. Empty leaves it to git.
func (a *actionRun) leftAt(ctx context.Context, c *child) string {
	pull := a.event.Pull
	if pull == nil || c.checkedOut() != pull.Head.SHA {
		return ""
	}
	g, err := a.client()
	if err != nil {
		return "" // without a token there is nobody to ask
	}
	base, err := g.MergeBase(ctx, pull.Base.SHA, pull.Head.SHA)
	if err != nil {
		a.annotate(gh.Warning, "GitHub did not tell where the pull request left its base, so it is looked for in the checkout: "+err.Error())
		return ""
	}
	return base
}

// checkedOut is the commit of a detached checkout, empty when it is another or
// cannot be told.
func (c *child) checkedOut() string {
	top, err := c.top()
	if err != nil {
		return ""
	}
	from, err := os.OpenRoot(filepath.Join(top, ".git"))
	if err != nil {
		return ""
	}
	defer from.Close()
	head, err := readSmall(from, "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(head)
}

// accepted is the /triage that started this attempt, if one did.
func (a *actionRun) accepted(ctx context.Context) (slash.Command, bool) {
	attempt, err := strconv.Atoi(a.env("GITHUB_RUN_ATTEMPT"))
	run, rerr := number(a.env("GITHUB_RUN_ID"))
	if err != nil || rerr != nil || attempt < 2 || a.event.Pull == nil {
		return slash.Command{}, false
	}
	g, err := a.client()
	if err != nil {
		return slash.Command{}, false // without a token there is nobody to ask
	}
	cmd, ok, err := slash.Accepted(ctx, g, a.event.Pull.Number, a.event.Pull.Head.SHA, run, attempt)
	if err != nil {
		a.annotate(gh.Warning, "Whether /triage started this attempt could not be read, so it is measured without options: "+err.Error())
		return slash.Command{}, false
	}
	if ok {
		a.annotate(gh.Notice, "This attempt was started by "+slash.Name+".")
	}
	return cmd, ok
}

// finishGreen ends a step without a report. A comment of an earlier red is corrected.
func (a *actionRun) finishGreen(ctx context.Context) error {
	res := result{verdict: verdictGreen}
	url, err := a.comment(ctx, nil, nil)
	res.commentURL = url
	return errors.Join(err, a.outputs(res))
}

// finish publishes a report as far as this step may: job summary, files,
// comment, outputs. Only fail-on makes it fail.
func (a *actionRun) finish(ctx context.Context, r triage.Report, policy bool) error {
	r, err := withoutSecrets(r, a.secrets())
	if err != nil {
		return err
	}
	dir, err := a.save(r)
	if err != nil {
		return err
	}
	res := result{verdict: summaryVerdict(r.Verdicts), verdicts: r.Verdicts, dir: dir, path: filepath.ToSlash(filepath.Join(dir, reportFile)), shouldFail: policy}
	o := report.Options{Limit: gh.SummaryBytes / 2, ReportPath: reportFile, Forgeable: a.event.Pull != nil && a.event.Pull.Fork()}
	if err := a.summary(report.Markdown(r, o)); err != nil {
		return err
	}
	a.annotate(gh.Notice, report.Headline(r))
	a.annotateTests(r)
	url, commentErr := a.tellGitHub(ctx, r)
	res.commentURL = url
	if err := errors.Join(commentErr, a.outputs(res)); err != nil {
		return err
	}
	if policy {
		a.annotate(gh.Failure, "The policy of fail-on is hit: "+report.Headline(r))
		return errPolicy
	}
	return nil
}

// maxAnnotated leaves room for remarks of ours: GitHub shows ten of a level.
const maxAnnotated = 8

// annotateTests puts the verdicts at the places of their failures, where those
// are known: a fault of this pull request's as a warning.
func (a *actionRun) annotateTests(r triage.Report) {
	at := map[triage.Target]triage.Location{}
	for _, f := range r.Failures {
		at[f.Target] = f.Location
	}
	shown := 0
	for _, v := range r.Verdicts {
		place := at[v.Target]
		if !filepath.IsLocal(filepath.FromSlash(place.File)) || shown == maxAnnotated {
			continue
		}
		shown++
		level := gh.Notice
		if v.Yours() {
			level = gh.Warning
		}
		a.runner.Annotate(gh.Annotation{
			Path: place.File, Line: place.Line, Level: level, Title: "triagebot",
			Message: harmless(v.Target.Test + ": " + report.ClassLabel(v.Class, v.Origin)),
		})
	}
}

// comment writes the comment where this step may, and says why where it may
// not. That it may not is an error only when it was told always to.
func (a *actionRun) comment(ctx context.Context, r *triage.Report, parts []report.Part) (string, error) {
	always := a.in["comment"] == commentAlways
	switch {
	case a.in["comment"] == commentOff || ctx.Err() != nil:
		return "", nil
	case a.event.Pull == nil && always:
		return "", errors.New("writing the comment: the event has no pull request: set comment to auto")
	case a.event.Pull == nil:
		return "", nil
	case a.event.Pull.Fork() && !always:
		if r != nil {
			a.annotate(gh.Notice, "The pull request comes from a fork, where the token only reads: the report is in the job summary, and the comment comes from a workflow_run with mode: publish.")
		}
		return "", nil
	}
	out, err := a.toPull(ctx, parts)
	if err != nil && always {
		return "", err
	}
	if err != nil {
		a.annotate(gh.Warning, whyNoComment(err))
		return "", nil
	}
	return out.Comment.URL, a.tell(out)
}

func (a *actionRun) toPull(ctx context.Context, parts []report.Part) (publish.Outcome, error) {
	g, err := a.client()
	if err != nil {
		return publish.Outcome{}, err
	}
	return publish.ToPull(ctx, g, a.event.Pull.Number, a.event.Pull.Head.SHA, parts, a.publishOptions())
}

func whyNoComment(err error) string {
	if errors.Is(err, errNoToken) || errors.Is(err, gh.ErrForbidden) || errors.Is(err, gh.ErrUnauthorized) || errors.Is(err, gh.ErrNotFound) {
		return "There is no comment, only the job summary: it needs a token with the permission pull-requests: write. " + err.Error()
	}
	return "There is no comment, only the job summary. " + err.Error()
}

// writeText is for the runner's fence.
func writeText(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}
