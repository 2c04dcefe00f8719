package sweep

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

var day = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func goTest(pkg, test string) triage.Target {
	return triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app/" + pkg, Test: test}
}

// shardReport is the report of shard i of n: each of its tests with two plain
// trials on head and base, the first of them red on head.
func shardReport(i, n, all int, tests ...triage.Target) triage.Report {
	r := triage.Report{
		Schema: triage.Schema,
		Tool:   triage.Tool{Name: "triagebot", Version: "v0.1.0", Go: "go1.26.0", Platform: "linux/amd64", Cores: 2},
		Check: triage.Check{Repo: "acme/loop", Suite: "go", Source: "report",
			Head: triage.Rev{SHA: "4f1c9a7b"}, Base: triage.Rev{SHA: "a90d1e2f"}},
		Plan: triage.Plan{Created: day.Add(time.Duration(i) * time.Minute), BudgetMS: 600_000, TrialTimeoutMS: 60_000,
			Lag: "off", Alpha: 0.01, Shard: triage.Shard{Index: i, Of: n, Tests: all}},
		Cost:     triage.Cost{WallMS: float64(1000 * i), BuildMS: 10, Builds: 1},
		Warnings: []string{"the machine is slow"},
	}
	for k, t := range tests {
		f := triage.Failure{Target: t, Outcome: triage.Fail, Signature: triage.Signature{Phase: triage.PhaseTest, Message: "got 1"}}
		r.Failures = append(r.Failures, f)
		e := triage.Evidence{Target: t, Reference: f.Signature}
		for _, side := range []triage.Side{triage.Head, triage.Base} {
			arm := triage.Arm{Side: side}
			x := triage.Trial{Seq: len(r.Trials) + 1, Request: triage.Request{Target: t, Arm: arm, Purpose: triage.Measure},
				Start: day.Add(time.Duration(i*100_000+k*10+int(side)) * time.Millisecond), DurationMS: 10, Outcome: triage.Pass, Ran: 1}
			tally := triage.Tally{Arm: arm, Pass: 1, Sequence: "."}
			if side == triage.Head {
				x.Outcome, x.Failure, x.Exit = triage.Fail, &f, 1
				tally = triage.Tally{Arm: arm, Same: 1, Sequence: "F"}
			}
			r.Trials, e.Tallies = append(r.Trials, x), append(e.Tallies, tally)
		}
		e.Comparisons = []triage.Comparison{{Base: triage.Arm{Side: triage.Base}, Difference: 1, High: 1, E: 200, P: 0.005, AdjustedP: 0.005, FisherP: 1}}
		r.Evidence = append(r.Evidence, e)
		seq := len(r.Trials) - 1
		r.Verdicts = append(r.Verdicts, triage.Verdict{Target: t, Class: triage.LikelyRegression, Origin: triage.OriginHead, Bound: triage.Bound{Text: "wrong"},
			Trial: seq, Reproduce: fmt.Sprintf("triagebot replay report.json --trial %d", seq)})
	}
	r.Cost.Trials = len(r.Trials)
	return r
}

func encode(t testing.TB, r triage.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func source(name string, b []byte) Source {
	return Source{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

func sources(t testing.TB, rs ...triage.Report) []Source {
	t.Helper()
	var out []Source
	for i, r := range rs {
		out = append(out, source(fmt.Sprintf("shard-%c.json", 'a'+i), encode(t, r)))
	}
	return out
}
