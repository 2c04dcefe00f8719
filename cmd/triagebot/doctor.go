package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// finding is one line of the doctor: what was looked at, what was found, and
// what to do when it is not well.
type finding struct {
	what, found, fix string
	bad              bool
}

func newDoctor(s streams) *cobra.Command {
	var repo string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what works here, and what would be skipped and why",
		Example: `  triagebot doctor
  triagebot doctor --repo ../service`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return diagnose(c.Context(), repo, s)
		},
	}
	c.Flags().StringVar(&repo, "repo", ".", "the git repository")
	return c
}

// diagnose prints the findings; it fails when something that measure needs is not there.
func diagnose(ctx context.Context, repo string, s streams) error {
	d := newDiagnosis(ctx, repo)
	all := d.general()
	for _, su := range d.suites(&all) {
		all = append(all, d.suite(su)...)
	}
	bad, err := printFindings(s.out, all)
	if err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d things that measure needs are not well; see above", bad)
	}
	return nil
}

// printFindings writes a table, and counts what is not well.
func printFindings(out io.Writer, all []finding) (bad int, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range all {
		mark := "ok"
		if f.bad {
			mark, bad = "NO", bad+1
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, f.what, harmless(f.found))
		if f.fix != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", harmless(f.fix))
		}
	}
	return bad, w.Flush()
}

// diagnosis is what the doctor knows of a checkout.
type diagnosis struct {
	ctx context.Context
	// repo is what was named, top the root of the checkout; empty outside of one.
	repo, top string
	// base is the commit that measure would compare with, empty when none is found.
	base string
	env  []string
}

func newDiagnosis(ctx context.Context, repo string) *diagnosis {
	d := &diagnosis{ctx: ctx, repo: repo, env: proc.CleanEnv(os.Environ())}
	if top, err := d.run("git", "rev-parse", "--show-toplevel"); err == nil {
		d.top = filepath.FromSlash(top)
	}
	return d
}

// run is the last line that a command prints, under the environment of trials.
func (d *diagnosis) run(argv ...string) (string, error) {
	res, err := proc.Run(d.ctx, proc.Spec{Dir: d.repo, Argv: argv, Env: d.env, Timeout: time.Minute})
	if err != nil {
		return "", err
	}
	out := strings.TrimSpace(string(res.Output))
	if res.Exit != 0 {
		return out, fmt.Errorf("%s", lastLine(out))
	}
	return out, nil
}

// exec runs a tool for adapters.
func (d *diagnosis) exec(su *suite) triage.Exec {
	return func(ctx context.Context, c triage.Command) ([]byte, triage.End, error) {
		res, err := proc.Run(ctx, proc.Spec{Dir: c.Dir, Argv: c.Argv, Env: slices.Concat(su.env, c.Env), Timeout: readyTimeout})
		if err != nil {
			return nil, triage.End{}, err
		}
		return res.Output, triage.End{Exit: res.Exit, Signal: res.Signal, TimedOut: res.TimedOut}, ctx.Err()
	}
}

// suites are those that measure would find here. What is wrong with the
// configuration is told as a finding.
func (d *diagnosis) suites(all *[]finding) []*suite {
	if d.top == "" {
		return nil
	}
	file, err := readConfig(filepath.Join(d.top, filepath.FromSlash(config.Path)))
	switch {
	case err != nil:
		*all = append(*all, finding{"configuration", err.Error(), "correct it; the base side's file is the one that counts", true})
	case !isFile(filepath.Join(d.top, filepath.FromSlash(config.Path))):
		*all = append(*all, finding{what: "configuration", found: "none: all is detected"})
	default:
		*all = append(*all, finding{what: "configuration", found: config.Path + "; a check reads that of its base, so a change counts once it is merged"})
	}
	found, err := framework.Detect(d.top)
	if err != nil {
		*all = append(*all, finding{"suites", err.Error(), "", true})
		return nil
	}
	found = slices.DeleteFunc(found, func(s framework.Suite) bool {
		_, err := d.run("git", "check-ignore", "--quiet", "--", filepath.Join(d.top, filepath.FromSlash(s.Dir)))
		return s.Dir != "." && err == nil // no tree will have it
	})
	if len(found)+len(file.Suites) == 0 {
		*all = append(*all, finding{what: "suites", found: "none found: only a suite's own command can be triaged, without lag", fix: "name it after --"})
		return nil
	}
	prefix, _ := d.run("git", "rev-parse", "--show-prefix")
	picked, err := choose(settled(file.Suites, d.top), found, nil, strings.TrimSuffix(prefix, "/"), "")
	if err != nil {
		*all = append(*all, finding{"suites", err.Error(), "", true})
		return nil
	}
	return d.languages(file, picked, all)
}

// languages gives suites their languages and environments.
func (d *diagnosis) languages(file config.Config, picked []config.Suite, all *[]finding) []*suite {
	var out []*suite
	for _, c := range picked {
		su := &suite{Suite: c, env: withoutWorkFile(proc.CleanEnv(os.Environ(), slices.Concat(file.PassEnv, c.PassEnv)...))}
		lang, ok := newLanguage(c.Framework)
		if !ok {
			*all = append(*all, finding{"suite " + c.Name, fmt.Sprintf("no such framework: %q", c.Framework), "there are " + strings.Join(framework.Names(), ", "), true})
			continue
		}
		su.lang = lang
		if err := lang.configure(d.top, su); err != nil && c.Framework != pytest.Name { // whose findings tell of its environment
			*all = append(*all, finding{"suite " + c.Name, err.Error(), "", true})
			continue
		}
		if scripts, ok := lang.(scripted); ok {
			su.doubts = scripts.readScripts(d.top, "", su.dir(), su)
		}
		out = append(out, su)
	}
	return out
}

// suite are the findings on one suite.
func (d *diagnosis) suite(su *suite) []finding {
	where := "the root"
	if su.dir() != "" {
		where = su.dir()
	}
	found := fmt.Sprintf("%s in %s", su.Framework, where)
	if len(su.Command) > 0 {
		found += ", run by " + shellWords(su.Command)
	}
	if j, ok := su.lang.(*scriptLanguage); ok && j.run.Script != "" && j.run.Line != "" {
		found += fmt.Sprintf(", as %s has it: %s", j.run.Script, j.run)
	}
	out := []finding{{what: "suite " + su.Name, found: found}}
	for _, doubt := range su.doubts {
		what, fix, _ := strings.Cut(strings.TrimPrefix(doubt, "suite "+su.Name+": "), ": ")
		out = append(out, finding{what: "command", found: what, fix: fix})
	}
	if len(su.Seams) > 0 {
		out = append(out, d.seams(su))
	}
	return append(out, su.lang.diagnose(d, su)...)
}

// seams looks for what the suite declares, here alone: what only base has is not
// found. Those that are there come first among the rungs.
func (d *diagnosis) seams(su *suite) finding {
	if err := su.findSeams([]string{d.top}); err != nil {
		return finding{"seams", err.Error(), "measure wants it on one of the two sides", true}
	}
	return finding{what: "seams", found: strings.Join(su.Seams, ", ")}
}

// shellWords is a command as it would be typed.
func shellWords(argv []string) string {
	var out []string
	for _, a := range argv {
		out = append(out, shellWord(a))
	}
	return strings.Join(out, " ")
}
