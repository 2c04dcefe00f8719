package gotest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestReachCountsWhatATestCanHaveLoaded(t *testing.T) {
	dirs := []string{"mail", "store/disk"}
	for _, c := range []struct {
		name    string
		changed []string
		want    triage.Reach
	}{
		{"nothing in common", []string{"README.md", "web/page.go", "mailbox/a.go"}, triage.Reach{Changed: 3}},
		{"its own package", []string{"README.md", "mail/send.go"}, triage.Reach{Changed: 2, Loaded: 1, First: "mail/send.go"}},
		{"test data below a package", []string{"store/disk/testdata/a.json"}, triage.Reach{Changed: 1, Loaded: 1, First: "store/disk/testdata/a.json"}},
		{"the modules it is built with", []string{"go.sum"}, triage.Reach{Changed: 1, Loaded: 1, First: "go.sum"}},
		{"no change at all", nil, triage.Reach{}},
	} {
		if d := cmp.Diff(c.want, *reach(dirs, c.changed)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestReachAsksTheGoCommand(t *testing.T) {
	tree := module(t, `
-- go.mod --
module example.com/m

go 1.25
-- a/a.go --
package a

import _ "example.com/m/b"
-- a/a_test.go --
package a

import _ "example.com/m/onlytest"
-- b/b.go --
package b
-- c/c.go --
package c
-- onlytest/o.go --
package onlytest
`)
	got, err := Adapter{}.Reach(t.Context(), run, tree, "example.com/m/a",
		strings.Fields("docs/README.md c/c.go b/b.go onlytest/o.go"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&triage.Reach{Changed: 4, Loaded: 2, First: "b/b.go"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
