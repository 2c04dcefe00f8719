package classify

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// Letters of a script: what each trial of an arm came to.
var letters = map[rune]triage.Outcome{
	'.': triage.Pass, 'F': triage.Fail, 'o': triage.Fail, 'p': triage.Error, 'z': triage.Fail,
	's': triage.Skip, 'a': triage.Absent, 'i': triage.Invalid, '?': triage.Unknown, 'T': triage.Timeout,
}

var (
	head        = triage.Arm{}
	base        = triage.Arm{Side: triage.Base}
	headPackage = triage.Arm{Scope: triage.InPackage}
	basePackage = triage.Arm{Side: triage.Base, Scope: triage.InPackage}
)

func lagged(rung string) triage.Arm        { return triage.Arm{Lag: rung} }
func laggedBase(rung string) triage.Arm    { return triage.Arm{Side: triage.Base, Lag: rung} }
func ci(s triage.Signature) triage.Failure { return triage.Failure{Target: simTarget, Signature: s} }

// scripted is a case with CI's red known, no lag and no package scope.
func scripted() *Case { return &Case{Red: ci(red), Family: 1} }

func (c *Case) ran(purpose triage.Purpose, a triage.Arm, script string) *Case {
	for _, letter := range script {
		t := triage.Trial{
			Seq:     len(c.Trials) + 1,
			Request: triage.Request{Target: c.Red.Target, Arm: a, Purpose: purpose},
			Outcome: letters[letter], Ran: 1,
		}
		switch letter {
		case 'F':
			fail(&t, red)
		case 'o', 'T':
			fail(&t, otherRed)
			t.Outcome = letters[letter]
		case 'z':
			fail(&t, triage.Signature{})
		case 'p':
			fail(&t, thirdRed)
			t.Outcome = triage.Error
		}
		c.Trials = append(c.Trials, t)
	}
	return c
}

func (c *Case) measured(a triage.Arm, script string) *Case { return c.ran(triage.Measure, a, script) }
func (c *Case) tried(a triage.Arm, script string) *Case    { return c.ran(triage.Ladder, a, script) }

// plain adds interleaved plain trials, so that a prefix of them is a fair one.
func (c *Case) plain(headScript, baseScript string) *Case {
	for i := range max(len(headScript), len(baseScript)) {
		if i < len(headScript) {
			c.measured(head, headScript[i:i+1])
		}
		if i < len(baseScript) {
			c.measured(base, baseScript[i:i+1])
		}
	}
	return c
}

func (c *Case) with(change func(*Case)) *Case {
	change(c)
	return c
}

// want is what a case should come to: a step, or with StepDone a verdict.
type want struct {
	step    StepKind
	class   triage.Class
	origin  triage.Origin
	reasons []triage.Reason
	// arms are those of the step's requests, in order.
	arms  []triage.Arm
	rung  string
	trial int
	text  string
}

type rule struct {
	name string
	c    *Case
	want want
}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
}
