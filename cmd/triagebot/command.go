package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/slash"
)

type commandFlags struct {
	apiFlags
	event, job                   string
	workflow, permission, cooled string
}

func newCommand(s streams) *cobra.Command {
	f := &commandFlags{}
	c := &cobra.Command{
		Use:   "command",
		Short: "Carry out a /triage comment on a pull request",
		Long: `command reads an issue_comment event and, when its comment is a /triage of somebody who
may, has the measuring run of the pull request's head run again. It checks out nothing
and runs nothing itself. The token comes from GITHUB_TOKEN.`,
		Example: `  triagebot command --workflow triage.yml --event comment.json --repo acme/loop --dry-run`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			hideProcess()
			o, err := commandOptions(f.workflow, f.permission, f.cooled)
			if err != nil {
				return err
			}
			o.DryRun, o.Job = f.dryRun, f.job
			ev, err := readComment(f.event)
			if err != nil {
				return err
			}
			g, err := f.client(func(format string, args ...any) { fmt.Fprintln(s.err, oneLine(fmt.Errorf(format, args...))) })
			if err != nil {
				return err
			}
			out, err := slash.Handle(c.Context(), g, ev, o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, out.Said)
			return err
		},
	}
	f.register(c)
	fl := c.Flags()
	fl.StringVar(&f.event, "event", os.Getenv("GITHUB_EVENT_PATH"), "payload of the event (`FILE`)")
	fl.StringVar(&f.workflow, "workflow", "", "file name of the workflow that measures")
	fl.StringVar(&f.job, "job", "", "name of its job that measures: only that one is run again")
	fl.StringVar(&f.permission, "permission", "write", "least role that a command is taken from: triage, write, maintain or admin")
	fl.StringVar(&f.cooled, "cooldown", "2m", "time between two accepted commands on one pull request")
	return c
}

// commandOptions reads what flags and inputs say in the same words.
func commandOptions(workflow, permission, cooldown string) (slash.Options, error) {
	if workflow == "" {
		return slash.Options{}, errors.New("carrying out a command: name the workflow that measures with workflow, for example triage.yml")
	}
	i, err := oneOf(permission, []string{"triage", "write", "maintain", "admin"})
	if err != nil {
		return slash.Options{}, fmt.Errorf("reading permission: %w", err)
	}
	d, err := time.ParseDuration(cooldown)
	if err != nil || d < 0 {
		return slash.Options{}, fmt.Errorf("reading cooldown: %q is not a duration, write 2m", cooldown)
	}
	return slash.Options{Workflow: workflow, Least: gh.RoleTriage + gh.Role(i), Cooldown: d}, nil
}

func readComment(path string) (gh.Event, error) {
	if path == "" {
		return gh.Event{}, errors.New("reading the event: name its payload with --event")
	}
	f, err := os.Open(path)
	if err != nil {
		return gh.Event{}, fmt.Errorf("reading --event %w", reason(err, path))
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxEvent))
	if err != nil {
		return gh.Event{}, fmt.Errorf("reading --event: %w", err)
	}
	return gh.ParseEvent("issue_comment", payload)
}
