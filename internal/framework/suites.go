package framework

import (
	"io/fs"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
)

// found is a directory whose tests a framework runs, "" for the root. called says
// that a script there calls it, set that a script or configuration there is its.
type found struct {
	dir         string
	called, set bool
}

// others are the frameworks that tell by themselves where they are used.
var others = []struct {
	framework string
	command   []string
	detect    func(fs.FS) []found
}{
	{pytest.Name, []string{"python3", "-m", "pytest"}, python},
	{vitest.Name, []string{"npx", "vitest", "run"}, script(vitest.Detect)},
	{jest.Name, []string{"npx", "jest"}, script(jest.Detect)},
	{mocha.Name, []string{"npx", "mocha"}, script(mocha.Detect)},
	{nodetest.Name, []string{"node", "--test"}, script(nodetest.Detect)},
}

func python(root fs.FS) []found {
	var out []found
	for _, f := range pytest.Detect(root) {
		out = append(out, found{f.Dir, false, true})
	}
	return out
}

func script(detect func(fs.FS) []jstest.Found) func(fs.FS) []found {
	return func(root fs.FS) []found {
		var out []found
		for _, f := range detect(root) {
			out = append(out, found{f.Dir, f.Called, f.Set})
		}
		return out
	}
}

// detectOthers finds the suites of the frameworks that have no row in the table.
// Where a script calls one of them, those that are no more than a dependency are
// no suites.
func detectOthers(root fs.FS) []Suite {
	var out []Suite
	all := make([][]found, len(others))
	called := map[string]bool{}
	for i, o := range others {
		all[i] = o.detect(root)
		for _, f := range all[i] {
			called[f.dir] = called[f.dir] || f.called
		}
	}
	for i, o := range others {
		for _, f := range all[i] {
			if called[f.dir] && !f.set {
				continue
			}
			s := Suite{Name: o.framework, Framework: o.framework, Dir: ".", Command: o.command}
			if f.dir != "" {
				s.Dir, s.Name = f.dir, s.Name+":"+f.dir
			}
			out = append(out, s)
		}
	}
	return out
}

// Names are the frameworks that there are adapters for.
func Names() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.framework)
	}
	for _, o := range others {
		names = append(names, o.framework)
	}
	return names
}
