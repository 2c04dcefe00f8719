package classify

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// FuzzJudge feeds trials that no procedure would have asked for: whatever they
// are, nothing panics, and no class is given without the runs that it is about.
func FuzzJudge(f *testing.F) {
	f.Add([]byte("F.F.F.F."), uint8(0))
	f.Add([]byte("FFoo.zais?Tp"), uint8(7))
	f.Add([]byte{0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255}, uint8(255))
	kinds := []rune(".FopzsaiT?")
	arms := []triage.Arm{head, base, headPackage, basePackage, lagged("r1"), laggedBase("r1"), lagged("r2"), {Side: triage.Base, Detector: "race"}}
	f.Fuzz(func(t *testing.T, trials []byte, flags uint8) {
		if len(trials) > simMost {
			return
		}
		c := scripted().with(withRungs)
		c.PackageScope = flags&1 != 0
		if flags&2 != 0 {
			unexplained(c)
		}
		if flags&4 != 0 {
			noMessage(c)
		}
		if flags&8 != 0 {
			causes(c)["r1"] = &triage.Cause{Kind: triage.CauseTimeBudget, DoseMS: float64(flags)}
		}
		for i, b := range trials {
			purpose := triage.Measure
			if i%3 == 2 && b&8 != 0 {
				purpose = triage.Ladder
			}
			c.ran(purpose, arms[b&7], string(kinds[int(b>>4)%len(kinds)]))
		}
		step := Next(DefaultPolicy(), *c)
		e, v := Judge(DefaultPolicy(), *c)
		if step.Kind != StepDone && v.Class != triage.Inconclusive {
			t.Errorf("judged %v with %v still to run", v.Class, step.Kind)
		}
		checkForm(t, "fuzz", *c, e, v)
		checkGround(t, e, v)
	})
}

// checkGround holds that a class has its reds: head's for an accusation, base's
// with the reference signature for an excuse.
func checkGround(t *testing.T, e triage.Evidence, v triage.Verdict) {
	t.Helper()
	headRed, baseSame := 0, 0
	for _, a := range e.Tallies {
		if a.Arm.Side == triage.Head {
			headRed += a.Red()
		} else if a.Arm.Detector == "" {
			baseSame += a.Same
		}
	}
	if v.Yours() && headRed == 0 {
		t.Errorf("%v without a red of head: %+v", v.Class, e.Tallies)
	}
	if v.NotYours() && baseSame == 0 {
		t.Errorf("%v without the same red on base: %+v", v.Class, e.Tallies)
	}
}
