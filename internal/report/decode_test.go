package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestDecodeRefusesWhatTheSchemaDoesNotName(t *testing.T) {
	good := string(encoded(t, threeReds()))
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", `"tool": {`, `"extra": 1, "tool": {`, `report: unknown key "extra"`},
		{"unknown key inside", `"version": "v0.1.0"`, `"version": "v0.1.0", "x": {}`, `tool: unknown key "x"`},
		{"key in another case", `"check": {`, `"Check": {`, `report: unknown key "Check"`},
		{"key twice", `"suite": "go",`, `"suite": "go", "suite": "py",`, `check: key "suite" is there twice`},
		{"missing key", `"class": "likely-regression",`, ``, `key "class" is missing`},
		{"null", `"warnings": []`, `"warnings": null`, "warnings: want a list, found null"},
		{"string for number", `"cores": 2`, `"cores": "2"`, `tool.cores: want a whole number, found the string "2"`},
		{"fraction for number", `"cores": 2`, `"cores": 2.5`, `tool.cores: "2.5" is not a whole number`},
		{"huge whole number", `"cores": 2`, `"cores": 99999999999999999999`, "is not a whole number"},
		{"huge number", `"alpha": 0.01`, `"alpha": 1e999`, "plan.alpha"},
		{"negative count", `"cores": 2`, `"cores": -2`, "tool.cores: -2 is less than 0"},
		{"probability above one", `"alpha": 0.01`, `"alpha": 1.5`, "plan.alpha: 1.5 is more than 1"},
		{"unknown class", `"class": "likely-regression"`, `"class": "fine"`, `unknown name "fine"`},
		{"unknown outcome", `"outcome": "pass"`, `"outcome": "passed"`, `unknown name "passed"`},
		{"unknown side", `"side": "base"`, `"side": "left"`, `unknown name "left"`},
		{"unknown source", `"source": "log"`, `"source": "guess"`, `check.source: unknown name "guess"`},
		{"unknown phase", `"phase": "test"`, `"phase": "x"`, "phase: unknown name"},
		{"bad time", `"created": "2026-01-05T09:30:00Z"`, `"created": "yesterday"`, "yesterday"},
		{"trial number twice", `"seq": 2,`, `"seq": 1,`, "trials[1].seq: 1 does not come after 1"},
		{"trial number zero", `"seq": 1,`, `"seq": 0,`, "trials[0].seq: 0 is less than 1"},
		{"counts that do not fit", `"sequence": "FFFFFF"`, `"sequence": "FFFFF."`, ".sequence: 1 times"},
		{"unknown mark", `"sequence": "FFFFFF"`, `"sequence": "FFFFFFx"`, ".sequence: only"},
		{"plan under another id", `"min_ms": 300`, `"min_ms": 301`, "the plan's id is"},
		{"trial to replay is not there", `"trial": 39`, `"trial": 3900`, "there is no trial 3900"},
		{"more red than runs", `"runs": 5`, `"runs": 4`, "cause.red: 5 of 4 runs"},
		{"more after it", "\n}\n", "\n}{}", "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.new, 1)
			if bad == good {
				t.Fatalf("%q is not in the fixture", c.old)
			}
			_, err := Decode(strings.NewReader(bad))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "decoding report: ") {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNoReport(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "the file is empty"},
		{"spaces", " \n", "the file is empty"},
		{"not JSON", "<xml/>", "line 1, byte 1: not JSON"},
		{"another JSON", `{"a": 1}`, "not a triagebot report"},
		{"a list", `[1]`, "not a triagebot report"},
		{"no UTF-8", "{\"a\": \"\xff\"}", "byte 7: not UTF-8"},
		{"another schema", `{"schema": "x/v1"}`, `schema: "x/v1" is not`},
		{"schema without number", `{"schema": "triagebot/report/vX"}`, "is not"},
		{"deep", `{"schema": "triagebot/report/v1", "tool": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "tool: want an object"},
		{"deeper than JSON may be", `{"schema": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", "not JSON"},
		{"too large", strings.Repeat(" ", MaxBytes+1), "more than 16777216 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDecodeSaysWhenAReportIsNewer(t *testing.T) {
	_, err := Decode(strings.NewReader(`{"schema": "triagebot/report/v2", "anything": [1]}`))
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "update triagebot") {
		t.Errorf("error = %v, want ErrNewer with the fix", err)
	}
}

func TestNoPrefixOfAReportDecodes(t *testing.T) {
	data := bytes.TrimSpace(encoded(t, regression()))
	for n := 0; n < len(data); n += 7 {
		if _, err := Decode(bytes.NewReader(data[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes decode", n, len(data))
		}
	}
}

func TestValidateNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*triage.Report)
		want   string
	}{
		{"not a number", func(r *triage.Report) { r.Cost.WallMS = math.NaN() }, "cost.wall_ms: NaN"},
		{"class out of range", func(r *triage.Report) { r.Verdicts[1].Class = 99 }, "verdicts[1].class: unknown name"},
		{"outcome out of range", func(r *triage.Report) { r.Trials[0].Outcome = -1 }, "trials[0].outcome: unknown name"},
		{"reason unknown", func(r *triage.Report) { r.Verdicts[0].Reasons = []triage.Reason{"mood"} }, "verdicts[0].reasons[0]: unknown name"},
		{"doubt without reason", func(r *triage.Report) { r.Verdicts[0].Class = triage.Inconclusive }, "verdicts[0].reasons"},
		{"long name", func(r *triage.Report) { r.Verdicts[0].Target.Test = strings.Repeat("x", maxName+1) }, "verdicts[0].target.test: 4097 bytes"},
		{"long text", func(r *triage.Report) { r.Warnings = []string{strings.Repeat("x", maxText+1)} }, "warnings[0]"},
		{"same test twice", func(r *triage.Report) { r.Verdicts[1].Target = r.Verdicts[0].Target }, "verdicts[1].target"},
		{"evidence twice", func(r *triage.Report) { r.Evidence[1].Target = r.Evidence[0].Target }, "evidence[1].target"},
		{"same as itself", func(r *triage.Report) { r.Verdicts[0].SameAs = &r.Verdicts[0].Target }, "verdicts[0].same_as"},
		{"same as nothing", func(r *triage.Report) { r.Verdicts[0].SameAs = &triage.Target{Test: "no"} }, "verdicts[0].same_as"},
		{"failure of a pass", func(r *triage.Report) { r.Trials[0].Failure = &triage.Failure{Outcome: triage.Fail} }, "trials[0].failure"},
		{"plan of an arm", func(r *triage.Report) { r.Trials[0].Arm.Lag = "nope" }, `trials[0].arm.lag: no lag plan "nope"`},
		{"plan of a tally", func(r *triage.Report) { r.Evidence[0].Tallies[0].Arm.Lag = "nope" }, "evidence[0].tallies[0].arm.lag"},
		{"plan of the ladder", func(r *triage.Report) { r.Plan.Ladders = map[string][]string{"gotest": {"nope"}} }, "plan.ladders[\"gotest\"][0]"},
		{"interval upside down", func(r *triage.Report) { r.Evidence[0].Comparisons[0].Low = 1 }, "evidence[0].comparisons[0].low"},
		{"rates upside down", func(r *triage.Report) { r.Verdicts[0].Bound = triage.Bound{RateLow: 1} }, "verdicts[0].bound.rate_low"},
		{"year", func(r *triage.Report) { r.Plan.Created = r.Plan.Created.AddDate(9000, 0, 0) }, "plan.created"},
		{"site under another id", func(r *triage.Report) { r.Plan.Sites = map[string]triage.Site{"a": {ID: "b", Kind: triage.KindCall}} }, "plan.sites"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := threeReds()
			if err := Validate(r); err != nil {
				t.Fatal(err)
			}
			c.change(&r)
			if err := Validate(r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, build := range fixtures {
		var b bytes.Buffer
		if err := Encode(&b, build()); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"schema": "triagebot/report/v2"}`))
	f.Add([]byte(`{"schema": "triagebot/report/v1", "tool": {"name": "\ud800"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := Encode(&first, r); err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := Decode(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if err := Encode(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("second encoding differs (%v)", err)
		}
	})
}
