package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// wholeSuite reports whether a request is for a run of all of its suite.
func wholeSuite(req triage.Request) bool {
	return req.Arm.Scope == triage.InSuite && req.WithFiles == nil
}

// suiteShare is the part of what is left of the budget that the first run of a
// whole suite may take. Nobody knows yet how long it is; one that takes more could
// not be run on base as well, and would leave nothing to the other tests.
const suiteShare = 0.5

// tooLong begins the note of a run that was ended for that.
const tooLong = "the whole suite did not end within "

// leastSuiteMS is what a suite is given of a budget that is as good as spent.
const leastSuiteMS = 1_000

// start carries out a request. The first run of a suite is ended when it takes
// more than its share, and says so; the later ones have all the time that is left.
func (c *check) start(ctx context.Context, t *target, req triage.Request, plan *triage.LagPlan) (triage.Trial, error) {
	known := func(tr triage.Trial) bool { return wholeSuite(tr.Request) && tr.Outcome.Counts() }
	if c.report.Plan.BudgetMS == 0 || !wholeSuite(req) || slices.ContainsFunc(t.c.Trials, known) {
		return c.run.Run(ctx, req, plan)
	}
	limit := time.Duration(suiteShare * max(leastSuiteMS, float64(c.report.Plan.BudgetMS)-spentMS(c.report.Trials)) * float64(time.Millisecond))
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	tr, err := c.run.Run(timed, req, plan)
	if ctx.Err() != nil || !errors.Is(err, ErrInterrupted) || !errors.Is(timed.Err(), context.DeadlineExceeded) {
		return tr, err
	}
	return triage.Trial{
		Request: req, Start: began.UTC(), DurationMS: float64(time.Since(began).Milliseconds()), Exit: -1, Outcome: triage.Invalid,
		Note: fmt.Sprintf(tooLong+"%s, half of what was left of the budget: a larger --budget has room for it", limit.Round(time.Second)),
	}, nil
}

// suiteIsTooLong reports whether the target's suite did not end in its share of the
// budget around another test, when there was more of it left. It is so for good, and
// of no concern to a target whose suite was run.
func (c *check) suiteIsTooLong(t *target) bool {
	if slices.ContainsFunc(t.c.Trials, func(tr triage.Trial) bool { return wholeSuite(tr.Request) }) {
		return false
	}
	return slices.ContainsFunc(c.report.Trials, func(tr triage.Trial) bool {
		return wholeSuite(tr.Request) && tr.Target.Suite == t.c.Red.Target.Suite && tr.Outcome == triage.Invalid && strings.HasPrefix(tr.Note, tooLong)
	})
}

// spentMS is what trials took, in milliseconds.
func spentMS(trials []triage.Trial) float64 {
	spent := 0.0
	for _, tr := range trials {
		spent += tr.DurationMS
	}
	return spent
}

// findFiles looks for the files of the suite after which the target fails, by
// halving those that ran before its own, and then for the test of the one that is
// left. The target alone was green in every run, and so it was with its own file.
func (c *check) findFiles(ctx context.Context, t *target, red triage.Trial) error {
	arm := triage.Arm{Side: triage.Head, Scope: triage.InSuite}
	var tests []string // those of a single file that brought the failure
	files := c.newPollution(ctx, t, red, len(red.BeforeFiles), func(with []string) triage.Request {
		return triage.Request{Target: t.c.Red.Target, Arm: arm, Purpose: triage.Explain, Seed: red.Seed, WithFiles: with}
	})
	files.seen = func(tr triage.Trial) { tests = tr.Before }
	found, err := files.search(red.BeforeFiles)
	if found == nil || err != nil {
		return uncapped(err)
	}
	found.InSuite, found.Files, found.Tests = true, found.Tests, []string{}
	t.c.Polluters = found
	switch {
	case len(found.Files) != 1 || len(tests) == 0:
		return nil
	case len(tests) == 1:
		found.Tests = tests
		return nil
	}
	return c.findTest(ctx, t, red, found, tests)
}

// findTest looks for the test of the one file after which the target fails, in
// place of the file. None is named when the others do the same without it: then
// the file does it as it is loaded, or any of its tests.
func (c *check) findTest(ctx context.Context, t *target, red triage.Trial, found *triage.Polluters, tests []string) error {
	within := c.newPollution(ctx, t, red, len(tests), func(with []string) triage.Request {
		return triage.Request{
			Target: t.c.Red.Target, Arm: triage.Arm{Side: triage.Head, Scope: triage.InSuite}, Purpose: triage.Explain, Seed: red.Seed,
			WithFiles: found.Files, With: with,
		}
	})
	one, err := within.halve(tests, true, nil) // all of them are the file, which was red
	if one == nil || len(one.Tests) == 0 || len(one.Tests) == len(tests) || err != nil {
		return uncapped(err)
	}
	others := slices.DeleteFunc(slices.Clone(tests), func(name string) bool { return slices.Contains(one.Tests, name) })
	if too, err := within.probe(others); too || err != nil {
		return uncapped(err)
	}
	found.Tests, found.Red, found.Runs = one.Tests, one.Red, one.Runs
	return nil
}

// uncapped is err, but for the user's cap on a test's trials, which only ends a search.
func uncapped(err error) error {
	if errors.Is(err, errCapped) {
		return nil
	}
	return err
}
