package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// leastName is the length from which a variable's name in a test's output is
// taken for that variable.
const leastName = 5

// withheld warns of variables that are set here, were kept from the tests, and
// are named in the output of a red trial: then both sides may fail for want of
// them and of nothing else.
func withheld(environ, passed []string, trials []triage.Trial) []string {
	var names []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		hidden := len(name) >= leastName && !slices.ContainsFunc(passed, func(p string) bool { return strings.HasPrefix(p, name+"=") })
		if hidden && slices.ContainsFunc(trials, func(t triage.Trial) bool { return speaksOf(t, name) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []string
	for _, n := range slices.Compact(names) {
		out = append(out, fmt.Sprintf("a red run speaks of %s, which is set here and kept from tests: give it to them with --pass-env %s", n, n))
	}
	return out
}

// speaksOf reports whether the output of a red trial has a variable's name, as a whole word.
func speaksOf(t triage.Trial, name string) bool {
	if !t.Outcome.Red() {
		return false
	}
	word := func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return slices.Contains(strings.FieldsFunc(t.Output, word), name)
}

// circumstances warns of what on this machine may have made trials red.
func (s *session) circumstances(trials []triage.Trial) []string {
	out := s.withheldHere(trials)
	if s.beside != nil {
		if w := s.beside.Warning(); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// withheldHere is withheld for this process.
func (s *session) withheldHere(trials []triage.Trial) []string {
	var passed []string
	for _, su := range s.suites {
		passed = append(passed, su.env...)
	}
	return withheld(os.Environ(), passed, trials)
}
