package rerun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestOutcomes(t *testing.T) {
	b := newBench(t, nil)
	for name, tc := range map[string]struct {
		pkg, test string
		want      triage.Outcome
		note      string
	}{
		"a test that passes":            {"odd", "TestPass", triage.Pass, ""},
		"a test that fails":             {"odd", "TestFail", triage.Fail, ""},
		"a test that is not there":      {"odd", "TestNoSuch", triage.Absent, ""},
		"a package without tests":       {"none", "TestPass", triage.Absent, "example.com/lab/none has no tests on head"},
		"a package that is not there":   {"nosuch", "TestPass", triage.Absent, "example.com/lab/nosuch has no tests on head"},
		"a package that does not build": {"bad", "TestBad", triage.Invalid, "example.com/lab/bad does not build on head: bad/bad_test.go:5:30: undefined: undefined"},
		"the build itself":              {"bad", "", triage.Error, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.run(t, request(triage.Head, tc.pkg, tc.test), nil)
			if got.Outcome != tc.want || tc.note != "" && got.Note != tc.note {
				t.Errorf("got %s", describe(got))
			}
			if red := got.Outcome.Red(); red && (got.Failure == nil || got.Failure.Target != got.Target) {
				t.Errorf("the failure of a red is %+v", got.Failure)
			}
			if got.Start.IsZero() || got.Start.Location() != time.UTC {
				t.Errorf("started at %v", got.Start)
			}
			if len(got.Leftovers) > 0 {
				t.Errorf("leftovers %v", got.Leftovers)
			}
		})
	}
	if left := b.roomsLeft(t); len(left) > 0 {
		t.Errorf("directories of finished trials are left: %v", left)
	}
}

func TestABuildFailureIsInTheTrial(t *testing.T) {
	b := newBench(t, nil)
	got := b.run(t, request(triage.Base, "bad", ""), nil)
	if got.Failure == nil || got.Failure.Signature.Phase != triage.PhaseBuild || !strings.Contains(got.Failure.Message, "undefined") {
		t.Errorf("failure %+v", got.Failure)
	}
	if !strings.Contains(got.Output, "undefined: undefined") || got.Exit == 0 || got.DurationMS <= 0 {
		t.Errorf("got %s", describe(got))
	}
}

func TestAMissingTreeSaysNothing(t *testing.T) {
	b := newBench(t, func(c *Config) { delete(c.Trees, triage.Base) })
	got := b.run(t, request(triage.Base, "odd", "TestPass"), nil)
	if got.Outcome != triage.Invalid || got.Note != "the base tree is not there" {
		t.Errorf("got %s", describe(got))
	}
}

func TestAHangIsATimeoutThatNamesTheTest(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Timeout = 2 * time.Second })
	b.run(t, request(triage.Head, "odd", "TestPass"), nil) // builds
	got := b.run(t, request(triage.Head, "odd", "TestHang"), nil)
	if got.Outcome != triage.Timeout || got.Failure == nil || got.Failure.Signature.Phase != triage.PhaseTimeout {
		t.Fatalf("got %s", describe(got))
	}
	if got.DurationMS < 1000 || got.DurationMS > 60_000 {
		t.Errorf("the trial took %v ms", got.DurationMS)
	}
}

func TestLeftoversAreListedAndRemoved(t *testing.T) {
	b := newBench(t, nil)
	for test, want := range map[string]triage.Leftover{
		"TestLeaveFile":    {Kind: "file", Name: "late.txt"},
		"TestLeaveProcess": {Kind: "process", Name: "sleep"}, // its arguments are not there in the moment of its start
	} {
		got := b.run(t, request(triage.Head, "odd", test), nil)
		if got.Outcome != triage.Pass || len(got.Leftovers) != 1 || got.Leftovers[0].Kind != want.Kind || !strings.Contains(got.Leftovers[0].Name, want.Name) {
			t.Errorf("%s: leftovers %v, %s", test, got.Leftovers, describe(got))
		}
	}
	if left := b.roomsLeft(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAFloodIsCappedAndSaysNothingOfWhatItHid(t *testing.T) {
	for name, tc := range map[string]struct {
		test string
		env  []string
		want triage.Outcome
	}{
		"the failure is behind the cap":   {"TestFlood", nil, triage.Invalid},
		"the pass is behind the cap":      {"TestFlood", []string{"FLOOD_PASSES=1"}, triage.Invalid},
		"the failure comes before it all": {"TestFloodAfterwards/red", nil, triage.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Env = append(c.Env, tc.env...) })
			got := b.run(t, request(triage.Head, "odd", tc.test), nil)
			if got.Outcome != tc.want {
				t.Errorf("got %s exit %d note %q %+v", got.Outcome, got.Exit, got.Note, got.Failure)
			}
			if tc.want == triage.Invalid && !strings.Contains(got.Note, "64 MiB") {
				t.Errorf("the note is %q", got.Note)
			}
			if len(got.Output) > maxExcerpt+200 {
				t.Errorf("the record keeps %d bytes of output", len(got.Output))
			}
		})
	}
}

