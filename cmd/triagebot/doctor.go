package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/proc"
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
	d := doctor{ctx: ctx, repo: repo}
	all := []finding{d.machine(), d.goVersion(), d.git(), d.depth(), d.base(), d.modules(), d.cgo(), d.race(), d.config(), d.lag()}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	bad := 0
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
	if err := w.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d things that measure needs are not well; see above", bad)
	}
	return nil
}

type doctor struct {
	ctx  context.Context
	repo string
}

// run is the last line that a command prints, under the environment of trials.
func (d doctor) run(argv ...string) (string, error) {
	res, err := proc.Run(d.ctx, proc.Spec{Dir: d.repo, Argv: argv, Env: proc.CleanEnv(os.Environ()), Timeout: time.Minute})
	if err != nil {
		return "", err
	}
	out := strings.TrimSpace(string(res.Output))
	if res.Exit != 0 {
		return out, fmt.Errorf("%s", lastLine(out))
	}
	return out, nil
}

func (d doctor) machine() finding {
	return finding{what: "machine", found: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
}

func (d doctor) goVersion() finding {
	v, err := d.run("go", "env", "GOVERSION")
	if err != nil {
		return finding{"Go", err.Error(), "install Go, or put it on the PATH", true}
	}
	if _, err := d.run("go", "list", "-m"); err != nil && strings.Contains(err.Error(), "requires go >=") {
		return finding{"Go", v + ": " + err.Error(), "install that version, or allow it with GOTOOLCHAIN=auto", true}
	}
	return finding{what: "Go", found: v}
}

func (d doctor) git() finding {
	v, err := d.run("git", "--version")
	if err != nil {
		return finding{"git", err.Error(), "install git", true}
	}
	if _, err := d.run("git", "rev-parse", "--show-toplevel"); err != nil {
		return finding{"git", v + "; " + err.Error(), "run it in a checkout, or name one with --repo", true}
	}
	return finding{what: "git", found: v}
}

func (d doctor) depth() finding {
	out, err := d.run("git", "rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		return finding{what: "history", found: "not known: " + err.Error()}
	case out == "true":
		return finding{what: "history", found: "shallow", fix: "measure fetches what it needs from the remote; actions/checkout with fetch-depth: 0 spares that"}
	}
	return finding{what: "history", found: "whole"}
}

func (d doctor) base() finding {
	if out, err := d.run("git", "rev-parse", "--verify", "--quiet", "HEAD^2"); err == nil && out != "" {
		return finding{what: "base", found: "HEAD is a merge: its first parent"}
	}
	for _, ref := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		if out, err := d.run("git", "merge-base", "HEAD", ref); err == nil {
			if head, err := d.run("git", "rev-parse", "HEAD"); err == nil && head == out {
				return finding{what: "base", found: "HEAD is on " + ref, fix: "name the revision without the change with --base"}
			}
			return finding{what: "base", found: fmt.Sprintf("merge base with %s: %.12s", ref, out)}
		}
	}
	return finding{what: "base", found: "none found", fix: "name it with --base"}
}

func (d doctor) modules() finding {
	mods, err := gotest.Modules(d.repo)
	if err != nil {
		return finding{"modules", err.Error(), "", true}
	}
	if len(mods) == 0 {
		return finding{what: "modules", found: "no go.mod: only a suite's own command can be triaged, without lag", fix: "name it after --"}
	}
	var names []string
	for _, m := range mods {
		names = append(names, m.Path)
	}
	return finding{what: "modules", found: strings.Join(names, ", ")}
}

// cgo counts the packages whose files lag cannot be put into.
func (d doctor) cgo() finding {
	out, err := d.run("go", "list", "-e", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return finding{what: "cgo", found: "not known: " + err.Error()}
	}
	if pkgs := strings.Fields(out); len(pkgs) > 0 {
		return finding{what: "cgo", found: fmt.Sprintf("%d packages have files that lag is not put into: %s", len(pkgs), strings.Join(pkgs, ", "))}
	}
	return finding{what: "cgo", found: "no files that lag would have to leave out"}
}

func (d doctor) race() finding {
	if cgo, err := d.run("go", "env", "CGO_ENABLED"); err != nil || cgo != "1" {
		return finding{what: "-race", found: "not here: cgo is off", fix: "needed only for suites that run with -race"}
	}
	cc, err := d.run("go", "env", "CC")
	if err == nil {
		_, err = exec.LookPath(strings.Fields(cc + " ")[0])
	}
	if err != nil {
		return finding{what: "-race", found: "not here: no C compiler", fix: "needed only for suites that run with -race"}
	}
	return finding{what: "-race", found: "works with " + cc}
}

func (d doctor) config() finding {
	path := filepath.Join(d.repo, filepath.FromSlash(config.Path))
	if _, err := os.Stat(path); err != nil {
		return finding{what: "configuration", found: "none: all is detected"}
	}
	if _, err := readConfig(path); err != nil {
		return finding{"configuration", err.Error(), "correct it; the base side's file is the one that counts", true}
	}
	return finding{what: "configuration", found: config.Path}
}

func (d doctor) lag() finding {
	plans, err := lag.Ladder(goCapabilities(), config.Defaults().Seed, "auto")
	if err != nil {
		return finding{"lag", err.Error(), "", true}
	}
	note := ""
	if runtime.GOOS != "linux" {
		note = "; this engine is measured on Linux only"
	}
	var names []string
	for _, p := range plans {
		names = append(names, p.Name)
	}
	return finding{what: "lag", found: fmt.Sprintf("Go engine, rungs: %s%s", strings.Join(names, ", "), note)}
}
