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
	var out []string
	for _, n := range keptHere(environ, passed) {
		if len(n) < leastName || !slices.ContainsFunc(trials, func(t triage.Trial) bool { return speaksOf(t, n) }) {
			continue
		}
		out = append(out, fmt.Sprintf("a red run speaks of %s, which is set here and kept from tests: give it to them with --pass-env %s", n, n))
	}
	return out
}

// speaksOf reports whether the output of a red trial has a variable's name, as a whole word.
func speaksOf(t triage.Trial, name string) bool {
	if !t.Outcome.Red() {
		return false
	}
	return slices.Contains(strings.FieldsFunc(t.Output, notOfName), name)
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
