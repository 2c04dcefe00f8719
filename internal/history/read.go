package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/triagebot/triagebot/internal/classify"
	"github.com/triagebot/triagebot/internal/triage"
)

// Limits bound what is read. The zero value of a field is its default.
type Limits struct {
	// Reports is the number of reports, Bytes their size together.
	Reports int
	Bytes   int64
	// Repo, when set, is the repository that a report must be of.
	Repo string
	// Now is the time; a report from the future is not believed.
	Now time.Time
}

// Defaults: two hundred nights, and what a laptop reads in two or three seconds.
const (
	defaultReports = 200
	defaultBytes   = 64 << 20
	// clockSlack is how far the clock of another machine may be ahead.
	clockSlack = 24 * time.Hour
)

// Decode reads one report and trusts nothing in it.
type Decode func(io.Reader) (triage.Report, error)

// Record is what the reports tell, made small. Its zero value is the empty past.
type Record struct {
	// Reports is the number of reports that were read, Warnings what was left out and why.
	Reports  int
	Warnings []string

	tests     map[triage.Target]*trail
	durations map[triage.Target][]float64
	companies []classify.Company
	seen      map[string]bool
	// sweep is the newest sweep: its commit, and when it was.
	sweep   string
	sweptAt time.Time
}

// trail is what was seen of one test.
type trail struct {
	seen []sighting
	// reports counts the reports that tell of it.
	reports int
}

// sighting is the runs of one test in one arm of one report.
type sighting struct {
	at        time.Time
	scope     triage.Scope
	runs, red int
	signs     map[triage.Signature]int
}

