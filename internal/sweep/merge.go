package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/triage"
)

// Source is one shard's report.
type Source struct {
	// Name is the file, for messages.
	Name string
	Open func() (io.ReadCloser, error)
}

// ErrNoShard: none of the reports could be read.
var ErrNoShard = errors.New("merging reports: no shard report can be read")

// Merge joins the reports of the shards of one check. They are read one after
// the other through decode, which trusts nothing in them. A report that is not
// there or cannot be read, and a shard that no report tells of, is a warning of
// the joined report, and the rest is kept. Reports of different checks, of
// different versions, of the same shard, or with the same trial are an error
// that names them: they cannot be of one run.
func Merge(sources []Source, decode func(io.Reader) (triage.Report, error)) (triage.Report, error) {
	var parts []named
	var lost []string
	for _, s := range sources {
		r, err := read(s, decode)
		if err != nil {
			lost = append(lost, fmt.Sprintf("%s is left out: %v", s.Name, err))
			continue
		}
		shrink(&r, len(sources))
		parts = append(parts, named{s.Name, r})
	}
	if len(parts) == 0 {
		return triage.Report{}, fmt.Errorf("%w (%s)", ErrNoShard, firstOf(lost))
	}
	r, err := join(parts)
	if err != nil {
		return triage.Report{}, err
	}
	r.Warnings = append(r.Warnings, lost...)
	return r, nil
}

func firstOf(lost []string) string {
	if len(lost) == 0 {
		return "none was named"
	}
	return lost[0]
}

// named is a report and the file it came from.
type named struct {
	name string
	triage.Report
}

func read(s Source, decode func(io.Reader) (triage.Report, error)) (triage.Report, error) {
	f, err := s.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return triage.Report{}, errors.New("there is no such file")
	}
	if err != nil {
		return triage.Report{}, err
	}
	defer f.Close()
	return decode(f)
}

// wholeText is the text kept of all trials of one report together: the joined
// report holds as much as one report may, whatever the number of shards.
const wholeText = 8 << 20

// shrink drops the output of green trials when many shards share one report's room.
func shrink(r *triage.Report, shards int) {
	size := 0
	for _, t := range r.Trials {
		size += len(t.Output)
	}
	if size*shards <= wholeText {
		return
	}
	for i := range r.Trials {
		if t := &r.Trials[i]; !t.Outcome.Red() {
			t.Output = ""
		}
	}
}

// Join joins shards that were judged here; see [Merge] for what it refuses.
func Join(shards []triage.Report) (triage.Report, error) {
	parts := make([]named, len(shards))
	for i, r := range shards {
		parts[i] = named{"shard " + r.Plan.Shard.String(), r}
	}
	return join(parts)
}

func join(parts []named) (triage.Report, error) {
	slices.SortStableFunc(parts, func(a, b named) int { return a.Plan.Shard.Index - b.Plan.Shard.Index })
	for i, p := range parts {
		if p.Plan.Shard.Of == 0 {
			return triage.Report{}, fmt.Errorf("merging reports: %s is not the report of a shard: measure it with --shard", p.name)
		}
		if err := sameRun(parts[0], p); err != nil {
			return triage.Report{}, err
		}
		if i > 0 && parts[i-1].Plan.Shard == p.Plan.Shard {
			return triage.Report{}, fmt.Errorf("merging reports: %s and %s are both shard %s: leave one out", parts[i-1].name, p.name, p.Plan.Shard)
		}
	}
	j := newJoined(parts[0].Report)
	for _, p := range parts {
		if err := j.add(p); err != nil {
			return triage.Report{}, err
		}
	}
	return j.done(), nil
}

// sameRun refuses what cannot be compared.
func sameRun(a, b named) error {
	for _, x := range []struct{ what, one, two string }{
		{"versions of triagebot", a.Tool.Version, b.Tool.Version},
		{"repositories", a.Check.Repo, b.Check.Repo},
		{"suites", a.Check.Suite, b.Check.Suite},
		{"heads", a.Check.Head.SHA, b.Check.Head.SHA},
		{"bases", a.Check.Base.SHA, b.Check.Base.SHA},
		{"commands", strings.Join(a.Check.Command, " "), strings.Join(b.Check.Command, " ")},
		{"numbers of shards", fmt.Sprint(a.Plan.Shard.Of), fmt.Sprint(b.Plan.Shard.Of)},
		{"numbers of tests", fmt.Sprint(a.Plan.Shard.Tests), fmt.Sprint(b.Plan.Shard.Tests)},
		{"error bounds", fmt.Sprint(a.Plan.Alpha), fmt.Sprint(b.Plan.Alpha)},
	} {
		if x.one != x.two {
			return fmt.Errorf("merging reports: %s and %s are of different %s, %q and %q: they are no shards of one run", a.name, b.name, x.what, x.one, x.two)
		}
	}
	return nil
}

