package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/gh"
)

func newAction(s streams) *cobra.Command {
	var table bool
	c := &cobra.Command{
		Use:   "action",
		Short: "Run as the GitHub Action, from INPUT_* and GITHUB_*",
		Long: `action is what action.yml runs: it reads the inputs, the event and the token from the
environment, and does one of measure, publish, command and sweep. With the mode auto
the event decides.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if table {
				return printInputs(s.out)
			}
			return newActionRun(c.Root(), s, os.Environ()).run(c.Context())
		},
	}
	c.Flags().BoolVar(&table, "print-inputs", false, "print the inputs and outputs as JSON")
	if err := c.Flags().MarkHidden("print-inputs"); err != nil {
		panic(err) // the flag is named one line above
	}
	return c
}

// actionRun is one step of a workflow.
type actionRun struct {
	root *cobra.Command
	s    streams
	// environ is our environment, which has the token.
	environ []string
	in      inputs
	runner  *gh.Runner
	event   gh.Event
	github  *gh.Client
}

func newActionRun(root *cobra.Command, s streams, environ []string) *actionRun {
	a := &actionRun{root: root, s: s, environ: environ}
	a.in = readInputs(a.lookup)
	a.runner = gh.NewRunner(a.env, s.out)
	return a
}

func (a *actionRun) lookup(name string) (value string, ok bool) { return lookIn(a.environ, name) }

// lookIn is a variable of an environment: the last of that name.
func lookIn(environ []string, name string) (value string, ok bool) {
	for _, kv := range environ {
		if v, is := strings.CutPrefix(kv, name+"="); is {
			value, ok = v, true
		}
	}
	return value, ok
}

func (a *actionRun) env(name string) string {
	v, _ := a.lookup(name)
	return v
}

// run does what the mode says. Every error is an annotation too: that is where
// people look.
func (a *actionRun) run(ctx context.Context) error {
	hideProcess()
	for _, row := range inputTable() {
		if row.Secret && a.in[row.Name] != "" {
			a.runner.Mask(a.in[row.Name])
		}
	}
	err := a.dispatch(ctx)
	if err != nil && !errors.Is(err, errPolicy) {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted before there was a report")
		}
		a.annotate(gh.Failure, err.Error())
	}
	return err
}

func (a *actionRun) dispatch(ctx context.Context) error {
	mode := a.in["mode"]
	if err := a.check(); err != nil {
		return err
	}
	if err := a.readEvent(mode); err != nil {
		return err
	}
	if mode == modeAuto {
		var err error
		if mode, err = modeOf(a.event); err != nil {
			return err
		}
	}
	switch mode {
	case modeMeasure, modeSweep, modePlan, modeMerge:
		if err := mayMeasure(a.event); err != nil {
			return err
		}
	}
	switch mode {
	case modeMeasure, modeSweep:
		return a.measure(ctx, mode)
	case modePublish:
		return a.publish(ctx)
	case modePlan:
		return a.plan(ctx)
	case modeMerge:
		return a.merge(ctx)
	}
	return a.command(ctx)
}

// check refuses inputs that are wrong in themselves, before anything is done.
func (a *actionRun) check() error {
	for name, allowed := range map[string][]string{
		"mode":       {modeAuto, modeMeasure, modePublish, modeCommand, modeSweep, modePlan, modeMerge},
		"comment":    {commentAuto, commentAlways, commentOff},
		"dry-run":    {"true", "false"},
		"permission": {"triage", "write", "maintain", "admin"},
	} {
		if _, err := oneOf(a.in[name], allowed); err != nil {
			return fmt.Errorf("reading input %s: %w", name, err)
		}
	}
	return a.in.checkSettings()
}

// oneOf returns the place of a value in a closed list.
func oneOf(value string, allowed []string) (int, error) {
	for i, v := range allowed {
		if v == value {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not %s", value, strings.Join(allowed, ", "))
}

// modeOf is what is done about an event.
func modeOf(ev gh.Event) (string, error) {
	switch ev.Name {
	case "pull_request", "merge_group", "push", "workflow_dispatch":
		return modeMeasure, nil
	case "workflow_run":
		return modePublish, nil
	case "issue_comment":
		return modeCommand, nil
	case "schedule":
		return modeSweep, nil
	case "pull_request_target":
		return "", errors.New("choosing the mode: pull_request_target has a token that writes, and a pull request's code must not run beside it: use pull_request")
	}
	return "", fmt.Errorf("choosing the mode: nothing is done by itself about the event %q: give the input mode", ev.Name)
}

// mayMeasure refuses events whose token writes, and whose code to measure would
// be a pull request's, whatever the input mode says.
func mayMeasure(ev gh.Event) error {
	const use = "a pull request's code must not run beside it: measure in a workflow on pull_request"
	switch {
	case ev.Name == "pull_request_target", ev.Name == "issue_comment":
		return fmt.Errorf("measuring on %s: its token writes, and %s", ev.Name, use)
	case ev.Run != nil && strings.HasPrefix(ev.Run.Event, "pull_request"):
		return fmt.Errorf("measuring on %s of a pull request: its token writes, and %s, and publish here", ev.Name, use)
	}
	return nil
}

// maxEvent is one byte more than the client reads, so that it can tell.
const maxEvent = gh.MaxEventBytes + 1

// readEvent reads the event. Measuring can do without one.
func (a *actionRun) readEvent(mode string) error {
	name, path := a.env("GITHUB_EVENT_NAME"), a.env("GITHUB_EVENT_PATH")
	if path == "" && (mode == modeMeasure || mode == modeSweep) {
		a.event = gh.Event{Name: name}
		return nil
	}
	if path == "" {
		return errors.New("reading the event: GITHUB_EVENT_PATH is not set: triagebot action runs in a workflow; at a desk use measure, publish or command")
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the event %w", reason(err, path))
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxEvent))
	if err != nil {
		return fmt.Errorf("reading the event: %w", err)
	}
	a.event, err = gh.ParseEvent(name, payload)
	if err != nil && (mode == modeMeasure || mode == modeSweep) && errors.Is(err, gh.ErrEvent) {
		a.annotate(gh.Notice, "The event is not one that is known here; no pull request is looked for. "+err.Error())
		a.event = gh.Event{Name: name}
		return nil
	}
	return err
}

// errNoToken: GitHub cannot be asked.
var errNoToken = errors.New("asking GitHub: there is no token: give the input token or app-id and app-key")

// client is the client of the API, made once.
func (a *actionRun) client() (*gh.Client, error) {
	if a.github != nil {
		return a.github, nil
	}
	o := gh.Options{
		Repo: a.env("GITHUB_REPOSITORY"), Token: a.in["token"], Login: a.in["login"],
		APIURL: a.env("GITHUB_API_URL"), Logf: a.logf,
	}
	app, err := a.app()
	if err != nil {
		return nil, err
	}
	if o.App = app; app != nil {
		o.Token = ""
	}
	if o.Token == "" && o.App == nil {
		return nil, errNoToken
	}
	a.github, err = gh.New(o)
	return a.github, err
}

// app is the App of the inputs, nil for none.
func (a *actionRun) app() (*gh.App, error) {
	if a.in["app-id"] == "" && a.in["app-key"] == "" {
		return nil, nil
	}
	id, err := number(a.in["app-id"])
	if err != nil || a.in["app-key"] == "" {
		return nil, errors.New("reading inputs: an App needs app-id, which is a number, and app-key")
	}
	app := &gh.App{ID: id, Key: []byte(a.in["app-key"])}
	if v := a.in["app-installation"]; v != "" {
		if app.Installation, err = number(v); err != nil {
			return nil, fmt.Errorf("reading input app-installation: %w", err)
		}
	}
	return app, nil
}

// logf writes a line of ours to the log. None begins like a runner's command.
func (a *actionRun) logf(format string, args ...any) {
	fmt.Fprintln(a.s.out, "triagebot: "+oneLine(fmt.Errorf(format, args...)))
}

// annotate shows a remark in the check, and in the log of whoever has none.
func (a *actionRun) annotate(level gh.Level, text string) {
	if !a.runner.Annotate(gh.Annotation{Level: level, Title: "triagebot", Message: text}) && level != gh.Failure {
		a.logf("%s", text)
	}
}
