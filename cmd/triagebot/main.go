// Command triagebot answers the question that every red check raises: is it my
// pull request?
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/triagebot/triagebot/internal/rerun"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == rerun.BurnArg {
		rerun.Burn()
		return
	}
	os.Exit(realMain())
}

// againAfter is when a second interrupt is meant as one: timeout(1) sends two in
// the same moment, one to us and one to our group.
const againAfter = time.Second

// realMain turns the first interrupt into an orderly end with a report; a second
// one ends the program at once.
func realMain() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for first := time.Now(); time.Since(first) < againAfter; {
			<-signals
		}
		os.Exit(exitKilled)
	}()
	return execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}
