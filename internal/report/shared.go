package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// Caps on what is told of causes that several tests share.
const (
	maxSubstrates = 3
	maxVictims    = 6
	maxArms       = 4
)

// sharedTitle leads the findings about several tests.
const sharedTitle = "One finding, not several tests"

// shared puts the findings about several tests into words, the ones that say
// most first, each as a paragraph.
func shared(r triage.Report) []prose {
	var out []prose
	for i, s := range r.Substrate {
		if i == maxSubstrates {
			out[i-1] = append(out[i-1], say(fmt.Sprintf(" … and %d more of the kind; report.json has them.", len(r.Substrate)-i))...)
			break
		}
		out = append(out, substrateProse(r, s))
	}
	return out
}

func substrateProse(r triage.Report, s triage.Substrate) prose {
	var p prose
	if s.Site != nil {
		p = say(siteName(*s.Site), fmt.Sprintf(" late is what turns %d tests red, of ", len(s.Victims)), short(s.Place), ".")
	}
	for i, a := range s.Arms[:min(len(s.Arms), maxArms)] {
		if i == 0 && s.Site == nil {
			p = append(p, leadArm(r, s, a)...)
			continue
		}
		p = append(p, say(" ", capital(armOf(r, a)), fmt.Sprintf(": %s.", redOf(a)))...)
	}
	if more := len(s.Arms) - maxArms; more > 0 {
		p = append(p, say(fmt.Sprintf(" … and %d more arms.", more))...)
	}
	if s.Signature.Message != "" {
		p = append(p, say(" All fail alike: ", name(shorten(oneLine(s.Signature.Message), cellWidth)), ".")...)
	}
	p = append(p, say(" They are ")...)
	p = append(p, nameList(s.Victims)...)
	p = append(p, say(".")...)
	return append(p, amongThem(r, s)...)
}

// leadArm is the sentence that people need.
func leadArm(r triage.Report, s triage.Substrate, a triage.SubstrateArm) prose {
	where := armOf(r, a)
	if s.Earlier > 0 {
		where = append(where, say(fmt.Sprintf(", by %d earlier %s", s.Earlier, plural(s.Earlier, "report", "reports")))...)
	}
	return say(fmt.Sprintf("%d different tests of ", a.Victims), short(s.Place), fmt.Sprintf(" in %s, %s (", runsOf(a), repeats(a)), where, ").")
}

// repeats says how often the same test was hit.
func repeats(a triage.SubstrateArm) string {
	switch {
	case a.Most <= 1:
		return "never the same twice"
	case a.Most == 2:
		return "none of them more than twice"
	}
	return fmt.Sprintf("none of them more than %d times", a.Most)
}

func runsOf(a triage.SubstrateArm) string {
	if a.CI {
		return fmt.Sprintf("%d red runs of CI", a.RedRuns)
	}
	return fmt.Sprintf("%d %s", a.Runs, plural(a.Runs, "run", "runs"))
}

func redOf(a triage.SubstrateArm) string {
	if a.CI {
		return fmt.Sprintf("%d different tests in %s", a.Victims, runsOf(a))
	}
	if a.Victims == 0 {
		return fmt.Sprintf("none of them red in %s", runsOf(a))
	}
	return fmt.Sprintf("%d of them red, in %d of %s", a.Victims, a.RedRuns, runsOf(a))
}

func armOf(r triage.Report, a triage.SubstrateArm) prose {
	if a.CI {
		return say("in CI")
	}
	return append(armWords(r, a.Arm), say(" on ", a.Arm.Side.String())...)
}

func short(s string) name { return name(shorten(oneLine(s), codeWidth)) }

func nameList(victims []triage.Target) prose {
	var p prose
	for i, t := range victims {
		if i > 0 {
			p = append(p, say(", ")...)
		}
		if i == maxVictims {
			return append(p, say(fmt.Sprintf("and %d more", len(victims)-i))...)
		}
		p = append(p, say(name(shorten(oneLine(shortTitle(t)), cellWidth)))...)
	}
	return p
}

// amongThem says which red tests of this check belong to the finding.
func amongThem(r triage.Report, s triage.Substrate) prose {
	var mine, near []triage.Target
	for _, f := range r.Failures {
		switch {
		case slices.Contains(s.Victims, f.Target):
			mine = append(mine, f.Target)
		case f.Target.Package == s.Place && !f.Target.IsCommand() && wasRed(r, f):
			near = append(near, f.Target)
		}
	}
	var p prose
	if len(mine) > 0 {
		p = say(" Of them red in this check: ", nameList(mine), ".")
	}
	if len(near) > 0 {
		p = append(p, say(" Red in this check, in the same place: ", nameList(near), ".")...)
	}
	return p
}

// wasRed reports whether a failure was seen: one that is only named may never have been.
func wasRed(r triage.Report, f triage.Failure) bool {
	return !f.Signature.IsZero() || f.Message != "" || slices.ContainsFunc(r.Trials, func(t triage.Trial) bool {
		return t.Target == f.Target && t.Outcome.Red()
	})
}

const dateWords = "2 Jan 2006"

// past puts what earlier reports tell of a test into words.
func past(p triage.Past) []prose {
	first := fmt.Sprintf("Seen on main %d of %d %s", p.Red, p.Runs, plural(p.Runs, "run", "runs"))
	if p.Red == 0 {
		first = fmt.Sprintf("Never red on main in %d %s", p.Runs, plural(p.Runs, "run", "runs"))
	}
	first += " since " + p.Since.Format(dateWords) + " " + strings.Trim(scopeWords(p.Scope), ",")
	switch {
	case p.Red == 0:
	case p.Same == p.Red:
		first += ", same signature"
	case p.Same == 0:
		first += ", with another signature"
	default:
		first += fmt.Sprintf(", %d with the same signature", p.Same)
	}
	out := []prose{say(first, fmt.Sprintf(": %s–%s at 95 %%.", percent(p.Low), percent(p.High)))}
	if !p.LastRed.IsZero() {
		out = append(out, say("Last red on ", p.LastRed.Format(dateWords), "."))
	}
	if p.Older.Runs > 0 && p.Newer.Runs > 0 && p.Red > 0 {
		out = append(out, say(trend(p)))
	}
	return append(out, say("That is a prior, and no part of the verdict."))
}

// trendP is the p below which a trend is called one.
const trendP = 0.05

func trend(p triage.Past) string {
	word := "No trend"
	if p.P <= trendP {
		word = "Falling"
		if p.Newer.Red*p.Older.Runs > p.Older.Red*p.Newer.Runs {
			word = "Rising"
		}
	}
	return fmt.Sprintf("%s: %d of %d in the older half of the runs, %d of %d in the newer (Fisher's exact p %s).",
		word, p.Older.Red, p.Older.Runs, p.Newer.Red, p.Newer.Runs, pvalue(p.P))
}

func scopeWords(s triage.Scope) string {
	return [...]string{"alone", "with its package", "in the whole suite"}[min(max(int(s), 0), 2)]
}

// onLedger is what is said of a test on the ledger of known reds.
const onLedger = "It is on base's ledger of known reds; it is measured and judged all the same."
