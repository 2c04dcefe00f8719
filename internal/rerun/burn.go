package rerun

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/triagebot/triagebot/internal/triage"
)

// BurnArg, as the only argument, makes the program a busy loop until its
// standard input is closed. The program that owns main must call [Burn] then.
const BurnArg = "__triagebot-burn"

// Burn is a busy loop that ends with standard input, so that no burner outlives
// us, however we end.
func Burn() {
	done := make(chan struct{})
	go func() {
		var b [1]byte
		for {
			if _, err := os.Stdin.Read(b[:]); err != nil {
				close(done)
				return
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			for range 1 << 16 { // to spin is the purpose
			}
		}
	}
}

// burn starts the busy loops of a plan beside the trial; stop ends them.
func burn(ctx context.Context, plan *triage.LagPlan) (stop func(), err error) {
	if plan == nil || plan.Burners == 0 {
		return func() {}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting busy loops: %w", err)
	}
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range plan.Burners {
		c := exec.CommandContext(ctx, self, BurnArg)
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("starting busy loops: %w", err)
		}
		stops = append(stops, func() { in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
	}
	return stop, nil
}
