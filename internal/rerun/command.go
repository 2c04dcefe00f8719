package rerun

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// isSuite reports whether a request is for the suite's own command: its output
// named no test, so its exit is all there is to go by. In the scope of the suite
// it is the adapter's run of everything, whose results are read.
func isSuite(r triage.Request) bool {
	return r.Target.IsCommand() && r.Target.Package == "" && r.Arm.Scope != triage.InSuite
}

// suiteCommand is the suite's command on one tree; KEY=VALUE words at its front
// become environment.
func (r *Runner) suiteCommand(tree string) triage.Command {
	c := triage.Command{Dir: filepath.Join(tree, filepath.FromSlash(r.cfg.CommandDir))}
	c.Argv, c.Env = SplitEnv(r.cfg.Command)
	return c
}

// SplitEnv takes "env" and KEY=VALUE words from the front of a command.
func SplitEnv(words []string) (command, env []string) {
	if len(words) > 0 && words[0] == "env" {
		words = words[1:]
	}
	for len(words) > 0 {
		name, _, ok := strings.Cut(words[0], "=")
		if !ok || strings.ContainsAny(name, "/-. ") {
			break
		}
		env, words = append(env, words[0]), words[1:]
	}
	return words, env
}

// CommandResult is the result of the suite's command: its exit is its failure.
//
// Its signature has the error that it printed last, without numbers and without
// the path of the tree, which is not the same on both sides: "exit 1" alone would
// make any two failures the same.
func CommandResult(t triage.Target, e triage.End, tree string, output []byte) triage.Result {
	if e.Exit == 0 && !e.TimedOut {
		return triage.Result{Target: t, Outcome: triage.Pass}
	}
	f := &triage.Failure{Target: t, Outcome: triage.Error, Signature: triage.Signature{Phase: triage.PhaseExit, Message: fmt.Sprintf("exit %d", e.Exit)}}
	switch {
	case e.TimedOut:
		f.Outcome, f.Signature = triage.Timeout, triage.Signature{Phase: triage.PhaseTimeout, Message: "timed out"}
	case e.Signal != "":
		f.Signature.Message = e.Signal
	}
	if last := lastWords(output, tree); last != "" {
		f.Signature.Message += ": " + last
	}
	f.Message = f.Signature.Message
	return triage.Result{Target: t, Outcome: f.Outcome, Failure: f}
}

const (
	// maxLastWords bounds the line kept of a command's output, in bytes.
	maxLastWords = 160
	// lastLines is how far from the end an error is looked for: behind it stand
	// hints, or a stack.
	lastLines = 30
)

var (
	digits = regexp.MustCompile(`[0-9]+`)
	// reError is a line that says what is wrong, as most tools write it, and
	// reUsage one that only begins so.
	reError = regexp.MustCompile(`(?i)error(?:\[\w+\]| \[\w+\])?: `)
	reUsage = regexp.MustCompile(`(?i)error: usage: `)
)

// lastWords is the last line of an output that says what is wrong, else the last
// that says something.
func lastWords(output []byte, tree string) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	last := lines[len(lines)-1]
	for i := len(lines) - 1; i >= max(0, len(lines)-lastLines); i-- {
		if reError.MatchString(lines[i]) && !reUsage.MatchString(lines[i]) {
			last = lines[i]
			break
		}
	}
	if tree != "" {
		last = strings.ReplaceAll(strings.ReplaceAll(last, tree+string(filepath.Separator), ""), tree, ".")
	}
	last = digits.ReplaceAllString(strings.TrimSpace(last), "N")
	return strings.ToValidUTF8(last[:min(len(last), maxLastWords)], "")
}
