package lag

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Seam is what a project declares to be raced.
type Seam struct {
	// Option is an option of the project's own with {seconds} or {ms} for the
	// dose; empty for a function.
	Option string
	// Sites are where the function can be, as [triage.LagPlan.Sites] has them:
	// one that is declared by its module may stand in several files.
	Sites []string
}

// Doses of the declared seams, in milliseconds: what a person would try, then
// one that no honest deadline minds.
var seamMS = []float64{300, 50}

// seamKinds are the kinds of sites that stand for a call of a function: its
// entry, its start as a thread or task, and its awaits.
var seamKinds = []triage.Kind{triage.KindCall, triage.KindStart, triage.KindWake}

// declared are the rungs of the seams: each option by itself, for one side may not
// know it, and all functions together. The first is "declared", the next
// "declared2", and with the smaller dose "declared-50".
func declared(c Capabilities) []rung {
	var sites []string
	var plans []triage.LagPlan
	for _, s := range c.Seams {
		sites = append(sites, s.Sites...)
		if s.Option != "" {
			plans = append(plans, triage.LagPlan{
				Version: triage.PlanVersion, Decisions: []triage.Decision{{Site: s.Option, Kind: triage.KindDeclared, Hit: 1}},
			})
		}
	}
	if kinds := kindsOf(c, seamKinds...); len(sites) > 0 && len(kinds) > 0 {
		p := fixed("", triage.RoleWorker, kinds, 0, ladderHits)
		p.Sites = sites
		plans = append(plans, p)
	}
	var rungs []rung
	for i, ms := range seamMS {
		for n, p := range plans {
			p.Name = seamName(n, i, ms)
			if len(p.Decisions) > 0 {
				d := p.Decisions[0]
				d.MS = ms
				p.Decisions = []triage.Decision{d}
			} else {
				p.MinMS, p.MaxMS = ms, ms
			}
			rungs = append(rungs, rung{p, true})
		}
	}
	return rungs
}

func seamName(n, dose int, ms float64) string {
	name := "declared"
	if n > 0 {
		name += strconv.Itoa(n + 1)
	}
	if dose > 0 {
		name += fmt.Sprintf("-%g", ms)
	}
	return name
}

// Options are the options of the project's own that a plan asks for, with their
// doses. A dose in whole milliseconds is rounded up: none would be no delay.
func Options(p *triage.LagPlan) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, d := range p.Decisions {
		if d.Kind == triage.KindDeclared {
			seconds := strconv.FormatFloat(d.MS/1000, 'f', -1, 64)
			out = append(out, strings.NewReplacer("{seconds}", seconds, "{ms}", strconv.Itoa(int(math.Ceil(d.MS)))).Replace(d.Site))
		}
	}
	return out
}

// OptionSite is the site that stands for an option of the project's own.
func OptionSite(option string) triage.Site {
	return triage.Site{ID: option, Kind: triage.KindDeclared}
}
