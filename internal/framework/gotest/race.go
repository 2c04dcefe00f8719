package gotest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	raceMark   = "WARNING: DATA RACE"
	raceRule   = "=================="
	raceFailed = "race detected during execution of test"
	// maxRaces bounds the race reports kept of one package.
	maxRaces = 64
	// maxRace bounds the text of one report.
	maxRace = 16 << 10
)

// raceReport is one report of the race detector.
type raceReport struct {
	text []byte
	// test is the test in whose output it came, empty when that is not known.
	test string
}

// accesses are the two racing stacks.
func (r raceReport) accesses() [][]frame {
	var out [][]frame
	text := r.text
	for len(text) > 0 && len(out) < 2 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if bytes.Contains(line, []byte(" at 0x")) && bytes.Contains(line, []byte(" by ")) {
			out = append(out, parseFrames(text))
		}
	}
	return out
}

// funcs are the racing functions, sorted, so that the order in which the
// detector saw the two accesses does not matter.
func (r raceReport) funcs(pkg string) string {
	var names []string
	for _, frames := range r.accesses() {
		if f, ok := userFrame(frames, pkg); ok {
			names = append(names, shortFunc(f.fn))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// mentions reports whether the test function stands in one of the stacks.
func (r raceReport) mentions(test string) bool {
	return bytes.Contains(r.text, []byte("."+test+"()")) || bytes.Contains(r.text, []byte("."+test+"."))
}

// failure describes the race, without a target.
func (r raceReport) failure(pkg string) triage.Failure {
	f := triage.Failure{
		Outcome:   triage.Error,
		Message:   "data race: " + r.funcs(pkg),
		Signature: triage.Signature{Phase: triage.PhaseRace, Message: "data race", Func: r.funcs(pkg)},
		Excerpt:   excerpt(r.text),
	}
	for _, frames := range r.accesses() {
		if u, ok := userFrame(frames, pkg); ok {
			f.Location = triage.Location{File: u.file, Line: u.line, Func: shortFunc(u.fn)}
			break
		}
	}
	return f
}

// raceOf picks the report that belongs to a test: one whose stacks name it,
// else one from its output, else any. Among several the least by its functions
// stands for all, because their order changes from run to run.
func raceOf(races []raceReport, pkg, test string) (raceReport, bool) {
	top, _, _ := strings.Cut(test, "/")
	tiers := []func(raceReport) bool{
		func(r raceReport) bool { return top != "" && r.test == test && r.mentions(top) },
		func(r raceReport) bool { return top != "" && r.mentions(top) },
		func(r raceReport) bool { return r.test == test },
		func(raceReport) bool { return true },
	}
	for _, in := range tiers {
		var best raceReport
		found := false
		for _, r := range races {
			if in(r) && (!found || r.funcs(pkg) < best.funcs(pkg)) {
				best, found = r, true
			}
		}
		if found {
			return best, true
		}
	}
	return raceReport{}, false
}