func TestTrialsSeeACleanEnvironmentAndATmpdirOfTheirOwn(t *testing.T) {
	secrets := []string{"GITHUB_TOKEN", "GITHUB_ENV", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_CACHE_URL", "INPUT_TOKEN", "RUNNER_TEMP", "AWS_SECRET_ACCESS_KEY"}
	for _, name := range secrets {
		t.Setenv(name, "leaked-"+name)
	}
	b := newBench(t, nil)
	seen := map[string]bool{}
	for range 2 {
		got := b.run(t, request(triage.Head, "odd", "TestEnvironment"), nil)
		text := got.Output + got.Failure.Excerpt
		if strings.Contains(text, "leaked-") {
			t.Errorf("a secret reached the test:\n%s", text)
		}
		if !strings.Contains(text, "env PATH=") && !strings.Contains(text, "env TRIAGEBOT_TRIAL=") {
			t.Fatalf("the test did not show its environment:\n%s", text)
		}
		if !strings.Contains(text, "tmp holds 0 ") {
			t.Errorf("the TMPDIR is not empty:\n%s", text)
		}
		_, rest, _ := strings.Cut(text, "env TMPDIR=")
		tmp, _, _ := strings.Cut(rest, "\n")
		if seen[tmp] || !strings.HasPrefix(tmp, b.cfg.Dir+string(filepath.Separator)) {
			t.Errorf("TMPDIR is %q, seen before: %v", tmp, seen[tmp])
		}
		seen[tmp] = true
		if _, err := os.Stat(tmp); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", tmp, err)
		}
	}
}

func TestACancelledTrialIsAnError(t *testing.T) {
	b := newBench(t, nil)
	b.run(t, request(triage.Head, "odd", "TestPass"), nil) // builds
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && !b.began("TestHang"); {
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if got, err := b.Run(ctx, request(triage.Head, "odd", "TestHang"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, got %s", err, describe(got))
	}
	if left := b.roomsLeft(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTheSuitesOwnCommand(t *testing.T) {
	suite := triage.Request{Target: triage.Target{Suite: "go", Framework: "gotest"}, Arm: triage.Arm{Side: triage.Base}, Purpose: triage.Measure}
	for name, tc := range map[string]struct {
		command []string
		timeout time.Duration
		want    triage.Outcome
		message string
	}{
		"green":              {[]string{"true"}, time.Minute, triage.Pass, ""},
		"red":                {[]string{"env", "X=7", "sh", "-c", "exit $X"}, time.Minute, triage.Error, "exit 7"},
		"killed":             {[]string{"sh", "-c", "kill -KILL $$"}, time.Minute, triage.Error, "SIGKILL"},
		"too slow":           {[]string{"sleep", "300"}, 200 * time.Millisecond, triage.Timeout, "timed out"},
		"not on this tree":   {[]string{"./no-such-script"}, time.Minute, triage.Absent, ""},
		"nowhere at all":     {[]string{"no-such-program-at-all"}, time.Minute, triage.Absent, ""},
		"run in its own dir": {[]string{"test", "-f", "odd_test.go"}, time.Minute, triage.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config) { c.Command, c.CommandDir, c.Timeout = tc.command, "odd", tc.timeout })
			got := b.run(t, suite, nil)
			if got.Outcome != tc.want {
				t.Fatalf("got %s", describe(got))
			}
			if tc.message != "" && got.Failure.Message != tc.message {
				t.Errorf("message %q, want %q", got.Failure.Message, tc.message)
			}
			if got.Outcome == triage.Absent && got.Note == "" {
				t.Error("nothing says why")
			}
			if len(b.adapter.asked) > 0 {
				t.Errorf("built %v", b.adapter.asked)
			}
		})
	}
}

func TestTwoTrialsAtOnceAreRefused(t *testing.T) {
	b := newBench(t, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.Run(t.Context(), request(triage.Head, "odd", "TestPass"), nil); err == nil || !strings.Contains(err.Error(), "another trial is running") {
		t.Errorf("error %v", err)
	}
}
