package pipeline

import (
	"context"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// polluterConfirms is how often the found tests are run again with the target.
const polluterConfirms = 2

// findPolluters looks for the tests after which the target fails, by halving
// those that ran before it, in the order they ran in, be it a random one. Every
// probe is a trial of the record on head. What needs two tests that lie in
// different halves ends with the last set that was red: it is named as such.
func (c *check) findPolluters(ctx context.Context, t *target) error {
	t.c.Polluted = true
	red, ok := lastInCompany(t.c.Trials)
	if !ok {
		return nil
	}
	if alone, err := c.redBySeed(ctx, t, red); alone || err != nil {
		return err
	}
	if red.Arm.Scope == triage.InSuite {
		return c.findFiles(ctx, t, red)
	}
	s := c.newPollution(ctx, t, red, len(red.Before), func(with []string) triage.Request {
		return triage.Request{
			Target: t.c.Red.Target, Arm: triage.Arm{Side: triage.Head, Scope: triage.InPackage}, Purpose: triage.Explain, Seed: red.Seed, With: with,
		}
	})
	found, err := s.search(red.Before)
	t.c.Polluters = found
	return uncapped(err)
}

// newPollution is a search among what ran before a red, by trials that are asked
// for as ask does.
func (c *check) newPollution(ctx context.Context, t *target, red triage.Trial, of int, ask func(with []string) triage.Request) *pollution {
	s := &pollution{red: red.Failure.Signature, of: of}
	s.probe = func(with []string) (bool, error) {
		if most := t.c.MaxTrials; most > 0 && len(t.c.Trials) >= most {
			return false, errCapped
		}
		tr, err := c.trial(ctx, t, ask(with))
		same := err == nil && tr.SameFailure(s.red)
		if err == nil && tr.Outcome.Counts() {
			s.runs++
		}
		if same {
			s.reds++
		}
		if same && s.seen != nil {
			s.seen(tr)
		}
		return same, err
	}
	return s
}

// redBySeed reports whether the seed of a run turns the target red by itself: it
// seeds the generators that the test draws from, and the others are innocent.
func (c *check) redBySeed(ctx context.Context, t *target, red triage.Trial) (bool, error) {
	if most := t.c.MaxTrials; red.Seed == 0 || most > 0 && len(t.c.Trials) >= most {
		return false, nil
	}
	tr, err := c.trial(ctx, t, triage.Request{Target: t.c.Red.Target, Arm: triage.Arm{Side: triage.Head}, Purpose: triage.Explain, Seed: red.Seed})
	return err == nil && tr.SameFailure(red.Failure.Signature), err
}

// lastInCompany is head's last red run with its package or suite whose order is known.
func lastInCompany(trials []triage.Trial) (triage.Trial, bool) {
	for _, tr := range slices.Backward(trials) {
		inPackage := tr.Arm == (triage.Arm{Scope: triage.InPackage}) && len(tr.Before) > 0
		inSuite := tr.Arm == (triage.Arm{Scope: triage.InSuite}) && len(tr.BeforeFiles) > 0
		if (inPackage || inSuite) && tr.Outcome.Red() && tr.Failure != nil {
			return tr, true
		}
	}
	return triage.Trial{}, false
}

// pollution is one search.
type pollution struct {
	red triage.Signature
	of  int
	// reds of runs probes were red.
	reds, runs int
	probe      func(with []string) (red bool, err error)
	// seen, when set, is told of each red probe.
	seen func(triage.Trial)
}

// search halves the set while one half is enough, then confirms what is left.
// It names none when the whole set is not red: then it is not these tests, or not
// in this order.
func (s *pollution) search(set []string) (*triage.Polluters, error) {
	red, err := s.probe(set)
	return s.halve(set, red, err)
}

// halve goes on from a set that was probed.
func (s *pollution) halve(set []string, red bool, err error) (*triage.Polluters, error) {
	for red && err == nil && len(set) > 1 {
		mid := len(set) / 2
		near, far := set[mid:], set[:mid] // the nearer ones are the likelier
		if red, err = s.probe(near); red {
			set = near
			continue
		}
		if err != nil {
			break
		}
		if red, err = s.probe(far); red {
			set = far
			continue
		}
		if err == nil {
			return s.confirm(set) // it takes tests of both halves
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !red:
		return s.none(), nil
	}
	return s.confirm(set)
}

// none says that the search ended without a test to name; nil when nothing was
// measured.
func (s *pollution) none() *triage.Polluters {
	if s.runs == 0 {
		return nil
	}
	return &triage.Polluters{Tests: []string{}, Of: s.of, Red: s.reds, Runs: s.runs}
}

func (s *pollution) confirm(set []string) (*triage.Polluters, error) {
	p := &triage.Polluters{Tests: set, Of: s.of}
	for range polluterConfirms {
		red, err := s.probe(set)
		if err != nil {
			return nil, err
		}
		p.Runs++
		if red {
			p.Red++
		}
	}
	if p.Red == 0 {
		return s.none(), nil
	}
	return p, nil
}
