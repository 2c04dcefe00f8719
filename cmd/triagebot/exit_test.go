package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestExitCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"no error":          {nil, exitOK},
		"a policy":          {errPolicy, exitPolicy},
		"a policy, wrapped": {fmt.Errorf("measuring: %w", errPolicy), exitPolicy},
		"anything else":     {errors.New("no such file"), exitError},
	} {
		if got := exitCode(tc.err); got != tc.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tc.want)
		}
	}
}

func TestTheTableOfExitCodesIsThatOfTheConstants(t *testing.T) {
	page, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| ([0-9]+) \\| `([a-zA-Z]+)` \\| .+ \\|$").FindAllSubmatch(page, -1) {
		got[string(m[2])] = string(m[1])
	}
	source, err := os.ReadFile("exit.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(exit[A-Z]\w*)\s+= ([0-9]+)$`).FindAllSubmatch(source, -1) {
		want[string(m[1])] = string(m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 4 {
		t.Errorf("docs/exit-codes.md (-constants +page):\n%s", diff)
	}
	if want["exitOK"] != fmt.Sprint(exitOK) || want["exitPolicy"] != fmt.Sprint(exitPolicy) || want["exitError"] != fmt.Sprint(exitError) {
		t.Errorf("exit.go was read as %v", want)
	}
}

func TestTheTableOfPoliciesIsWhatFailOnDoes(t *testing.T) {
	page, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]triage.Verdict{
		"likely-regression":              {Class: triage.LikelyRegression, Origin: triage.OriginHead},
		"introduced-flake":               {Class: triage.IntroducedFlake, Origin: triage.OriginHead},
		"lag-revealed-race` of origin h": {Class: triage.LagRevealedRace, Origin: triage.OriginHead},
		"lag-revealed-race` of origin b": {Class: triage.LagRevealedRace, Origin: triage.OriginBase},
		"pre-existing-flake":             {Class: triage.PreExistingFlake, Origin: triage.OriginBase},
		"broken-on-base":                 {Class: triage.BrokenOnBase, Origin: triage.OriginBase},
		"inconclusive":                   {},
	}
	rows := regexp.MustCompile("(?m)^\\| `(none|regression|introduced|any)` \\| (.+) \\|$").FindAllSubmatch(page, -1)
	if len(rows) != 4 {
		t.Fatalf("%d policies in the table, want 4", len(rows))
	}
	for _, row := range rows {
		cfg := config.Config{FailOn: string(row[1])}
		for name, v := range verdicts {
			named := regexp.MustCompile(regexp.QuoteMeta(name)).Match(row[2]) || string(row[1]) == "any"
			if got := fails(cfg, []triage.Verdict{v}); got != named {
				t.Errorf("--fail-on %s with %s: %v, the page says %v", row[1], name, got, named)
			}
		}
		if fails(cfg, nil) {
			t.Errorf("--fail-on %s fails without a verdict", row[1])
		}
	}
}
