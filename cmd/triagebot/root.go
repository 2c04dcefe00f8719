package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// streams are the three standard streams, so that a test can hold them.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// terminal reports whether w is a terminal, and its width.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		width = 80
	}
	return width, true
}

// colour reports whether w wants colour: a terminal, and NO_COLOR is not set.
func colour(w io.Writer) bool {
	_, ok := terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if code == exitError && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted before anything was measured")
	}
	if code == exitError {
		fmt.Fprintln(s.err, "triagebot: "+strings.TrimSpace(inLine(err.Error())))
	}
	return code
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "triagebot",
		Short: "Is the red check this pull request?",
		Long: `triagebot runs the failing tests of a red check alone and under dispatch lag, on
the red tree and on the tree without the pull request, and says of each red what
it is, how sure that is, why, and how to see it again.`,
		Example: `  triagebot measure --report 'test-results/*.json'
  triagebot measure -- go test ./...
  triagebot replay triagebot-out/report.json
  triagebot demo`,
		Version:       toolVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %q", err, c.CommandPath()+" --help")
	})
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(newMeasure(s), newReplay(s), newSweep(s), newHistory(s), newPlan(s), newMerge(s), newLedger(s), newHammer(s), newProve(s), newDoctor(s), newDemo(s), newPublish(s), newCommand(s), newAction(s), newVersion(s))
	return root
}
