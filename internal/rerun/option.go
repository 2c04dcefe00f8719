package rerun

import (
	"fmt"
	"regexp"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// reUnknown is how programs refuse an option that they do not know: the flag
// package of Go, argparse and pytest, vitest and the like, jest.
var reUnknown = regexp.MustCompile(`flag provided but not defined: -|unrecognized arguments?: |[Uu]nknown option|Unrecognized (?:CLI Parameter|option)|[Bb]ad option|unknown flag`)

// noteOptions adds the declared options of a plan to what a trial was delayed by.
// A trial whose tests never began because a side does not know an option, as an
// older base may not, says nothing.
func (r *Runner) noteOptions(t *triage.Trial, plan *triage.LagPlan) {
	options := lag.Options(plan)
	if len(options) == 0 {
		return
	}
	ran := t.Outcome == triage.Pass || t.Outcome == triage.Fail
	if !ran && reUnknown.MatchString(t.Output) {
		*t = invalid(*t, fmt.Sprintf("%s does not know %s", t.Arm.Side, options[0]))
		t.Failure, t.Others = nil, nil
		return
	}
	for _, d := range plan.Decisions {
		if d.Kind == triage.KindDeclared {
			d.Role, d.Hit = triage.RoleWorker, 1
			t.Decisions = append(t.Decisions, d)
			t.DecisionCount++
			r.sites[d.Site] = lag.OptionSite(d.Site)
		}
	}
}
