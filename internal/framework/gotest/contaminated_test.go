package gotest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestTreeThatPinsTheCheckoutIsContaminated(t *testing.T) {
	for _, c := range []struct {
		name, gomod string
		want        bool
	}{
		{"an absolute replace into the checkout", "replace example.com/lib => /home/me/app/lib", true},
		{"the same in a block", "replace (\n\texample.com/lib v1.2.3 => /home/me/app/lib\n)", true},
		{"a folder elsewhere", "replace example.com/lib => /opt/lib", false},
		{"a relative replace", "replace example.com/lib => ./lib", false},
		{"a name that only begins alike", "replace example.com/lib => /home/me/app2/lib", false},
	} {
		tree := module(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.25\n\n"+c.gomod+"\n-- a.go --\npackage m\n-- a_test.go --\npackage m\n")
		p, err := Adapter{Checkout: "/home/me/app"}.Prepare(t.Context(), run, triage.BuildSpec{Tree: tree, Package: "example.com/m", Out: filepath.Join(t.TempDir(), "x.test")})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Failure != nil && strings.HasPrefix(p.Failure.Message, "contaminated: go.mod names lib ")
		if got != c.want {
			t.Errorf("%s: failure is %+v, contaminated %v", c.name, p.Failure, c.want)
		}
	}
}
