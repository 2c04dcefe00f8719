package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/publish"
	"github.com/triagebot/triagebot/internal/slash"
	"github.com/triagebot/triagebot/internal/triage"
)

func (a *actionRun) publishOptions() publish.Options {
	attempt, _ := strconv.Atoi(a.env("GITHUB_RUN_ATTEMPT")) // none is no harm
	run, err := number(a.env("GITHUB_RUN_ID"))
	if err != nil {
		run = 0
	}
	workflow, _, _ := strings.Cut(a.env("GITHUB_WORKFLOW_REF"), "@")
	return publish.Options{
		Source: publish.Source{Run: run, Attempt: attempt, Workflow: workflow},
		Check:  a.in["check-name"], Artifact: a.in["artifact-name"], Workflow: a.in["workflow"],
		DryRun: a.in["dry-run"] == "true", ReportPath: reportFile,
	}
}

// publish is the privileged half: it reads the artifacts of a run as data, and
// never a file of the workspace.
func (a *actionRun) publish(ctx context.Context) error {
	id, err := a.runID()
	if err != nil {
		return err
	}
	g, err := a.client()
	if err != nil {
		return err
	}
	o := a.publishOptions()
	o.DryRun = o.DryRun || a.in["comment"] == commentOff
	out, err := publish.FromRun(ctx, g, id, o)
	if err != nil {
		return errors.Join(err, a.outputs(result{verdict: verdictNone}))
	}
	if err := a.tell(out); err != nil {
		return err
	}
	if out.Page != "" {
		if err := a.summary(out.Page); err != nil {
			return err
		}
	}
	var all []triage.Verdict
	for _, r := range out.Reports {
		all = append(all, r.Verdicts...)
	}
	res := result{verdict: summaryVerdict(all), verdicts: all, commentURL: out.Comment.URL}
	if len(out.Reports) == 0 {
		res.verdict = verdictNone
	}
	if err := a.outputs(res); err != nil {
		return err
	}
	return refused(out.Refused)
}

// refused turns artifacts that were not read into one error.
func refused(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	more := ""
	if len(errs) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(errs)-1)
	}
	return fmt.Errorf("reading the reports: %w%s", errs[0], more)
}

func (a *actionRun) runID() (int64, error) {
	switch {
	case a.in["run-id"] != "":
		id, err := number(a.in["run-id"])
		if err != nil {
			return 0, fmt.Errorf("reading input run-id: %w", err)
		}
		return id, nil
	case a.event.Run != nil:
		return a.event.Run.ID, nil
	}
	return 0, fmt.Errorf("publishing: the event %q names no run: publish in a workflow on workflow_run, or give the input run-id", a.event.Name)
}

// tell says in the log what became of the comment.
func (a *actionRun) tell(out publish.Outcome) error {
	if out.Said != "" {
		a.annotate(gh.Notice, sentence(out.Said))
	}
	switch out.Comment.Action {
	case gh.Created, gh.Updated:
		a.logf("comment %s: %s", out.Comment.Action, out.Comment.URL)
	}
	if n := len(out.Comment.Surplus); n > 0 {
		a.annotate(gh.Warning, fmt.Sprintf("There are %d more comments with our marker; only the oldest is kept up to date.", n))
	}
	if a.in["dry-run"] == "true" && out.Page != "" {
		return a.printPage(out.Page)
	}
	return nil
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.TrimSuffix(strings.ToUpper(s[:1])+s[1:], ".") + "."
}

// command carries out the /triage of a comment.
func (a *actionRun) command(ctx context.Context) error {
	o, err := commandOptions(a.in["workflow"], a.in["permission"], a.in["cooldown"])
	if err != nil {
		return err
	}
	g, err := a.client()
	if err != nil {
		return err
	}
	o.DryRun, o.Job = a.in["dry-run"] == "true", a.in["job"]
	out, err := slash.Handle(ctx, g, a.event, o)
	if err != nil {
		return err
	}
	what := "refused or passed over"
	if out.Accepted {
		what = "accepted for " + out.SHA
	}
	a.logf("%s", what)
	if err := a.runner.Fence(writeText(out.Said + "\n")); err != nil {
		return err
	}
	return a.outputs(result{verdict: verdictNone, commentURL: out.URL})
}
