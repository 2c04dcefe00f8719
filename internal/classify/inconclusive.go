package classify

import (
	"fmt"
	"math"
	"strconv"

	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

func (v *view) inconclusive(b triage.Bound, settle string, why ...triage.Reason) decision {
	return final(triage.Verdict{Reasons: v.refine(why...), Bound: b, Settle: settle})
}

func bound(text string) triage.Bound { return triage.Bound{Text: text} }

// emptyArm: too many trials of an arm say nothing.
func (v *view) emptyArm(a *arm) decision {
	text := fmt.Sprintf("%d of %d trials on %s say nothing", a.empty(), a.empty()+a.N(), a.Arm.Side)
	if a.note != "" {
		text += ": " + a.note
	}
	settle := "an environment in which the test runs on " + a.Arm.Side.String()
	if a.emptyReason() == triage.ReasonContaminated {
		settle = "a set-up command that installs the project anew in each tree"
	}
	return v.inconclusive(bound(text), settle, a.emptyReason())
}

// undecidable: both sides fail alike each time, which says nothing of the red in CI.
func (v *view) undecidable(p pair, says, settle string, why ...triage.Reason) decision {
	text := fmt.Sprintf("head %d/%d and base %d/%d fail alike%s", p.head.Red(), p.head.N(), p.base.Red(), p.base.N(), says)
	d := v.inconclusive(bound(text), settle, why...)
	d.verdict.Trial = p.head.firstRed(v.ref)
	return d
}

// sharedEnvironment: not the way CI did, so something is missing here.
func (v *view) sharedEnvironment(p pair) decision {
	return v.undecidable(p, ", but not the way CI did"+p.head.says(),
		"the services and settings that CI has", triage.ReasonEnvironment)
}

// otherEnvironment: neither side ever fails the way CI did, and both always in some
// way: the pull request may have changed no more than the words of that.
func (v *view) otherEnvironment(p pair) decision {
	text := fmt.Sprintf("head fails %d of %d times and base %d of %d times, neither the way CI did%s", p.head.Red(), p.head.N(), p.base.Red(), p.base.N(), p.head.says())
	d := v.inconclusive(bound(text), "the services, settings and variables that CI has", triage.ReasonEnvironment, triage.ReasonOtherOnBase)
	d.verdict.Trial = p.head.firstRed(v.ref)
	return d
}

// reworded: head fails now and then in a way that base does not, but base fails
// as often in another. A changed message or expected value looks like that, and
// so does a new fault that took the place of an old one.
func (v *view) reworded(p pair) decision {
	text := fmt.Sprintf("head fails %d of %d times, base %d of %d times in another way", p.head.Red(), p.head.N(), p.base.Red(), p.base.N())
	d := v.inconclusive(bound(text), "a look at what the pull request changes of the message", triage.ReasonSignatureMismatch, triage.ReasonOtherOnBase)
	d.verdict.Trial = p.head.firstRed(v.ref)
	return d
}

// unknownRed: both sides fail alike, and CI left nothing to compare that with.
func (v *view) unknownRed(p pair) decision {
	return v.undecidable(p, "; without CI's message that is a broken base or something missing here",
		"a CI report or log with the message", triage.ReasonNoLog)
}

// brokenCommand: the suite's own command fails alike on both sides and names no
// test. main may be broken, and so may be the command: a slip in it, a tool or a
// service that is missing. Nothing of that excuses a pull request.
func (v *view) brokenCommand(p pair) decision {
	return v.undecidable(p, ", and name no test: main is broken, or the command does not work here",
		"a command whose output names its tests, or a report of the red run", triage.ReasonEnvironment, triage.ReasonNoTestID)
}

// brokenUnlike: both sides fail alike, in trials that may lack what CI gives the
// test. Main may be broken; and where what is missing is what turns both red, the
// pull request may have broken what CI has.
func (v *view) brokenUnlike(p pair) decision {
	return v.undecidable(p, ": main is broken, or trials lack what CI's command sets or makes",
		"the suite's command with all that it sets, or its set-up (see the warnings)", triage.ReasonUnlikeCI)
}

// notReproduced: neither alone, nor under lag, nor with the package.
func (v *view) notReproduced(p pair) decision {
	var why []triage.Reason
	if v.c.Red.Target.IsCommand() && v.ref.Phase != triage.PhaseBuild {
		why = append(why, triage.ReasonNoTestID)
	}
	own, foreign := v.ladderReds()
	if own {
		why = append(why, triage.ReasonUnstable)
	}
	why = append(why, triage.ReasonNotReproduced)
	if foreign || p.head.Other > 0 || p.base.Other > 0 {
		why = append(why, triage.ReasonSignatureMismatch)
	}
	if v.raceWarning() != "" {
		why = append(why, triage.ReasonDataRace)
	}
	settle := fmt.Sprintf("%d more clean rounds would bound the rate at %s", p.head.N(),
		percent(stats.Upper(p.head.Same, 2*p.head.N(), v.p.Confidence)))
	if v.c.Red.Signature.IsZero() {
		settle = "a CI log with the message"
	}
	return v.inconclusive(v.rate(p.head.Same, p.head.N(), "", ""), settle, why...)
}

// ladderReds tells of reds under lag that did not lead to a verdict: of the
// red's own, and of others.
func (v *view) ladderReds() (own, foreign bool) {
	for _, a := range v.tries {
		if a.Arm.Side != triage.Head {
			continue
		}
		switch v.headState(a) {
		case rungUnsteady, rungHit:
			own = true
		case rungForeign:
			foreign = true
		}
	}
	return own, foreign
}

func (v *view) lagArtefact(rung string) decision {
	c := v.c.Causes[rung]
	text := "green once the timeouts are longer"
	if c.Kind == triage.CauseTimeBudget {
		text = budgetText(c)
	}
	d := v.inconclusive(bound(text), "the time that CI had lost when it was red", triage.ReasonLagArtefact)
	d.verdict.Cause, d.verdict.Trial = c, v.lagTrial(rung)
	return d
}

// budgetText is how much a time budget holds, which is known from the search.
func budgetText(c *triage.Cause) string {
	return "a time budget holds up to " + millis(c.MarginMS) + " of delay and breaks at " + millis(c.DoseMS)
}

// exhausted: all rounds were run and the sides are still not told apart.
func (v *view) exhausted(p pair, why ...triage.Reason) decision {
	switch {
	case p.head.Pass == 0 && p.base.Pass == 0:
		why = append([]triage.Reason{triage.ReasonSignatureMismatch}, why...)
	case v.leans(p):
		return v.leaning(p, why...)
	default:
		why = append([]triage.Reason{triage.ReasonUnstable}, why...)
	}
	d := v.inconclusive(v.difference(p), fmt.Sprintf("%d more rounds", v.p.MaxRounds), why...)
	d.verdict.Trial = p.head.firstRed(v.ref)
	return d
}

// leans reports whether what was measured points at the pull request: head
// never passed, and base is better.
func (v *view) leans(p pair) bool {
	return p.head.N() > 0 && p.head.Pass == 0 && v.contrast(p).e > 1
}

// leaning: it looks like a regression and too few runs say so.
func (v *view) leaning(p pair, why ...triage.Reason) decision {
	e := v.contrast(p).e
	wrong := min(1, v.threshold()*v.p.Alpha/e)
	b := triage.Bound{Wrong: wrong, Text: fmt.Sprintf("wrong ≤ %s, needed is %s", percent(wrong), percent(v.p.Alpha))}
	d := v.inconclusive(b, v.missing(p), append([]triage.Reason{triage.ReasonLeaningRegression}, why...)...)
	d.verdict.Trial = p.head.firstRed(v.ref)
	return d
}

// missing says how many more rounds of "head fails, base passes" would decide.
func (v *view) missing(p pair) string {
	c := v.contrast(p)
	r := stats.Pair(c.head, c.base)
	n := 0
	for ; stats.Worse(r) < v.threshold() && n < v.p.MaxRounds; n++ {
		r.HeadOnly++
	}
	if n == 1 {
		return "1 more round like these"
	}
	return fmt.Sprintf("%d more rounds like these", n)
}

// unfinished is the verdict when measuring ended before the procedure did.
func (v *view) unfinished(next Step) decision {
	stop, settle := triage.ReasonBudgetExhausted, "a larger budget"
	switch {
	case v.c.Stopped == StoppedInterrupted:
		stop, settle = triage.ReasonInterrupted, "going on with --resume"
	case v.c.Stopped == "" && v.c.MaxTrials > 0:
		settle = "more than the allowed trials a test"
	}
	p := v.pair(triage.Alone, "")
	var d decision
	switch {
	case next.Kind == StepSuite && v.arm(triage.Arm{Scope: triage.InSuite}).N() == 0:
		d = v.suiteUnrun(p, stop, settle)
	case next.Kind == StepSuite && v.leans(v.pair(triage.InSuite, "")):
		d = v.leaning(v.pair(triage.InSuite, ""), triage.ReasonOrder, stop)
	case next.Kind == StepScope && v.leans(v.pair(triage.InPackage, "")):
		d = v.leaning(v.pair(triage.InPackage, ""), triage.ReasonOrder, stop)
	case v.leans(p):
		d = v.leaning(p, stop)
	default:
		d = v.inconclusive(v.soFar(p, next), settle, stop)
	}
	if d.verdict.Trial == 0 {
		d.verdict.Trial = p.head.firstRed(v.ref)
	}
	if next.Kind == StepConfirm || next.Kind == StepExplain {
		d.verdict.Cause, d.verdict.Trial = v.c.Causes[next.Rung], v.lagTrial(next.Rung)
	}
	return d
}

// soFar is the bound of what was measured until it ended.
func (v *view) soFar(p pair, next Step) triage.Bound {
	switch {
	case next.Kind == StepConfirm || next.Kind == StepExplain:
		return bound("a lag plan turns head red; base was not measured enough under it")
	case p.head.N() == 0:
		return bound("nothing was measured")
	case next.Kind == StepSuite:
		return suiteSoFar(v.pair(triage.InSuite, ""))
	case p.head.Red() == 0 && p.base.Red() == 0:
		return v.rate(0, p.head.N(), "", "")
	}
	return v.difference(p)
}

// difference bounds how much more often head fails.
func (v *view) difference(p pair) triage.Bound {
	c := v.contrast(p)
	_, low, high := stats.Difference(count(c.head), len(c.head), count(c.base), len(c.base), v.p.Confidence)
	return triage.Bound{
		Confidence: v.p.Confidence,
		Text: fmt.Sprintf("head %d/%d, base %d/%d: %+.0f to %+.0f points at %s", count(c.head), len(c.head),
			count(c.base), len(c.base), 100*low, 100*high, percent(v.p.Confidence)),
	}
}

// percent rounds to a whole per cent, to a tenth below two.
func percent(rate float64) string { return digits(rate) + " %" }

func span(low, high float64) string { return digits(low) + "–" + digits(high) + " %" }

func digits(rate float64) string {
	switch {
	case rate > 0 && rate < 0.001:
		return "0.1"
	case rate < 0.0195:
		return strconv.FormatFloat(math.Round(1000*rate)/10, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(100*rate), 'f', 0, 64)
}

func millis(ms float64) string {
	return strconv.FormatFloat(math.Round(10*ms)/10, 'f', -1, 64) + " ms"
}
