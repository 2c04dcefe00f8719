package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/triage"
)

// maxSingly is the number of plainly red tests up to which each is run alone.
// Above it those that are red every time in the same way are told together: on a
// night on which everything is red, the cause is one.
const maxSingly = 20

// plainReds judges the tests that are red without lag.
func (e *engine) plainReds(ctx context.Context) error {
	reds, began := e.cases(false), time.Now()
	leading := map[triage.Signature]*test{}
	for i, x := range reds {
		e.progress(i, len(reds), began, "red without lag: "+x.target.String())
		green, red := x.count(false)
		sign := signOf(&x.lead.failure)
		sign.Func = ""
		if first := leading[sign]; len(reds) > maxSingly && first != nil && green == 0 && first.lead.verdict != nil && first.lead.verdict.Class == triage.BrokenOnBase {
			v := *first.lead.verdict
			v.Target, v.SameAs, v.Reasons, v.Bound = x.target, &first.target, []triage.Reason{triage.ReasonSameSignature}, rateBound(red, red, " in the suite")
			v.Trial, v.Reproduce = x.lead.first, reproduction(x.lead.first)
			x.lead.verdict = &v
			continue
		}
		if err := e.judgePlain(ctx, x); err != nil {
			return err
		}
		if leading[sign] == nil && green == 0 {
			leading[sign] = x
		}
	}
	return nil
}

// judgePlain runs a test that is red without lag alone, and says what it is.
func (e *engine) judgePlain(ctx context.Context, x *test) error {
	if x.lead.verdict != nil {
		return nil
	}
	for want := confirmRuns; !x.target.IsCommand(); {
		a := x.alone()
		if a.plainRed > 0 && a.plainGreen > 0 {
			want = moreRuns
		}
		if a.plainRed+a.plainGreen >= want || e.odd(x) {
			break
		}
		if _, _, err := e.trial(ctx, triage.Request{Target: x.target, Purpose: triage.Measure}, nil); errors.Is(err, errCapped) {
			break
		} else if err != nil {
			return err
		}
	}
	x.lead.verdict = e.plainVerdict(x)
	return nil
}

// odd reports whether the runs of a test alone have no result.
func (e *engine) odd(x *test) bool {
	n := 0
	for _, s := range x.seen {
		if s.arm == (triage.Arm{}) && !s.outcome.Counts() {
			n++
		}
	}
	return n >= 2
}

func (e *engine) plainVerdict(x *test) *triage.Verdict {
	a := x.alone()
	green, red := x.count(false)
	v := &triage.Verdict{Target: x.target, Origin: triage.OriginBase, Trial: x.lead.first}
	company := fmt.Sprintf("in its %s %d of %d times, alone %d of %d", x.unit.Scope, red, red+green, a.plainRed, a.plainRed+a.plainGreen)
	switch {
	case green == 0 && (a.plainRed > 0 && a.plainGreen == 0 || x.target.IsCommand()):
		v.Class = triage.BrokenOnBase
		v.Bound = rateBound(max(a.plainRed, red), max(a.plainRed, red), "")
	case a.plainRed > 0 || green > 0 && red > 0 && (a.plainRed+a.plainGreen > 0 || x.target.IsCommand()):
		v.Class = triage.PreExistingFlake
		v.Bound = rateBound(a.plainRed, a.plainRed+a.plainGreen, " alone")
		if a.plainRed == 0 {
			v.Bound = rateBound(red, red+green, " in its "+x.unit.Scope.String())
			v.Bound.Text += " (" + company + ")"
		}
	case a.plainGreen > 0 && green == 0 && classify.DefaultPolicy().NeedsCompany(red, red, a.plainRed, a.plainRed+a.plainGreen):
		v.Class, v.Reasons = triage.BrokenOnBase, []triage.Reason{triage.ReasonOrder}
		v.Bound = triage.Bound{Text: "it fails " + company}
	default:
		v = e.open(x, "it fails "+company, triage.ReasonBudgetExhausted)
	}
	switch x.lead.failure.Signature.Phase {
	case triage.PhaseRace:
		v.Reasons = append(v.Reasons, triage.ReasonDataRace)
	case triage.PhaseBuild:
		v.Reasons = append(v.Reasons, triage.ReasonBuild)
	}
	for _, t := range e.r.Trials {
		if t.Target == x.target && t.Arm == (triage.Arm{}) && t.Outcome.Red() {
			v.Trial = t.Seq
			break
		}
	}
	v.Reproduce = reproduction(v.Trial)
	return v
}
