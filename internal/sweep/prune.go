package sweep

import (
	"fmt"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// bounded is the level of the bound that is printed.
const bounded = 0.95

// Proof is what reports tell of one entry of the ledger.
type Proof struct {
	Entry
	// Target is the test, zero when no report tells of it.
	Target triage.Target
	// Alone, Suite and Lagged are the runs on main: alone, with the package or the
	// whole suite, and under any lag plan.
	Alone, Suite, Lagged Runs
}

// Runs are counted runs of one kind. Kinds are never added up.
type Runs struct{ Runs, Red int }

// String is "0 of 20 (≤ 14 % at 95 %)".
func (r Runs) String() string {
	if r.Runs == 0 {
		return "no run"
	}
	return fmt.Sprintf("%d of %d (≤ %.2g %% at 95 %%)", r.Red, r.Runs, 100*stats.Upper(r.Red, r.Runs, bounded))
}

// Steady reports whether the test was clean in need runs of each kind. Otherwise
// why says what is wanting.
func (p Proof) Steady(need int) (ok bool, why string) {
	if p.Target == (triage.Target{}) {
		return false, "no report tells of it"
	}
	for _, k := range []struct {
		name string
		Runs
	}{{"alone", p.Alone}, {"in the suite", p.Suite}, {"under lag", p.Lagged}} {
		switch {
		case k.Red > 0:
			return false, fmt.Sprintf("red %s: %d of %d", k.name, k.Red, k.Runs.Runs)
		case k.Runs.Runs < need:
			return false, fmt.Sprintf("%d of %d runs %s", k.Runs.Runs, need, k.name)
		}
	}
	return true, ""
}

// String is one line: the runs of each kind with their bounds.
func (p Proof) String() string {
	return fmt.Sprintf("alone red %s, in the suite %s, under lag %s", p.Alone, p.Suite, p.Lagged)
}

// Proofs collects what the reports tell of the ledger's entries. Only runs of
// main count; a red of any signature and in any arm is one.
func Proofs(l Ledger, reports []triage.Report) []Proof {
	out := make([]Proof, len(l.Entries))
	for i, e := range l.Entries {
		out[i].Entry = e
	}
	for _, r := range reports {
		for _, e := range r.Evidence {
			for i := range out {
				if out[i].Is(e.Target) {
					out[i].Target = e.Target
					out[i].add(r, e)
				}
			}
		}
	}
	return out
}

func (p *Proof) add(r triage.Report, e triage.Evidence) {
	for _, t := range e.Tallies {
		if !r.Check.OfMain(t.Arm.Side) {
			continue
		}
		to := &p.Alone
		switch {
		case !t.Arm.Plain(): // a detector's red is a red too
			to = &p.Lagged
		case t.Arm.Scope != triage.Alone:
			to = &p.Suite
		}
		to.Runs += t.N()
		to.Red += t.Red()
	}
}

// Prune is the proposal to take the steady tests off the ledger: a line for each
// entry with its proof, and the patch, empty when nothing is proven.
func Prune(l Ledger, reports []triage.Report, need int) (notes []string, patch string) {
	var steady []Entry
	for _, p := range Proofs(l, reports) {
		ok, why := p.Steady(need)
		if ok {
			steady = append(steady, p.Entry)
			notes = append(notes, fmt.Sprintf("steady: %s: %s", p.Name, p))
			continue
		}
		notes = append(notes, fmt.Sprintf("stays: %s: %s", p.Name, why))
	}
	return notes, l.Without(steady)
}

// OnLedger marks the failures that the ledger names.
func OnLedger(l Ledger, failures []triage.Failure) {
	for i := range failures {
		_, failures[i].Ledger = l.Find(failures[i].Target)
	}
}
