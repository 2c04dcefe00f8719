package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
)

// setUp runs the set-up commands in each tree. A failure makes that side
// unbuildable and is no error: the other side still tells something.
func (w *Workspace) setUp(ctx context.Context) error {
	env := w.opt.Env
	if env == nil {
		env = proc.CleanEnv(os.Environ())
	}
	limit := w.setupLimit()
	for i := range w.trees {
		t := &w.trees[i]
		if t.Unbuildable != "" {
			continue
		}
		start := time.Now()
		for _, argv := range w.opt.Setup {
			w.opt.Logf("set-up of %s: %s", t.Side, strings.Join(argv, " "))
			r, err := proc.Run(ctx, proc.Spec{Dir: t.Dir, Argv: argv, Env: env, Timeout: limit})
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if t.Unbuildable = setupProblem(argv, limit, r, err); t.Unbuildable != "" {
				t.Rev.Unbuildable = t.Unbuildable
				w.warn("set-up of %s failed: %s", t.Side, t.Unbuildable)
				break
			}
		}
		t.Setup += time.Since(start)
	}
	return nil
}

// setupLimit bounds one command of a set-up.
func (w *Workspace) setupLimit() time.Duration {
	if w.opt.SetupTimeout > 0 {
		return w.opt.SetupTimeout
	}
	return DefaultSetupTimeout
}

// setupProblem says in one line why a command failed, empty when it did not.
func setupProblem(argv []string, limit time.Duration, r proc.Result, err error) string {
	name := "`" + strings.Join(argv, " ") + "`"
	switch {
	case err != nil:
		return err.Error()
	case r.TimedOut:
		return fmt.Sprintf("%s did not end within %s", name, limit)
	case r.Signal != "":
		return fmt.Sprintf("%s was ended by %s", name, r.Signal)
	case r.Exit != 0:
		text := fmt.Sprintf("%s exited with %d", name, r.Exit)
		if last := finalLine(string(r.Output)); last != "" {
			text += ": " + last
		}
		return text
	}
	return ""
}

// finalLine is the last line with text in it, bounded.
func finalLine(s string) string {
	const most = 300
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
