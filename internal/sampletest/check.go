package sampletest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/sample"
	"github.com/triagebot/triagebot/internal/triage"
)

// Answer is a report held against the truth.
type Answer struct {
	// Wrong has every difference, one a line; none means that the report is right.
	Wrong []string
	// Strays are the verdicts that a test which draws lots gets now and then.
	Strays []string
}

// Check compares a report.json with the truth.
func (s Sample) Check(report []byte, r Repo) Answer {
	var got triage.Report
	if err := json.Unmarshal(report, &got); err != nil {
		return Answer{Wrong: []string{fmt.Sprintf("report.json cannot be read: %v", err)}}
	}
	a := s.checkVerdicts(got)
	a.Wrong = append(s.checkFrame(got, r), a.Wrong...)
	return a
}

// checkFrame compares all but the verdicts.
func (s Sample) checkFrame(got triage.Report, r Repo) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if got.Schema != triage.Schema {
		add("schema is %q, want %q", got.Schema, triage.Schema)
	}
	if got.Check.Head.SHA != r.Head {
		add("head is %q, want %q", got.Check.Head.SHA, r.Head)
	}
	if got.Check.Base.SHA != r.Base {
		add("base is %q, want %q", got.Check.Base.SHA, r.Base)
	}
	if dirty := s.Shape == sample.Dirty; got.Check.Head.Dirty != dirty {
		add("head is dirty: %v, want %v", got.Check.Head.Dirty, dirty)
	}
	if got.Plan.Stopped != "" {
		add("measuring stopped early: %s", got.Plan.Stopped)
	}
	if s.Leftover != "" && !slices.ContainsFunc(got.Trials, s.hasLeftover) {
		add("no trial noticed a leftover %s", s.Leftover)
	}
	return wrong
}

func (s Sample) hasLeftover(t triage.Trial) bool {
	return slices.ContainsFunc(t.Leftovers, func(l triage.Leftover) bool { return l.Kind == s.Leftover })
}

// checkVerdicts wants each expected target exactly once and no other.
func (s Sample) checkVerdicts(got triage.Report) Answer {
	var a Answer
	left := slices.Clone(got.Verdicts)
	for _, w := range s.Verdicts {
		i := slices.IndexFunc(left, func(v triage.Verdict) bool {
			return v.Target.Package == w.Package && v.Target.Test == w.Test
		})
		if i < 0 {
			a.Wrong = append(a.Wrong, w.target()+": no verdict")
			continue
		}
		if redOnBase(got.Trials, left[i].Target) {
			w.Reasons = slices.Concat(w.Reasons, w.IfBaseRed)
		}
		if v := left[i]; slices.Contains(w.ByChance, v.Class) {
			a.Strays = append(a.Strays, fmt.Sprintf("%s: by chance %s %v", w.target(), v.Class, v.Reasons))
		} else {
			for _, m := range w.check(v) {
				a.Wrong = append(a.Wrong, w.target()+": "+m)
			}
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, v := range left {
		a.Wrong = append(a.Wrong, fmt.Sprintf("%s: a verdict (%s) that nobody asked for", v.Target, v.Class))
	}
	return a
}

// redOnBase reports whether a plain measured trial of the target was red on base.
func redOnBase(trials []triage.Trial, target triage.Target) bool {
	return slices.ContainsFunc(trials, func(t triage.Trial) bool {
		return t.Target == target && t.Purpose == triage.Measure && t.Arm.Side == triage.Base && t.Arm.Plain() && t.Outcome.Red()
	})
}

func (w Want) target() string {
	return triage.Target{Package: w.Package, Test: w.Test}.String()
}

func (w Want) check(v triage.Verdict) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if !slices.Contains(w.Class, v.Class) {
		add("class is %s %v, want %s", v.Class, v.Reasons, join(w.Class))
	}
	if v.Origin != w.Origin && (v.Origin != "" || v.Class == triage.LagRevealedRace) {
		add("origin is %q, want %q", v.Origin, w.Origin)
	}
	for _, reason := range w.Reasons {
		if !slices.Contains(v.Reasons, reason) {
			add("reasons are %v, want %q among them", v.Reasons, reason)
		}
	}
	var polluters, files []string
	if v.Polluters != nil {
		polluters, files = v.Polluters.Tests, v.Polluters.Files
	}
	if !slices.Equal(polluters, w.Polluters) {
		add("it fails after %v, want %v", polluters, w.Polluters)
	}
	if !slices.Equal(files, w.PolluterFiles) {
		add("it fails after the files %v, want %v", files, w.PolluterFiles)
	}
	switch {
	case w.Cause == nil && v.Cause != nil:
		add("a cause is named (%s), want none", v.Cause.Kind)
	case w.Cause != nil && v.Cause == nil:
		// An accepted class that needs no lag has no cause to name.
		if v.Class == triage.LagRevealedRace || !slices.Contains(w.Class, triage.LagRevealedRace) {
			add("no cause is named, want %s", w.Cause.Kind)
		}
	case w.Cause != nil:
		wrong = append(wrong, w.Cause.check(*v.Cause)...)
	}
	return wrong
}

func (w WantCause) check(c triage.Cause) []string {
	var wrong []string
	if c.Kind != w.Kind {
		wrong = append(wrong, fmt.Sprintf("cause is %s, want %s", c.Kind, w.Kind))
	}
	if len(w.Sites) == 0 {
		return wrong
	}
	if len(c.Sites) == 0 {
		return append(wrong, "the cause names no site")
	}
	lead := c.Sites[0]
	if !slices.ContainsFunc(w.Sites, func(s WantSite) bool { return s.matches(lead) }) {
		wrong = append(wrong, fmt.Sprintf("cause names %s:%d %s %q, want one of %+v", lead.File, lead.Line, lead.Func, lead.Text, w.Sites))
	}
	return wrong
}

func (w WantSite) matches(s triage.Site) bool {
	return (w.File == "" || w.File == s.File) &&
		(w.Func == "" || w.Func == ownName(s.Func)) &&
		(w.ID == "" || w.ID == s.ID) &&
		strings.Contains(s.Text, w.Text)
}

// ownName strips the receiver, the package and the marks of closures:
// "(*Dispatcher).run.func1" is "run".
func ownName(f string) string {
	if i := strings.LastIndex(f, ")."); i >= 0 {
		f = f[i+2:]
	}
	for part := range strings.SplitSeq(f[strings.LastIndex(f, "/")+1:], ".") {
		if !strings.HasPrefix(part, "func") && !isNumber(part) {
			f = part
		}
	}
	return f
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func join[T fmt.Stringer](all []T) string {
	var names []string
	for _, x := range all {
		names = append(names, x.String())
	}
	return strings.Join(names, " or ")
}
