package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/triage"
)

// finish judges every target and fills the report.
func (c *check) finish() triage.Report {
	r := c.report
	r.Schema = triage.Schema
	r.Plan.Stopped = c.stopped
	r.Evidence, r.Verdicts = c.judge()
	r.Substrate = append(classify.EarlierSubstrates(r.Substrate), classify.Substrates(classify.Companies(r.Trials), r.Verdicts)...)
	r.Plan.LagPlans = c.usedPlans(r)
	r.Plan.Sites = NamedSites(r.Trials, c.run.Site)
	r.Cost.Trials = len(r.Trials)
	r.Cost.TrialMS = 0
	for _, t := range r.Trials {
		r.Cost.TrialMS += t.DurationMS
	}
	if r.Trials == nil {
		r.Trials = []triage.Trial{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

// judge gives the measured targets their verdicts and passes them on to the
// other members of their groups.
func (c *check) judge() ([]triage.Evidence, []triage.Verdict) {
	verdicts, evidence := c.verdicts()
	evidence = classify.Adjust(evidence)
	var all []triage.Verdict
	for _, g := range c.groups {
		measured := make([]triage.Verdict, len(g.Measured))
		for i, f := range g.Measured {
			measured[i] = verdicts[f.Target]
		}
		all = append(all, measured...)
		if classify.Excuses(measured) {
			measured = nil // the time was over before the others could be run themselves
		}
		for _, f := range g.Others {
			v := classify.Share(measured, f)
			v.Reproduce = reproduction(v)
			all = append(all, v)
		}
	}
	return evidence, c.inOrder(all)
}

// verdicts judges each target as things stand.
func (c *check) verdicts() (map[triage.Target]triage.Verdict, []triage.Evidence) {
	evidence := make([]triage.Evidence, 0, len(c.targets))
	verdicts := make(map[triage.Target]triage.Verdict, len(c.targets))
	for _, t := range c.targets {
		e, v := classify.Judge(c.in.Policy, c.current(t))
		v.Trial = cmp.Or(v.Trial, firstHead(t.c.Trials))
		v.Reproduce = reproduction(v)
		evidence = append(evidence, e)
		verdicts[v.Target] = v
	}
	return verdicts, evidence
}

// inOrder sorts verdicts as the failures came.
func (c *check) inOrder(vs []triage.Verdict) []triage.Verdict {
	at := map[triage.Target]int{}
	for i, f := range c.report.Failures {
		at[f.Target] = i
	}
	slices.SortStableFunc(vs, func(a, b triage.Verdict) int { return at[a.Target] - at[b.Target] })
	if vs == nil {
		return []triage.Verdict{}
	}
	return vs
}

// firstHead is the first trial on head: what is replayed of a red that did not
// come back. It is 0 when there is none.
func firstHead(trials []triage.Trial) int {
	for _, t := range trials {
		if t.Arm.Side == triage.Head {
			return t.Seq
		}
	}
	return 0
}

func reproduction(v triage.Verdict) string {
	if v.Trial == 0 {
		return ""
	}
	return fmt.Sprintf("triagebot replay report.json --trial %d", v.Trial)
}

// usedPlans are the plans of the ladder and of the trials.
func (c *check) usedPlans(r triage.Report) map[string]triage.LagPlan {
	used := map[string]triage.LagPlan{}
	keep := func(id string) {
		if p, ok := c.plans[id]; ok {
			used[id] = p
		}
	}
	for _, ladder := range r.Plan.Ladders {
		for _, id := range ladder {
			keep(id)
		}
	}
	for _, t := range r.Trials {
		keep(t.Arm.Lag)
	}
	for _, v := range r.Verdicts {
		if v.Cause != nil {
			keep(v.Cause.Plan)
		}
	}
	return used
}

// NamedSites are the sites that trials' decisions and stretches name, as far as
// site knows them.
func NamedSites(trials []triage.Trial, site func(id string) (triage.Site, bool)) map[string]triage.Site {
	named := map[string]triage.Site{}
	keep := func(id string) {
		if _, ok := named[id]; ok {
			return
		}
		if s, ok := site(id); ok {
			named[id] = s
		}
	}
	for _, t := range trials {
		for _, d := range t.Decisions {
			keep(d.Site)
		}
		for _, id := range t.Stretched {
			keep(id)
		}
	}
	return named
}
