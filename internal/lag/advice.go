package lag

import (
	"fmt"
	"regexp"

	"github.com/triagebot/triagebot/internal/triage"
)

// lead picks which of several sites, each enough alone, is named first: the
// entry of a project function if there is one, for its name says whose outcome
// is late; else the first that the red run passed.
func lead(s *session, any []unit) int {
	for i, u := range any {
		site := s.site(u.site)
		if s.kind(u) == triage.KindCall && !site.Test {
			return i
		}
	}
	return 0
}

// kind is a unit's kind, from the site list or else from the log.
func (s *session) kind(u unit) triage.Kind {
	if k := s.site(u.site).Kind; k != "" {
		return k
	}
	return u.decisions[0].Kind
}

// advise says what to wait on, when it can be told: a worker that is late right
// after a call that the test can see (a double, or what may be one), so that the
// test goes on before what the worker does next.
func (s *session) advise(f finding) (*triage.Site, string) {
	if len(f.any) == 0 || f.set[0].role != triage.RoleWorker {
		return nil, ""
	}
	attempt, late := s.site(f.any[0].site), s.site(f.set[0].site)
	callee, rest := "", ""
	switch s.kind(f.any[0]) {
	case triage.KindDouble: // its function is the double itself
		callee, rest = attempt.Func, "the caller"
	case triage.KindReturn: // its function makes the call
		callee, rest = calleeOf(attempt.Text), "`"+attempt.Func+"`"
	}
	switch {
	case callee == "" || attempt.Func == "":
		return nil, ""
	case s.kind(f.set[0]) == triage.KindCall && late.Func != "":
		return &attempt, fmt.Sprintf("wait on what `%s` changes, not on `%s`", late.Func, callee)
	}
	return &attempt, fmt.Sprintf("wait on what %s does after `%s`, not on that call", rest, callee)
}

var (
	call     = regexp.MustCompile(`([\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*)\(`)
	keywords = map[string]bool{"func": true, "if": true, "for": true, "switch": true, "return": true, "go": true, "defer": true, "select": true}
)

// calleeOf is the function that a source line calls, when it calls just one.
func calleeOf(text string) string {
	callee := ""
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		if keywords[m[1]] {
			continue
		}
		if callee != "" {
			return ""
		}
		callee = m[1]
	}
	return callee
}
