package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// cmdNight: "night FILE DAY PACKAGE TEST ALONE SUITE LAGGED" writes the report of
// a sweep of main on a day of November: the outcomes of one test in three arms, "."
// for a pass and "F" for a fail, as in "....F" or "20" for so many passes.
func cmdNight(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 7 {
		ts.Fatalf("usage: night FILE DAY PACKAGE TEST ALONE SUITE LAGGED")
	}
	day, err := strconv.Atoi(args[1])
	ts.Check(err)
	at := time.Date(2025, 11, day, 3, 0, 0, 0, time.UTC)
	plan := triage.LagPlan{Version: triage.PlanVersion, Name: "doubles", Kinds: []triage.Kind{triage.KindReturn}, MinMS: 400, MaxMS: 400}
	target := triage.Target{Suite: "go", Framework: "gotest", Package: args[2], Test: args[3]}
	sign := triage.Signature{Phase: triage.PhaseTest, Message: "not fine", Func: args[3]}
	r := triage.Report{
		Schema: triage.Schema, Tool: tool(),
		Check: triage.Check{Repo: "repo", Suite: "go", Source: "run", Head: triage.Rev{SHA: "main"}, Base: triage.Rev{SHA: "main"}},
		Plan:  triage.Plan{Created: at, Lag: "auto", Alpha: 0.01, LagPlans: map[string]triage.LagPlan{plan.ID(): plan}},
	}
	e := triage.Evidence{Target: target, Reference: sign, DurationMS: 1500}
	for i, arm := range []triage.Arm{{}, {Scope: triage.InSuite}, {Lag: plan.ID()}} {
		marks := args[4+i]
		if n, err := strconv.Atoi(marks); err == nil {
			marks = strings.Repeat(".", n)
		}
		e.Tallies = append(e.Tallies, triage.Tally{Arm: arm, Sequence: marks, Pass: strings.Count(marks, "."), Same: strings.Count(marks, "F")})
		for _, m := range marks {
			t := triage.Trial{Seq: len(r.Trials) + 1, Request: triage.Request{Target: target, Arm: arm, Purpose: triage.Measure}, Start: at, DurationMS: 5, Outcome: triage.Pass, Ran: 1}
			if m == 'F' {
				t.Outcome, t.Failure = triage.Fail, &triage.Failure{Target: target, Outcome: triage.Fail, Signature: sign}
			}
			r.Trials = append(r.Trials, t)
		}
	}
	r.Evidence = []triage.Evidence{e}
	var b bytes.Buffer
	ts.Check(report.Encode(&b, r))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}
