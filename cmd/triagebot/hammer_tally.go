package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/stats"
	"github.com/triagebot/triagebot/internal/triage"
)

// hammerSchema names the record of hammer. It is no report of a check: its runs
// load each other, and nothing of it enters a verdict.
const hammerSchema = "triagebot/hammer/v1"

// hammerRecord is what a test did under repetition.
type hammerRecord struct {
	Schema string        `json:"schema"`
	Tool   triage.Tool   `json:"tool"`
	Repo   string        `json:"repo"`
	Head   triage.Rev    `json:"head"`
	Target triage.Target `json:"target"`
	Plan   hammerPlan    `json:"plan"`
	// Runs are those that count, Red the red ones; Odd ended in no result.
	Runs int `json:"runs"`
	Red  int `json:"red"`
	Odd  int `json:"odd,omitempty"`
	// Low and High are the Clopper-Pearson interval of the rate at 95 %.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Groups are the failures by signature, the most frequent first.
	Groups []hammerGroup `json:"groups"`
	// Stopped is "interrupted" when not all runs were made.
	Stopped string  `json:"stopped,omitempty"`
	WallMS  float64 `json:"wall_ms"`
	TrialMS float64 `json:"trial_ms"`
	// Beside tells what else used the machine, when it was much.
	Beside string `json:"beside,omitempty"`
}

// hammerPlan says how the test is repeated. A run is resumed under the same plan.
type hammerPlan struct {
	N int `json:"n"`
	// Jobs is the number of runs at a time, Load that of busy loops beside them.
	Jobs      int             `json:"jobs"`
	Load      int             `json:"load"`
	Scope     triage.Scope    `json:"scope"`
	Seed      int64           `json:"seed"`
	Lag       *triage.LagPlan `json:"lag,omitempty"`
	TimeoutMS int64           `json:"timeout_ms"`
}

// hammerGroup is all failures with one signature.
type hammerGroup struct {
	Signature triage.Signature `json:"signature"`
	Count     int              `json:"count"`
	// FirstRun and FirstSeed are of the first of them; Excerpt is what it printed.
	FirstRun  int             `json:"first_run"`
	FirstSeed int64           `json:"first_seed"`
	Message   string          `json:"message,omitempty"`
	Location  triage.Location `json:"location,omitzero"`
	Excerpt   string          `json:"excerpt,omitempty"`
	// Left is what the red runs left behind, with how many of the green ones did.
	Left []hammerLeft `json:"left,omitempty"`
}

// hammerLeft is a file or process that outlived runs.
type hammerLeft struct {
	triage.Leftover
	Red   int `json:"red"`
	Green int `json:"green"`
}

// hammerTally adds trials up as they come.
type hammerTally struct {
	runs, red, odd int
	trialMS        float64
	groups         map[triage.Signature]*hammerGroup
	left           map[triage.Signature]map[triage.Leftover]int
	green          map[triage.Leftover]int
	note           string
}

func newHammerTally() *hammerTally {
	return &hammerTally{groups: map[triage.Signature]*hammerGroup{}, left: map[triage.Signature]map[triage.Leftover]int{}, green: map[triage.Leftover]int{}}
}

func (h *hammerTally) add(t triage.Trial) {
	h.trialMS += t.DurationMS
	if !t.Outcome.Counts() {
		h.odd++
		h.note = cmp.Or(t.Note, h.note, t.Outcome.String())
		return
	}
	h.runs++
	if !t.Outcome.Red() {
		for _, l := range leftBy(t) {
			h.green[l]++
		}
		return
	}
	h.red++
	f := triage.Failure{Message: t.Outcome.String()}
	if t.Failure != nil {
		f = *t.Failure
	}
	g := h.groups[f.Signature]
	if g == nil {
		g = &hammerGroup{Signature: f.Signature, FirstRun: t.Seq, FirstSeed: t.Seed, Message: f.Message, Location: f.Location, Excerpt: cmp.Or(f.Excerpt, t.Output)}
		h.groups[f.Signature], h.left[f.Signature] = g, map[triage.Leftover]int{}
	}
	g.Count++
	for _, l := range leftBy(t) {
		h.left[f.Signature][l]++
	}
}

// digits are what differs between the names of one file in two runs.
var digits = regexp.MustCompile(`[0-9]{2,}`)

