package beside

import (
	"strings"
	"testing"
	"time"
)

// machine is one whose use is planted: seconds of time, of everybody's processor
// time and of our own.
type machine struct {
	at, busy, own float64
	cores         int
	looks         int
	tools         []string
}

func (m *machine) watch() *Watch {
	return newWatch(func() (sample, bool) {
		s := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
		return sample{at: time.Unix(1000, 0).Add(s(m.at)), busy: s(m.busy), own: s(m.own), cores: m.cores}, m.cores > 0
	}, func() []string { m.looks++; return m.tools })
}

func (m *machine) pass(seconds, others, own float64) {
	m.at, m.busy, m.own = m.at+seconds, m.busy+(others+own)*seconds, m.own+own*seconds
}

func TestOthersAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		cores       int
		others, own float64 // cores
		seconds     float64
		want        string
	}{
		"idle":                             {2, 0, 0, 10, ""},
		"the hundredth of an idle machine": {4, 0.04, 1, 10, ""},
		"our own suite on all cores":       {4, 0.05, 3.9, 10, ""},
		"one busy process on four cores":   {4, 1, 1, 10, "other processes used 1.0 of 4 cores meanwhile"},
		"a suite beside":                   {2, 1.6, 0.4, 3, "other processes used 1.6 of 2 cores meanwhile"},
		"one core":                         {1, 0.7, 0.3, 3, "other processes used 0.7 of 1 core meanwhile"},
		"one busy process on 64 cores":     {64, 1, 8, 10, ""},
		"too short to tell":                {2, 2, 0, 0.3, ""},
		"more than ticks can tell":         {2, 2.3, 0, 1, "other processes used 2.0 of 2 cores meanwhile"},
		"our own use counted too high":     {2, -0.3, 1, 1, ""},
		"a machine that does not tell":     {0, 2, 0, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machine{cores: tc.cores}
			w := m.watch()
			m.pass(tc.seconds, tc.others, tc.own)
			if got := w.Note(); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if got := w.Warning(); (got != "") != (tc.want != "") {
				t.Errorf("the warning is %q", got)
			}
		})
	}
}

func TestShortTrialsAreToldByALaterOne(t *testing.T) {
	m := &machine{cores: 2}
	w := m.watch()
	var notes []string
	for range 20 { // of 100 ms, beside a suite
		m.pass(0.1, 1.5, 0.3)
		notes = append(notes, w.Note())
	}
	if n := len(strings.Fields(strings.Join(notes, " "))); n == 0 {
		t.Error("nobody was told of others")
	}
	m.pass(2, 0, 1)
	if got := w.Note(); got != "" {
		t.Errorf("when they are gone: %q", got)
	}
}

func TestWarningSumsUp(t *testing.T) {
	m := &machine{cores: 4}
	w := m.watch()
	for i, others := range []float64{0, 2, 3.1, 0.1, 1} {
		m.tools = []string{"pytest"}
		if i == 2 {
			m.tools = []string{"go test"}
		}
		m.pass(10, others, 0.5)
		w.Note()
	}
	want := "other processes on this machine used up to 3.1 of 4 cores in 3 of the 5 times it was looked (among them go test, pytest): what waits for a clock may be red because of them"
	if got := w.Warning(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamesAreNotLookedForTooOften(t *testing.T) {
	m := &machine{cores: 2, tools: []string{"jest"}}
	w := m.watch()
	for range 10 {
		m.pass(1, 2, 0)
		w.Note()
	}
	if m.looks != 2 {
		t.Errorf("looked %d times in 10 s, want 2", m.looks)
	}
}

func TestToolOfACommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"/tmp/go-build1/b001/app.test -test.timeout=10m": "go test",
		"go test ./...":                                              "go test",
		"go build ./...":                                             "",
		"/usr/bin/python3 -m pytest -q":                              "pytest",
		"/v/bin/python /v/bin/pytest -x":                             "pytest",
		"python3 server.py":                                          "",
		"node /app/node_modules/vitest/dist/workers/forks.js":        "vitest",
		"node /app/node_modules/.bin/jest":                           "jest",
		"node (vitest 1)":                                            "",
		"/usr/bin/node /app/node_modules/jest-worker/build/child.js": "jest",
		"node --test":                                                "node --test",
		"node index.js":                                              "",
		"vim pytest":                                                 "",
		"":                                                           "",
	} {
		if got := toolOf(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
