package history

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

var (
	nov1    = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	hangUp  = triage.Signature{Phase: triage.PhaseTest, Message: "socket hang up"}
	another = triage.Signature{Phase: triage.PhaseTest, Message: "got 1, want 2"}
)

func test(name string) triage.Target {
	return triage.Target{Suite: "web", Framework: "vitest", Package: "src/factory.test.ts", Test: name}
}

// night is the report of a sweep of main on a day after nov1.
func night(day int) triage.Report {
	return triage.Report{
		Schema: triage.Schema,
		Tool:   triage.Tool{Name: "triagebot", Version: "v0.1.0"},
		Check:  triage.Check{Repo: "acme/loop", Suite: "web", Source: "run", Head: triage.Rev{SHA: "main"}, Base: triage.Rev{SHA: "main"}},
		Plan:   triage.Plan{Created: nov1.AddDate(0, 0, day), Lag: "off", Alpha: 0.01},
	}
}

// with adds runs of a test in one arm, one a mark: "." pass, "F" and "o" two failures.
func with(r triage.Report, t triage.Target, a triage.Arm, marks string) triage.Report {
	tally := triage.Tally{Arm: a, Sequence: marks, Pass: strings.Count(marks, "."), Same: strings.Count(marks, "F"), Other: strings.Count(marks, "o")}
	for _, m := range marks {
		tr := triage.Trial{Seq: len(r.Trials) + 1, Request: triage.Request{Target: t, Arm: a, Purpose: triage.Measure},
			Start: r.Plan.Created, DurationMS: float64(10 + len(r.Trials)), Outcome: triage.Pass, Ran: 1}
		if m != '.' {
			f := triage.Failure{Target: t, Outcome: triage.Fail, Signature: map[rune]triage.Signature{'F': hangUp, 'o': another}[m]}
			tr.Outcome, tr.Failure = triage.Fail, &f
		}
		r.Trials = append(r.Trials, tr)
	}
	for i := range r.Evidence {
		if r.Evidence[i].Target == t {
			r.Evidence[i].Tallies = append(r.Evidence[i].Tallies, tally)
			return r
		}
	}
	r.Evidence = append(r.Evidence, triage.Evidence{Target: t, Reference: hangUp, Tallies: []triage.Tally{tally}})
	return r
}

// memory is a source of reports in memory, the newest first.
type memory [][]byte

func (m memory) Entries(_ context.Context, limit int) ([]Entry, []string, error) {
	var out []Entry
	for i, b := range m[:min(len(m), limit)] {
		out = append(out, Entry{Name: fmt.Sprintf("%d.json", i), Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(b)), nil
		}})
	}
	return out, nil, nil
}

func encoded(t testing.TB, rs ...triage.Report) memory {
	t.Helper()
	var out memory
	for _, r := range rs {
		var b bytes.Buffer
		if err := report.Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.Bytes())
	}
	return out
}

func read(t testing.TB, rs ...triage.Report) *Record {
	t.Helper()
	r, err := Read(t.Context(), encoded(t, rs...), Limits{}, report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if r.Reports != len(rs) {
		t.Fatalf("%d of %d reports are read: %q", r.Reports, len(rs), r.Warnings)
	}
	return r
}