// leftBy are the leftovers of a run under names that two runs can share, each once.
func leftBy(t triage.Trial) []triage.Leftover {
	var out []triage.Leftover
	for _, l := range t.Leftovers {
		if l.Kind == "file" {
			l.Name = path.Base(l.Name)
		}
		l.Name = digits.ReplaceAllString(l.Name, "N")
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// record is the tally by now.
func (h *hammerTally) record(r hammerRecord) hammerRecord {
	r.Schema, r.Runs, r.Red, r.Odd, r.TrialMS = hammerSchema, h.runs, h.red, h.odd, h.trialMS
	r.Low, r.High = stats.Interval(h.red, h.runs, hammerLevel)
	r.Groups = []hammerGroup{}
	for s, g := range h.groups {
		own := *g
		for l, n := range h.left[s] {
			own.Left = append(own.Left, hammerLeft{l, n, h.green[l]})
		}
		slices.SortFunc(own.Left, func(a, b hammerLeft) int {
			return cmp.Or(b.Red-a.Red, a.Green-b.Green, cmp.Compare(a.Name, b.Name))
		})
		own.Left = own.Left[:min(len(own.Left), maxHammerLeft)]
		r.Groups = append(r.Groups, own)
	}
	slices.SortFunc(r.Groups, func(a, b hammerGroup) int { return cmp.Or(b.Count-a.Count, a.FirstRun-b.FirstRun) })
	return r
}

const (
	hammerLevel   = 0.95
	maxHammerLeft = 5
)

// hammerHeadline is "13 of 5000 red, all the same: …".
func hammerHeadline(r hammerRecord) string {
	s := fmt.Sprintf("%d of %d red (%s to %s at 95 %%)", r.Red, r.Runs, rateText(r.Low), rateText(r.High))
	switch {
	case r.Runs == 0:
		return "No run counts."
	case r.Red == 0:
		return fmt.Sprintf("0 of %d red (≤ %s at 95 %%).", r.Runs, rateText(stats.Upper(0, r.Runs, hammerLevel)))
	case len(r.Groups) > 1:
		return fmt.Sprintf("%s, in %d different ways.", s, len(r.Groups))
	}
	g := r.Groups[0]
	what := harmless(firstLineOf(cmp.Or(g.Message, g.Signature.Message)))
	for _, l := range g.Left {
		if l.Red == g.Count && l.Green == 0 {
			what += fmt.Sprintf("; %s %s is left behind then, and never else", l.Kind, harmless(l.Name))
			break
		}
	}
	if r.Red == 1 {
		return s + ": " + what
	}
	return s + ", all the same: " + what
}

func firstLineOf(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func rateText(p float64) string {
	if p >= 0.995 { // two digits would make it 1e+02
		return fmt.Sprintf("%.0f %%", 100*p)
	}
	return fmt.Sprintf("%.2g %%", 100*p)
}

// showHammer prints the record for people.
func showHammer(w io.Writer, r hammerRecord) error {
	var b strings.Builder
	fmt.Fprintln(&b, hammerHeadline(r))
	fmt.Fprintf(&b, "%s, %s\n", harmless(r.Target.String()), hammerHow(r))
	if r.Odd > 0 {
		fmt.Fprintf(&b, "%d runs more ended without a result and do not count.\n", r.Odd)
	}
	if r.Beside != "" {
		fmt.Fprintln(&b, "Note: "+harmless(r.Beside)+".")
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "Interrupted: go on with --resume.\n")
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n%d × %s\n", g.Count, harmless(firstLineOf(cmp.Or(g.Message, g.Signature.Message, "no message"))))
		if g.Location.File != "" {
			fmt.Fprintf(&b, "    at %s:%d %s\n", harmless(g.Location.File), g.Location.Line, harmless(g.Location.Func))
		}
		fmt.Fprintf(&b, "    first in run %d, seed %d\n", g.FirstRun, g.FirstSeed)
		for _, l := range g.Left {
			fmt.Fprintf(&b, "    left behind: %s %s, in %d of these and in %d of %d green runs\n", l.Kind, harmless(l.Name), l.Red, l.Green, r.Runs-r.Red)
		}
		for line := range strings.Lines(lastLines(g.Excerpt, 12)) {
			fmt.Fprintln(&b, "    | "+harmless(strings.TrimRight(line, "\r\n")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func hammerHow(r hammerRecord) string {
	how := fmt.Sprintf("%s, %d at a time, load %d", map[triage.Scope]string{triage.Alone: "alone", triage.InPackage: "with its package"}[r.Plan.Scope], r.Plan.Jobs, r.Plan.Load)
	if r.Plan.Lag != nil {
		how += ", under lag: " + harmless(lag.Describe(*r.Plan.Lag))
	}
	if r.WallMS > 0 {
		how += fmt.Sprintf("; %.0f s, %.0f runs a second", r.WallMS/1000, float64(r.Runs+r.Odd)/(r.WallMS/1000))
	}
	return how + ". These runs load each other: no verdict counts them."
}

// lastLines is the last lines of a text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