// Read reads the reports of a source, the newest first. Only a source that cannot
// be asked at all is an error.
func Read(ctx context.Context, src Source, l Limits, decode Decode) (*Record, error) {
	r := &Record{tests: map[triage.Target]*trail{}, durations: map[triage.Target][]float64{}, seen: map[string]bool{}}
	warnings, err := Each(ctx, src, l, decode, func(rep triage.Report) error { r.add(rep); return nil })
	r.Warnings = warnings
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Each visits the reports of a source that can be read and believed, the newest
// first. The warnings tell what was left out and why.
func Each(ctx context.Context, src Source, l Limits, decode Decode, visit func(triage.Report) error) (warnings []string, err error) {
	if l.Reports == 0 {
		l.Reports = defaultReports
	}
	if l.Bytes == 0 {
		l.Bytes = defaultBytes
	}
	entries, warnings, err := src.Entries(ctx, l.Reports)
	if err != nil {
		return nil, err
	}
	left := l.Bytes
	var spoilt []string
	for i, e := range entries[:min(len(entries), l.Reports)] {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rep, size, err := readEntry(ctx, e, left, decode)
		left -= size
		if left <= 0 {
			warnings = append(warnings, fmt.Sprintf("history: the first %d of %d reports are read, they have %d MB", i, len(entries), l.Bytes>>20))
			break
		}
		if err == nil {
			err = believable(e, rep, l)
		}
		if err != nil {
			spoilt = append(spoilt, fmt.Sprintf("%s: %v", e.Name, err))
			continue
		}
		if err := visit(rep); err != nil {
			return warnings, err
		}
	}
	if len(spoilt) > 0 {
		warnings = append(warnings, fmt.Sprintf("history: %d of %d files are left out, for example %s", len(spoilt), len(entries), spoilt[0]))
	}
	return warnings, nil
}

func readEntry(ctx context.Context, e Entry, left int64, decode Decode) (triage.Report, int64, error) {
	f, err := e.Open(ctx)
	if err != nil {
		return triage.Report{}, 0, err
	}
	defer f.Close()
	c := &counter{r: io.LimitReader(f, left)}
	rep, err := decode(c)
	return rep, c.n, err
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func believable(e Entry, r triage.Report, l Limits) error {
	switch {
	case e.HeadSHA != "" && (r.Check.Head.SHA != e.HeadSHA || r.Check.Head.Dirty):
		return fmt.Errorf("it is of commit %.12s, and the run that left it was of %.12s", r.Check.Head.SHA, e.HeadSHA)
	case l.Repo != "" && r.Check.Repo != l.Repo:
		return fmt.Errorf("it is of %q, not of %q", r.Check.Repo, l.Repo)
	case !l.Now.IsZero() && r.Plan.Created.After(l.Now.Add(clockSlack)):
		return errors.New("it is from the future")
	}
	return nil
}

// add takes a report in, once.
func (r *Record) add(rep triage.Report) {
	key := fmt.Sprint(rep.Check.Head.SHA, " ", rep.Check.Base.SHA, " ", rep.Check.Suite, " ", rep.Plan.Created.UnixNano(), " ", rep.Plan.Shard, " ", rep.Plan.Seed)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.Reports++
	if rep.Sweep != nil && rep.Check.OfMain(triage.Head) && rep.Plan.Created.After(r.sweptAt) {
		r.sweep, r.sweptAt = rep.Check.Head.SHA, rep.Plan.Created
	}
	signs := signatures(rep)
	for _, e := range rep.Evidence {
		t := r.tests[e.Target]
		if t == nil {
			t = &trail{}
			r.tests[e.Target] = t
		}
		told := false
		for _, tally := range e.Tallies {
			if !tally.Arm.Plain() || !rep.Check.OfMain(tally.Arm.Side) || tally.N() == 0 {
				continue
			}
			told = true
			t.seen = append(t.seen, sighting{at: rep.Plan.Created, scope: tally.Arm.Scope, runs: tally.N(), red: tally.Red(),
				signs: signs[place{e.Target, tally.Arm.Scope, tally.Arm.Side}]})
		}
		if told {
			t.reports++
		}
		if e.DurationMS > 0 {
			r.durations[e.Target] = append(r.durations[e.Target], e.DurationMS)
		}
	}
	r.addDurations(rep)
	r.addCompanies(rep)
}

// place is where a signature was seen.
type place struct {
	target triage.Target
	scope  triage.Scope
	side   triage.Side
}

// signatures counts the failures of the plain trials.
func signatures(r triage.Report) map[place]map[triage.Signature]int {
	out := map[place]map[triage.Signature]int{}
	note := func(t triage.Target, a triage.Arm, f *triage.Failure) {
		if f == nil {
			return
		}
		p := place{t, a.Scope, a.Side}
		if out[p] == nil {
			out[p] = map[triage.Signature]int{}
		}
		out[p][f.Signature]++
	}
	for _, t := range r.Trials {
		if !t.Arm.Plain() || t.Purpose != triage.Measure {
			continue
		}
		if t.Outcome.Red() {
			note(t.Target, t.Arm, t.Failure)
		}
		for _, o := range t.Others {
			if o.Outcome.Red() {
				note(o.Target, t.Arm, o.Failure)
			}
		}
	}
	return out
}

// addDurations takes the times of tests that passed alone.
func (r *Record) addDurations(rep triage.Report) {
	for _, t := range rep.Trials {
		if t.Arm.Plain() && t.Arm.Scope == triage.Alone && t.Outcome.Counts() && t.DurationMS > 0 {
			r.durations[t.Target] = append(r.durations[t.Target], t.DurationMS)
		}
	}
}

// addCompanies takes the runs of several tests: those of main, and the red run of
// CI that the report was made of. A red that the pull request answers for is no
// sign of anything shared.
func (r *Record) addCompanies(rep triage.Report) {
	var trials []triage.Trial
	for _, t := range rep.Trials {
		if t.Arm.Plain() && rep.Check.OfMain(t.Arm.Side) && t.Arm.Scope != triage.Alone {
			trials = append(trials, t)
		}
	}
	for _, c := range classify.Companies(trials) {
		c.Arm.Side = triage.Base // main is main
		r.companies = append(r.companies, c)
	}
	if rep.Check.Source == "test" || rep.Sweep != nil {
		return // somebody named a test, or swept: that is no run of CI
	}
	ci := classify.Company{Arm: triage.Arm{Scope: triage.InSuite}, CI: true}
	for _, f := range rep.Failures {
		i := slices.IndexFunc(rep.Verdicts, func(v triage.Verdict) bool { return v.Target == f.Target })
		if i >= 0 && !rep.Verdicts[i].Yours() && rep.Verdicts[i].Class != triage.BrokenOnBase && !f.Target.IsCommand() {
			ci.Red = append(ci.Red, triage.Failure{Target: f.Target, Signature: f.Signature})
		}
	}
	if len(ci.Red) > 0 {
		r.companies = append(r.companies, ci)
	}
}
