package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// progress shows how far a check is: a live line on a terminal, one line a trial
// elsewhere. Strings of tests are made harmless first.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool
	width int
	began time.Time
	head  string
	count int
	quiet bool
}

func newProgress(w io.Writer, quiet bool) *progress {
	width, live := terminal(w)
	return &progress{w: w, live: live, width: width, began: time.Now(), quiet: quiet}
}

// Measuring tells what is looked at.
func (p *progress) Measuring(t triage.Target, n, total int, doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head = fmt.Sprintf("[%d/%d] %s: %s", n, total, harmless(t.String()), doing)
	p.draw(p.head)
}

// Finished tells how a trial ended.
func (p *progress) Finished(t triage.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.Start.Before(p.began) {
		return // of the run that is resumed
	}
	p.count++
	if p.live {
		p.draw(fmt.Sprintf("%s  (%d trials, %s)", p.head, p.count, time.Since(p.began).Round(time.Second)))
		return
	}
	lag := ""
	if t.Arm.Lag != "" {
		lag = " lag " + t.Arm.Lag
	}
	p.line(fmt.Sprintf("trial %d %s %s%s %s: %s (%.0f ms)", t.Seq, t.Arm.Side, t.Arm.Scope, lag, harmless(t.Target.String()), t.Outcome, t.DurationMS))
}

// Say tells something that is not a trial: a build, a wait, a warning.
func (p *progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := harmless(fmt.Sprintf(format, args...))
	if p.live {
		p.draw(text)
		return
	}
	p.line(text)
}

// Close clears the live line.
func (p *progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && !p.quiet {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *progress) line(s string) {
	if !p.quiet {
		fmt.Fprintln(p.w, s)
	}
}

func (p *progress) draw(s string) {
	if !p.live || p.quiet {
		return
	}
	if r := []rune(s); len(r) > p.width-1 {
		s = string(r[:p.width-2]) + "…"
	}
	fmt.Fprint(p.w, "\r\x1b[K"+s)
}

// harmless replaces what could steer a terminal or start a workflow command.
func harmless(s string) string { return strings.ReplaceAll(inLine(s), "::", ": :") }

// inLine is harmless for a text that does not begin its line: "::" starts a
// command nowhere else, and the ids of pytest have it.
func inLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "##[", "# #[")
}

// oneLine is an error as one harmless line.
func oneLine(err error) string { return strings.TrimSpace(harmless(err.Error())) }
