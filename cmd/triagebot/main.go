// Command triagebot answers the question that every red check raises: is it my
// pull request?
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/triagebot/triagebot/internal/rerun"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == rerun.BurnArg {
		rerun.Burn()
		return
	}
	os.Exit(realMain())
}

// realMain turns the first interrupt into an orderly end with a report; a second
// one ends the program at once.
func realMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}