// joined is the report that the shards are joined to.
type joined struct {
	r      triage.Report
	of     int
	tests  int
	trials map[event]string
	owner  map[triage.Target]string
	at     map[triage.Target]int // place of a command's evidence
}

// event is what no two trials have in common.
type event struct {
	target   triage.Target
	arm      triage.Arm
	start    time.Time
	duration float64
}

func newJoined(first triage.Report) *joined {
	j := &joined{r: first, of: first.Plan.Shard.Of, tests: first.Plan.Shard.Tests,
		trials: map[event]string{}, owner: map[triage.Target]string{}, at: map[triage.Target]int{}}
	j.r.Plan.Shard, j.r.Plan.Parts, j.r.Plan.Stopped = triage.Shard{}, nil, ""
	j.r.Plan.LagPlans, j.r.Plan.Sites = map[string]triage.LagPlan{}, map[string]triage.Site{}
	j.r.Plan.Ladders, j.r.Plan.Detectors, j.r.Plan.SuiteScope, j.r.Plan.Unlike = map[string][]string{}, map[string]string{}, nil, nil
	j.r.Failures, j.r.Trials, j.r.Evidence, j.r.Verdicts = []triage.Failure{}, []triage.Trial{}, []triage.Evidence{}, []triage.Verdict{}
	j.r.Substrate, j.r.Warnings, j.r.Cost, j.r.Sweep = nil, []string{}, triage.Cost{}, nil
	return j
}

// add appends one shard. Its trials are numbered on.
func (j *joined) add(p named) error {
	shift := len(j.r.Trials)
	for _, t := range p.Trials {
		e := event{t.Target, t.Arm, t.Start, t.DurationMS}
		if other, ok := j.trials[e]; ok {
			return fmt.Errorf("merging reports: trial %d of %s is in %s too: a shard was measured once and is given twice", t.Seq, p.name, other)
		}
		j.trials[e] = p.name
		t.Seq = len(j.r.Trials) + 1
		j.r.Trials = append(j.r.Trials, t)
	}
	renumbered := map[int]int{}
	for i, t := range p.Trials {
		renumbered[t.Seq] = shift + i + 1
	}
	for _, v := range p.Verdicts {
		if other, ok := j.owner[v.Target]; ok {
			return fmt.Errorf("merging reports: %s is judged in %s and in %s: the shards were not planned alike", v.Target, other, p.name)
		}
		j.owner[v.Target] = p.name
		j.r.Verdicts = append(j.r.Verdicts, moved(v, renumbered))
	}
	for _, e := range p.Evidence {
		if err := j.addEvidence(e); err != nil {
			return fmt.Errorf("merging reports: %s: %w", p.name, err)
		}
	}
	j.r.Failures = append(j.r.Failures, p.Failures...)
	j.addPlan(p.Plan, len(p.Failures), len(p.Trials))
	j.addCost(p.Cost)
	j.r.Sweep = joinSweeps(j.r.Sweep, p.Sweep)
	for _, s := range classify.EarlierSubstrates(p.Substrate) {
		if !slices.ContainsFunc(j.r.Substrate, func(o triage.Substrate) bool { return o.Place == s.Place }) {
			j.r.Substrate = append(j.r.Substrate, s)
		}
	}
	j.r.Warnings = union(j.r.Warnings, p.Warnings)
	return nil
}

// moved is a verdict that names its trial by the new number.
func moved(v triage.Verdict, renumbered map[int]int) triage.Verdict {
	if v.Trial == 0 {
		return v
	}
	old := fmt.Sprintf(" --trial %d", v.Trial)
	v.Trial = renumbered[v.Trial]
	if before, ok := strings.CutSuffix(v.Reproduce, old); ok {
		v.Reproduce = fmt.Sprintf("%s --trial %d", before, v.Trial)
	}
	return v
}

// addEvidence keeps the evidence of a test, which one shard has. A command may
// have been run by several: their runs are of the same arms and follow each other.
func (j *joined) addEvidence(e triage.Evidence) error {
	i, ok := j.at[e.Target]
	if !ok {
		j.at[e.Target] = len(j.r.Evidence)
		e.Tallies = slices.Clone(e.Tallies)
		j.r.Evidence = append(j.r.Evidence, e)
		return nil
	}
	if !e.Target.IsCommand() {
		return fmt.Errorf("%s was measured in another shard too: the shards were not planned alike", e.Target)
	}
	to := &j.r.Evidence[i]
	for _, t := range e.Tallies {
		k := slices.IndexFunc(to.Tallies, func(x triage.Tally) bool { return x.Arm == t.Arm })
		if k < 0 {
			to.Tallies = append(to.Tallies, t)
			continue
		}
		to.Tallies[k] = added(to.Tallies[k], t)
	}
	return nil
}

