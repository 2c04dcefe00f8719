package report

import (
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestThePastIsTold(t *testing.T) {
	since := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		past triage.Past
		want []string
		not  string
	}{
		"same signature": {triage.Past{Scope: triage.InSuite, Runs: 41, Red: 3, Same: 3, Since: since, Low: 0.015, High: 0.199, P: 1},
			[]string{"Seen on main 3 of 41 runs since 1 Nov 2026 in the whole suite, same signature: 1.5 %–20 % at 95 %."}, "half"},
		"another signature": {triage.Past{Runs: 8, Red: 2, Since: since, High: 0.6, P: 1},
			[]string{"2 of 8 runs since 1 Nov 2026 alone, with another signature"}, "same signature"},
		"some of both": {triage.Past{Runs: 8, Red: 4, Same: 1, Since: since, High: 0.6, P: 1}, []string{"alone, 1 with the same signature"}, ""},
		"never red":    {triage.Past{Runs: 1, Since: since, High: 0.975, P: 1}, []string{"Never red on main in 1 run since 1 Nov 2026 alone: 0 %–98 % at 95 %."}, "signature"},
		"rising": {triage.Past{Runs: 40, Red: 10, Same: 10, Since: since, LastRed: since.AddDate(0, 0, 3), P: 0.001, Older: triage.Half{Red: 0, Runs: 20}, Newer: triage.Half{Red: 10, Runs: 20}},
			[]string{"Rising: 0 of 20 in the older half of the runs, 10 of 20 in the newer (Fisher's exact p = 0.001).", "Last red on 4 Nov 2026."}, ""},
		"falling": {triage.Past{Runs: 40, Red: 10, Since: since, P: 0.001, Older: triage.Half{Red: 10, Runs: 20}, Newer: triage.Half{Runs: 20}},
			[]string{"Falling: 10 of 20"}, ""},
	} {
		var lines []string
		for _, p := range past(tc.past) {
			lines = append(lines, p.String())
		}
		text := strings.Join(lines, "\n")
		for _, want := range append(tc.want, "no part of the verdict") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %q", name, want, text)
			}
		}
		if tc.not != "" && strings.Contains(text, tc.not) {
			t.Errorf("%s: %q in %q", name, tc.not, text)
		}
	}
}

func TestValidateNamesThePlaceOfWhatIsShared(t *testing.T) {
	for want, spoil := range map[string]func(r *triage.Report){
		"failures[0].past.red":             func(r *triage.Report) { r.Failures[0].Past.Red = 42 },
		"failures[0].past.same":            func(r *triage.Report) { r.Failures[0].Past.Same = 8 },
		"failures[0].past.low":             func(r *triage.Report) { r.Failures[0].Past.Low = 0.9 },
		"failures[0].past.p":               func(r *triage.Report) { r.Failures[0].Past.P = 1.5 },
		"substrate[1].arms[0].red_runs":    func(r *triage.Report) { r.Substrate[1].Arms[0].RedRuns = 10 },
		"substrate[1].arms[1].victims":     func(r *triage.Report) { r.Substrate[1].Arms[1].Victims = 5 },
		"substrate[0].arms[0].arm.lag":     func(r *triage.Report) { r.Substrate[0].Arms[0].Arm.Lag = "nope" },
		"substrate[0].earlier":             func(r *triage.Report) { r.Substrate[0].Earlier = -1 },
		"plan.shard.index: 3 of 2":         func(r *triage.Report) { r.Plan.Shard = triage.Shard{Index: 3, Of: 2} },
		"plan.parts: they hold 0 failures": func(r *triage.Report) { r.Plan.Parts = []triage.Part{{Shard: triage.Shard{Index: 1, Of: 2}}} },
		"plan.parts[0].index": func(r *triage.Report) {
			r.Plan.Parts = []triage.Part{{Shard: triage.Shard{Index: 0, Of: 2}}}
		},
	} {
		r := sharedCause()
		if err := Validate(r); err != nil {
			t.Fatal(err)
		}
		r.Substrate = append([]triage.Substrate{}, r.Substrate...)
		spoil(&r)
		if err := Validate(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
