package gotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// Some of the tests, run under the seed of all, keep the order that they had.
func TestNamedTestsKeepTheOrderOfTheSeed(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- go.mod --\nmodule example.com/o\n\ngo 1.26\n-- o_test.go --\npackage o\n\nimport \"testing\"\n\n")
	for i := range 12 {
		fmt.Fprintf(&b, "func Test%02d(*testing.T) {}\n", i)
	}
	tree := module(t, b.String())
	target := triage.Target{Suite: "go", Framework: Name, Package: "example.com/o", Test: "Test05"}
	p := prepare(t, Adapter{}, tree, target.Package)
	order := func(seed int64, with []string) []string {
		rs := runTrial(t, Adapter{}, triage.RunSpec{Prepared: p, Tree: tree, Target: target, Scope: triage.InPackage, Seed: seed, With: with})
		slices.SortFunc(rs, func(a, b triage.Result) int { return a.Start - b.Start })
		var names []string
		for _, r := range rs {
			names = append(names, r.Target.Test)
		}
		return names
	}
	with := []string{"Test11", "Test03", "Test08", "Test00", "Test09"}
	for _, seed := range []int64{1, 2, 3} {
		want := slices.DeleteFunc(order(seed, nil), func(n string) bool { return n != target.Test && !slices.Contains(with, n) })
		if got := order(seed, with); len(got) != len(with)+1 || !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, in the whole package %v", seed, got, want)
		}
	}
	if one := order(1, with); slices.Equal(one, order(2, with)) && slices.Equal(one, order(3, with)) {
		t.Errorf("three seeds have the one order %v", one)
	}
}