func added(a, b triage.Tally) triage.Tally {
	return triage.Tally{
		Arm: a.Arm, Pass: a.Pass + b.Pass, Same: a.Same + b.Same, Other: a.Other + b.Other,
		Skip: a.Skip + b.Skip, Absent: a.Absent + b.Absent, Invalid: a.Invalid + b.Invalid, Unknown: a.Unknown + b.Unknown,
		Sequence: a.Sequence + b.Sequence,
	}
}

// addPlan adds what was planned for a shard. Each plans for the frameworks and
// suites of its own tests.
func (j *joined) addPlan(p triage.Plan, failures, trials int) {
	addNew(j.r.Plan.Ladders, p.Ladders)
	addNew(j.r.Plan.Detectors, p.Detectors)
	j.r.Plan.SuiteScope = union(j.r.Plan.SuiteScope, p.SuiteScope)
	j.r.Plan.Unlike = union(j.r.Plan.Unlike, p.Unlike)
	addNew(j.r.Plan.LagPlans, p.LagPlans)
	addNew(j.r.Plan.Sites, p.Sites)
	if p.Created.Before(j.r.Plan.Created) {
		j.r.Plan.Created = p.Created
	}
	if j.r.Plan.Stopped == "" {
		j.r.Plan.Stopped = p.Stopped
	}
	j.r.Plan.Parts = append(j.r.Plan.Parts, triage.Part{Shard: p.Shard, Failures: failures, Trials: trials, Stopped: p.Stopped})
}

// addNew adds the entries whose keys are not there.
func addNew[V any](to, more map[string]V) {
	for k, v := range more {
		if _, ok := to[k]; !ok {
			to[k] = v
		}
	}
}

// union is a list with the members of another that it lacks.
func union(list, more []string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// addCost adds what was used. The shards run side by side: the time on the clock
// is that of the longest.
func (j *joined) addCost(c triage.Cost) {
	to := &j.r.Cost
	to.WallMS, to.MemoryMB = max(to.WallMS, c.WallMS), max(to.MemoryMB, c.MemoryMB)
	to.SetupMS, to.BuildMS, to.TrialMS = to.SetupMS+c.SetupMS, to.BuildMS+c.BuildMS, to.TrialMS+c.TrialMS
	to.Trials, to.Builds = to.Trials+c.Trials, to.Builds+c.Builds
}

// done adjusts over all tests and says what is missing.
func (j *joined) done() triage.Report {
	j.r.Evidence = classify.Adjust(j.r.Evidence)
	j.r.Substrate = append(j.r.Substrate, classify.Substrates(classify.Companies(j.r.Trials), j.r.Verdicts)...)
	seen := map[int]bool{}
	for _, p := range j.r.Plan.Parts {
		seen[p.Index] = true
	}
	for i := 1; i <= j.of; i++ {
		if !seen[i] {
			j.r.Warnings = append(j.r.Warnings, fmt.Sprintf("shard %d of %d is missing: its tests are not in this report", i, j.of))
		}
	}
	if len(j.r.Plan.Parts) < j.of && len(j.r.Failures) > 0 && len(j.r.Failures) < j.tests {
		j.r.Warnings = append(j.r.Warnings, fmt.Sprintf("this report tells of %d of %d tests", len(j.r.Failures), j.tests))
	}
	return j.r
}

// Split takes a joined report apart again into what each shard started from and
// measured, so that it can be judged again.
func Split(r triage.Report) []triage.Report {
	var out []triage.Report
	failures, trials := r.Failures, r.Trials
	for _, p := range r.Plan.Parts {
		s := r
		s.Plan.Parts, s.Plan.Shard, s.Plan.Stopped = nil, p.Shard, p.Stopped
		s.Failures, failures = failures[:p.Failures], failures[p.Failures:]
		s.Trials, trials = slices.Clone(trials[:p.Trials]), trials[p.Trials:]
		for i := range s.Trials {
			s.Trials[i].Seq = i + 1
		}
		s.Evidence, s.Verdicts, s.Substrate, s.Warnings = nil, nil, nil, nil
		if len(out) == 0 {
			s.Substrate = classify.EarlierSubstrates(r.Substrate)
		}
		out = append(out, s)
	}
	return out
}
