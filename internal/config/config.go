package config

import (
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// Path is where the file is looked for, from the root of the repository. It is
// read from the base side: a pull request cannot change how it is judged.
const Path = ".github/triagebot.yml"

// Config is what a user wants. The zero value of a field means that it was not
// given.
type Config struct {
	// Suites are the test suites of the repository; empty means "detect them".
	Suites []Suite
	// Budget bounds the time of one check, TrialTimeout that of one run.
	Budget       time.Duration
	TrialTimeout time.Duration
	// MaxTrials bounds the runs per test.
	MaxTrials int
	// Lag is "auto", "off", or the names of rungs with commas between them.
	Lag string
	// Seed makes the choices of a check repeatable.
	Seed uint64
	// Alpha is the bound on a false likely-regression over the whole check.
	Alpha float64
	// FailOn says which verdicts make the exit code 1: one of the FailOn constants.
	FailOn string
	// PassEnv names the variables that tests get from our own environment.
	PassEnv []string

	at places
}

// Suite is one test suite.
type Suite struct {
	// Name is unique in the file.
	Name string
	// Dir is where its commands run, relative to the root of the repository,
	// with forward slashes. "." is the root.
	Dir string
	// Framework is the adapter, empty for "detect it". This package does not
	// know which there are.
	Framework string
	// Command runs the whole suite; empty when the framework's own is meant.
	Command []string
	// Setup are the commands to run once per tree before the first trial.
	Setup [][]string
	// PassEnv is as in [Config], for this suite only.
	PassEnv []string
	// Seams are places that the project knows to be raced, as they were written:
	// options of its own such as "--dispatch-lag={seconds}", and functions such as
	// "package.module:Class.method".
	Seams []string
}

// The values of FailOn.
const (
	FailOnNone       = "none"
	FailOnRegression = "regression"
	FailOnIntroduced = "introduced"
	FailOnAny        = "any"
)

// Defaults is what holds where nothing is given.
func Defaults() Config {
	return Config{
		Budget:       10 * time.Minute,
		TrialTimeout: 2 * time.Minute,
		Lag:          "auto",
		Seed:         1,
		Alpha:        0.01,
		FailOn:       FailOnNone,
	}
}

// Merge takes each field from the first layer that gives it. Pass flags, then
// the environment, then the file, then [Defaults].
func Merge(layers ...Config) Config {
	var c Config
	for _, l := range layers {
		c = c.over(l)
	}
	return c
}

func (c Config) over(under Config) Config {
	if len(c.Suites) == 0 {
		c.Suites = under.Suites
	}
	if len(c.PassEnv) == 0 {
		c.PassEnv = under.PassEnv
	}
	c.Budget = first(c.Budget, under.Budget)
	c.TrialTimeout = first(c.TrialTimeout, under.TrialTimeout)
	c.MaxTrials = first(c.MaxTrials, under.MaxTrials)
	c.Lag = first(c.Lag, under.Lag)
	c.Seed = first(c.Seed, under.Seed)
	c.Alpha = first(c.Alpha, under.Alpha)
	c.FailOn = first(c.FailOn, under.FailOn)
	c.at = c.at.or(under.at)
	return c
}

func first[T comparable](a, b T) T {
	var none T
	if a != none {
		return a
	}
	return b
}

// At says where a value was given, as "file:line:column" or the name of the
// variable; empty when it was not. The path is that of the file:
// "suites[0].framework". Whoever finds a value wrong later puts this in front.
func (c Config) At(path string) string { return c.at[path] }

// places remembers where values were given.
type places map[string]string

func (p places) or(under places) places {
	if len(p) == 0 {
		return under
	}
	all := places{}
	for k, v := range under {
		all[k] = v
	}
	for k, v := range p {
		all[k] = v
	}
	return all
}

// Fails reports whether a verdict trips the policy.
func (c Config) Fails(v triage.Verdict) bool {
	switch c.FailOn {
	case FailOnRegression:
		return v.Class == triage.LikelyRegression
	case FailOnIntroduced:
		return v.Yours()
	case FailOnAny:
		return true
	}
	return false
}
