package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/triage"
)

// truth is what may be said of why a racy test fails under lag: a row of
// testdata/causes.json, written from the corpus's sources.
type truth struct {
	// Test is "package.RacyName".
	Test  string             `json:"test"`
	Kinds []triage.CauseKind `json:"kinds"`
	// Sites are the lines, as "file:line", that may be named.
	Sites []string `json:"sites"`
	Why   string   `json:"why"`
}

func truths(t testing.TB) map[string]truth {
	t.Helper()
	b, err := os.ReadFile("testdata/causes.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []truth
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	byTest := map[string]truth{}
	for _, r := range rows {
		byTest[r.Test] = r
	}
	return byTest
}

// grade is how a named cause compares with the truth.
type grade string

const (
	right     grade = "right"
	wrongKind grade = "right place, other kind"
	wrongSite grade = "wrong place"
	unstable  grade = "unstable"
	// plainlyRed: it fails without lag so often that the product does not ask lag.
	plainlyRed grade = "red without lag"
)

// judge grades a cause. Every site that it lists counts, not only the first.
func (r truth) judge(c *triage.Cause) grade {
	if c.Kind == triage.CauseUnstable {
		return unstable
	}
	for _, s := range c.Sites {
		if !slices.Contains(r.Sites, line(s)) {
			return wrongSite
		}
	}
	if !slices.Contains(r.Kinds, c.Kind) {
		return wrongKind
	}
	return right
}

func line(s triage.Site) string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// hit is the rung that a search for a cause starts from.
type hit struct {
	plan *triage.LagPlan
	red  triage.Trial
}

// confirms is how often a red under a rung must come again before the product
// believes it (LagConfirm of classify's policy); controls are its plain trials by then.
const (
	confirms = 2
	controls = 3
)

// climb goes up the ladder to the first rung that is red each time, as the
// product does before it asks for the cause. ok is false when there is none.
func (l *lab) climb(t testing.TB, c corpusTest) (h hit, ok bool) {
	t.Helper()
	for i := range l.ladder {
		p := &l.ladder[i]
		first := l.try(t, c, p)
		if !first.Outcome.Red() {
			continue
		}
		again := 0
		last := first
		for range confirms {
			if tr := l.try(t, c, p); tr.SameFailure(first.Failure.Signature) {
				last, again = tr, again+1
			}
		}
		if again == confirms {
			return hit{p, last}, true
		}
	}
	return hit{}, false
}

// explain asks for the cause as cmd/triagebot does: the sites grow with what the
// trials name.
func (l *lab) explain(t testing.TB, c corpusTest, h hit, control lag.Control) lag.Result {
	t.Helper()
	sites := map[string]triage.Site{}
	learn := func(tr triage.Trial) {
		for _, d := range tr.Decisions {
			if s, ok := l.Site(d.Site); ok {
				sites[d.Site] = s
			}
		}
		for _, id := range tr.Stretched {
			if s, ok := l.Site(id); ok {
				sites[id] = s
			}
		}
	}
	learn(h.red)
	res, err := lag.Explain(lag.Input{
		Plan: *h.plan, Red: h.red, Reference: h.red.Failure.Signature, Sites: sites, Control: control,
	}, func(p triage.LagPlan) (triage.Trial, error) {
		tr := l.try(t, c, &p)
		learn(tr)
		return tr, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// explained is one search for a cause.
type explained struct {
	test   corpusTest
	grade  grade
	rung   string
	kind   triage.CauseKind
	sites  []string
	trials int
	wallMS float64
	note   string
}

func (l *lab) nameCause(t testing.TB, c corpusTest, r truth) explained {
	t.Helper()
	l.build(t, c)
	var control lag.Control
	for range controls {
		if tr := l.try(t, c, nil); tr.Outcome.Red() {
			control.Red++
		}
		control.Runs++
	}
	e := explained{test: c, grade: unstable, rung: "none", kind: triage.CauseUnstable}
	h, ok := l.climb(t, c)
	if !ok {
		e.note = "no rung is red each time"
	} else {
		res := l.explain(t, c, h, control)
		e.grade, e.rung, e.kind, e.trials, e.note = r.judge(res.Cause), h.plan.Name, res.Cause.Kind, res.Trials, res.Cause.Note
		for _, s := range res.Cause.Sites {
			e.sites = append(e.sites, line(s))
		}
	}
	if e.grade == unstable && 3*control.Red > control.Runs {
		e.grade = plainlyRed
	}
	return e
}

func (e explained) String() string {
	return fmt.Sprintf("%s: %s (%s at %s, rung %s, %d runs) %s", e.test, e.grade, e.kind, strings.Join(e.sites, " "), e.rung, e.trials, e.note)
}
