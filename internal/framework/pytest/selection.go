package pytest

import "github.com/triagebot/triagebot/internal/triage"

// selected adds what is to run: the target, behind what runs before it where only
// some of its company do; for all of the suite what its own command chooses.
func (a Adapter) selected(c triage.Command, r triage.RunSpec) triage.Command {
	switch {
	case r.Target.Package == "":
		return c
	case r.Scope == triage.InSuite && r.WithFiles == nil:
		c.Argv = append(c.Argv, a.Chosen...)
		return c
	}
	before := r
	file := func(name string) {
		before.Target.Package = name
		for _, test := range r.With {
			before.Scope, before.Target.Test = triage.Alone, test
			c.Argv = append(c.Argv, a.selection(before))
		}
		if r.With == nil {
			before.Scope = triage.InPackage
			c.Argv = append(c.Argv, a.selection(before))
		}
	}
	switch {
	case r.Scope == triage.InSuite:
		for _, name := range r.WithFiles {
			file(name)
		}
		r.Scope = triage.Alone
	case r.Scope == triage.InPackage && r.With != nil:
		file(r.Target.Package)
		r.Scope = triage.Alone
	}
	c.Argv = append(c.Argv, a.selection(r))
	return c
}

// OneProcess says that pytest runs the files of a suite in one process.
func (a Adapter) OneProcess() {}
