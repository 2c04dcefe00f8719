package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestEveryInputThatIsAFlagIsOneOfMeasure(t *testing.T) {
	root := newRoot(streams{in: &bytes.Buffer{}, out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	measure, _, err := root.Find([]string{"measure"})
	must(t, err)
	seen := map[string]bool{}
	for _, row := range inputTable() {
		if seen[row.Name] || row.Name != strings.ToLower(row.Name) || row.Doc == "" {
			t.Errorf("input %q: twice, with capitals, or without description", row.Name)
		}
		seen[row.Name] = true
		if row.Flag == "" {
			continue
		}
		f := measure.Flags().Lookup(row.Flag)
		if f == nil {
			t.Errorf("input %s: measure has no flag --%s", row.Name, row.Flag)
			continue
		}
		if list := f.Value.Type() == "stringArray"; list != row.List {
			t.Errorf("input %s: list %v, the flag takes one %s", row.Name, row.List, f.Value.Type())
		}
	}
	for _, k := range config.Keys() {
		if k.Env != "" && !seen[k.Name] {
			t.Errorf("the key %s is no input", k.Name)
		}
	}
}

func TestInputsAreReadAsTheRunnerAndAsAShellHandsThemOn(t *testing.T) {
	env := map[string]string{"INPUT_FAIL-ON": " any ", "INPUT_MAX_TRIALS": "9", "INPUT_BUDGET": "", "INPUT_REPORTS": "a.xml\n\n  b c.json\n", "INPUT_TOKEN": "t"}
	in := readInputs(func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	if in["mode"] != modeAuto || in["fail-on"] != "any" || in["max-trials"] != "9" || in["budget"] != "" || in["token"] != "t" {
		t.Errorf("inputs %v", in)
	}
	want := []string{"--report=a.xml", "--report=b c.json", "--max-trials=9", "--fail-on=any"}
	if diff := cmp.Diff(want, in.measureArgs()); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if none := readInputs(func(string) (string, bool) { return "", false }); none["token"] != "" || len(none.measureArgs()) != 0 {
		t.Errorf("without any input: token %q, flags %q", none["token"], none.measureArgs())
	}
}

func TestTheTablesAreJSON(t *testing.T) {
	var b bytes.Buffer
	must(t, printInputs(&b))
	var tables struct{ Inputs, Outputs []map[string]any }
	must(t, json.Unmarshal(b.Bytes(), &tables))
	if len(tables.Inputs) != len(inputTable()) || len(tables.Outputs) != len(outputTable) {
		t.Errorf("%d inputs, %d outputs", len(tables.Inputs), len(tables.Outputs))
	}
}

func TestOutputsCountEveryVerdictOnce(t *testing.T) {
	var all []triage.Verdict
	for c := triage.Inconclusive; c <= triage.BrokenOnBase; c++ {
		for _, o := range []triage.Origin{"", triage.OriginHead, triage.OriginBase} {
			all = append(all, triage.Verdict{Class: c, Origin: o})
		}
	}
	want := map[string]string{"regressions": "3", "introduced-flakes": "3", "new-races": "1", "old-races": "1", "pre-existing-flakes": "3", "broken-on-base": "3", "inconclusive": "4"}
	if diff := cmp.Diff(want, counts(all)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	for name := range want {
		if !slices.ContainsFunc(outputTable, func(r outputRow) bool { return r.Name == name }) {
			t.Errorf("%s is no output", name)
		}
	}
}

func TestOneWordForAllVerdicts(t *testing.T) {
	yours, not, open := triage.Verdict{Class: triage.LikelyRegression}, triage.Verdict{Class: triage.BrokenOnBase}, triage.Verdict{}
	race := triage.Verdict{Class: triage.LagRevealedRace} // of unknown origin: it excuses nothing
	for want, vs := range map[string][]triage.Verdict{
		verdictGreen: nil, verdictYours: {yours, yours}, verdictNotYours: {not}, verdictMixed: {not, yours}, verdictInconclusive: {not, race},
	} {
		if got := summaryVerdict(vs); got != want {
			t.Errorf("%v: %s, want %s", vs, got, want)
		}
	}
	if got := summaryVerdict([]triage.Verdict{open}); got != verdictInconclusive {
		t.Errorf("one open verdict: %s", got)
	}
}

// docs/permissions.md speaks of every mode.
func TestThePageOfPermissionsHasEveryMode(t *testing.T) {
	page, err := os.ReadFile("../../docs/permissions.md")
	must(t, err)
	for _, mode := range []string{modeMeasure, modePublish, modeCommand, modeSweep, modePlan, modeMerge} {
		if !strings.Contains(string(page), "| `"+mode+"`") {
			t.Errorf("the table has no row for %s", mode)
		}
	}
}
