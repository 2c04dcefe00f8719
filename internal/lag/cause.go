package lag

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// unstable claims nothing but the reason why.
func (s *session) unstable(note string) *triage.Cause {
	return &triage.Cause{Kind: triage.CauseUnstable, Sites: []triage.Site{}, Plan: s.best.ID(), Note: note}
}

// slowMachine is the cause of a red on fewer or busier processors. There are no
// delays to take away; but one red there may be chance.
func (s *session) slowMachine() *triage.Cause {
	if s.noisy() {
		return s.unstable(tooNoisy)
	}
	reds, runs, ok := s.repeat(s.in.Plan)
	if !ok {
		c := s.unstable(s.why("on a slow machine it is red now and then only"))
		c.Red, c.Runs = reds, runs
		return c
	}
	return &triage.Cause{Kind: triage.CauseSlowMachine, Sites: []triage.Site{}, Plan: s.best.ID(), Red: reds, Runs: runs}
}

// cause is the part that every named cause shares.
func (s *session) cause(kind triage.CauseKind, f finding) *triage.Cause {
	most, dose := largestMS(f.set)/f.at, f.hi
	if s.doseFloor(f.set) > doseFloorMS { // the slack is more than the dose may be: say what was confirmed
		dose = f.at
	}
	return &triage.Cause{
		Kind: kind, Plan: s.best.ID(),
		DoseMS: roundMS(most * dose), MarginMS: roundMS(most * f.lo),
	}
}

// late are the late places of a finding, the leading one first.
func (s *session) late(f finding) (sites []triage.Site, anyOf bool) {
	for _, u := range f.set {
		sites = append(sites, s.site(u.site))
	}
	for _, u := range f.any {
		if u.site != f.set[0].site || u.role != f.set[0].role {
			sites = append(sites, s.site(u.site))
		}
	}
	return sites, len(f.any) > 1
}

func (s *session) race(f finding) *triage.Cause {
	c := s.cause(triage.CauseRace, f)
	c.Sites, c.AnyOf = s.late(f)
	c.Attempt, c.Advice = s.advise(f)
	return c
}

// fixedSleep leads with the sleep; the late places follow.
func (s *session) fixedSleep(f finding, sleep *triage.Site) *triage.Cause {
	c := s.cause(triage.CauseFixedSleep, f)
	late, anyOf := s.late(f)
	c.Sites, c.AnyOf, c.Attempt = append([]triage.Site{*sleep}, late...), anyOf, sleep
	c.Advice = fmt.Sprintf("wait on what `%s` changes, not for the time of the sleep at %s", late[0].Func, place(*sleep))
	if late[0].Func == "" {
		c.Advice = ""
	}
	return c
}

// timeBudget leads with the deadline when it is known; the late places follow,
// unless several are needed at once: then they only add up, and any others would.
func (s *session) timeBudget(f finding, deadline *triage.Site) *triage.Cause {
	if deadline == nil && len(f.set) > 1 {
		return s.unstable("several delays add up to more than some wait allows; no clock within reach turns it green")
	}
	c := s.cause(triage.CauseTimeBudget, f)
	if len(f.set) == 1 {
		c.Sites, c.AnyOf = s.late(f)
	}
	if deadline != nil {
		c.Sites = append([]triage.Site{*deadline}, c.Sites...)
	} else {
		addNote(c, "so long a delay is taken for a wait that ran out, though no clock within reach turns it green")
	}
	if total := f.leastMS(); total > c.DoseMS*1.01 {
		addNote(c, fmt.Sprintf("the delays add up to %.3g ms", total))
	}
	return c
}

// site finds a site by its id; one that the engine does not list has only that.
func (s *session) site(id string) triage.Site {
	if site, ok := s.in.Sites[id]; ok {
		return site
	}
	return triage.Site{ID: id}
}

// place is a site's file and line for people.
func place(site triage.Site) string {
	if site.File == "" {
		return site.ID
	}
	return fmt.Sprintf("%s:%d", site.File, site.Line)
}

func addNote(c *triage.Cause, note string) {
	if c.Note != "" {
		c.Note += "; "
	}
	c.Note += note
}

// cleanupOnly reports whether a plan does nothing but pause the clean-up.
func cleanupOnly(p triage.LagPlan) bool {
	return p.CleanupMS > 0 && len(p.Kinds) == 0 && len(p.Decisions) == 0
}

// How a late write shows: the words of the widened clean-up of the engines, and
// those of Go's own testing package.
var lateFile = regexp.MustCompile(`written after the test ended: ([^),\n]+)`)

const notEmpty = "directory not empty"

// looksLateWriter reports whether a red tells of a write into the temporary directory.
func looksLateWriter(t triage.Trial) bool {
	text := said(t)
	return lateFile.MatchString(text) || strings.Contains(text, notEmpty)
}

// said is what a red trial printed, as far as it is kept.
func said(t triage.Trial) string {
	if t.Failure == nil {
		return ""
	}
	return t.Failure.Message + "\n" + t.Failure.Excerpt + "\n" + t.Output
}

// cleanup is the cause of a red under nothing but the pause: a late writer, when
// the message says so, and else nothing that a pause could have caused.
func (s *session) cleanup() *triage.Cause {
	if !looksLateWriter(s.in.Red) {
		return s.unstable("red while the clean-up was held, but not for a late write: it fails without lag too")
	}
	reds, runs, _ := s.repeat(s.in.Plan)
	return s.lateWriter(reds, runs)
}

// lateWriterAlone asks whether the pause at clean-up is enough without any delay.
func (s *session) lateWriterAlone() *triage.Cause {
	s.reserve = reserveMinimise
	p := triage.LagPlan{Version: triage.PlanVersion, Name: "cleanup", CleanupMS: s.in.Plan.CleanupMS}
	reds, runs, ok := s.repeat(p)
	if !ok {
		return nil
	}
	s.best = p
	return s.lateWriter(reds, runs)
}

// lateWriter is the cause of a red that only the pause at clean-up needs. It has
// no site, for what wrote is not known; the note names the late file when the
// trial did.
func (s *session) lateWriter(reds, runs int) *triage.Cause {
	c := &triage.Cause{
		Kind: triage.CauseLateWriter, Sites: []triage.Site{}, Plan: s.best.ID(), Red: reds, Runs: runs,
		Advice: "wait for the writer to end before the test returns",
	}
	if m := lateFile.FindStringSubmatch(said(s.in.Red)); m != nil {
		file := path.Base(strings.ReplaceAll(strings.TrimSpace(m[1]), `\`, "/"))
		addNote(c, fmt.Sprintf("`%s` was written after the test ended", file))
	}
	return c
}
