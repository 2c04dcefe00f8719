package config

import (
	"fmt"
	"slices"
	"strings"
)

// Key describes one key of the file, one flag and one variable.
type Key struct {
	// Name is the key in the file; "--" and Name is the flag.
	Name string
	// Env is the variable, empty for a key that only the file has.
	Env string
	// Type is how a value is written, for people.
	Type string
	// Default is what holds when it is not given, empty for none.
	Default string
	// Doc is one sentence.
	Doc string

	set func(c *Config, text string) error // nil for a key that only the file has
}

// keys is the one table of them.
var keys = []Key{
	{Name: "version", Type: "1", Doc: "Version of the file's format."},
	{Name: "suites", Type: "list of suites", Doc: "The test suites; without it they are detected."},
	{Name: "budget", Type: "duration", Default: "10m", Doc: "Time to measure one check in, from when both trees are ready.",
		set: func(c *Config, s string) (err error) { c.Budget, err = duration(s, minBudget, maxBudget); return }},
	{Name: "max-trials", Type: "number", Doc: "Most runs per test; without it the stopping rule decides.",
		set: func(c *Config, s string) (err error) { c.MaxTrials, err = integer(s, 1, maxTrials); return }},
	{Name: "trial-timeout", Type: "duration", Default: "2m", Doc: "Time for one run; a run that takes longer counts as a timeout.",
		set: func(c *Config, s string) (err error) {
			c.TrialTimeout, err = duration(s, minTimeout, maxBudget)
			return
		}},
	{Name: "lag", Type: "auto, off, or a list of rungs", Default: "auto", Doc: "Which delays are tried.",
		set: func(c *Config, s string) (err error) { c.Lag, err = lag(s); return }},
	{Name: "seed", Type: "number", Default: "1", Doc: "Makes the choices of a check repeatable.",
		set: func(c *Config, s string) (err error) { c.Seed, err = seed(s); return }},
	{Name: "alpha", Type: "number", Default: "0.01", Doc: "Bound on calling any test of a check a regression by mistake.",
		set: func(c *Config, s string) (err error) { c.Alpha, err = fraction(s, maxAlpha); return }},
	{Name: "fail-on", Type: "none, regression, introduced or any", Default: "none", Doc: "Which verdicts make the exit code 1.",
		set: func(c *Config, s string) (err error) {
			c.FailOn, err = oneOf(s, FailOnNone, FailOnRegression, FailOnIntroduced, FailOnAny)
			return
		}},
	{Name: "pass-env", Type: "list of names", Doc: "Variables of our own environment that tests get.",
		set: func(c *Config, s string) (err error) { c.PassEnv, err = envNames(list(s)); return }},
}

// suiteKeys are the keys of one suite. They have no flags.
var suiteKeys = []Key{
	{Name: "name", Type: "name", Doc: "Names the suite in reports; must be unique."},
	{Name: "dir", Type: "path", Default: ".", Doc: "Where its commands run, from the root of the repository."},
	{Name: "framework", Type: "name", Doc: "What runs the tests; without it that is detected."},
	{Name: "command", Type: "words or a list of them", Doc: "Runs the whole suite. It never goes through a shell."},
	{Name: "setup", Type: "list of commands", Doc: "Run once on each of the two trees before the first test."},
	{Name: "pass-env", Type: "list of names", Doc: "Variables that the tests of this suite get."},
	{Name: "seams", Type: "list of options and functions", Doc: "What is delayed first: options of the project's own such as --dispatch-lag={seconds}, and functions such as package.module:Class.method."},
}

// Keys is the table of the keys at the top of the file, for flags and documents.
func Keys() []Key { return withEnv(keys) }

// SuiteKeys is the table of the keys of one suite.
func SuiteKeys() []Key { return slices.Clone(suiteKeys) }

func withEnv(keys []Key) []Key {
	out := slices.Clone(keys)
	for i, k := range out {
		if k.set != nil {
			out[i].Env = envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
		}
	}
	return out
}

// envPrefix begins the variables that give a key.
const envPrefix = "TRIAGEBOT_"

// Set gives a key its value as text, as a flag does. Lists are separated by
// commas, spaces or line ends. The error does not name the key.
func (c *Config) Set(key, value string) error {
	for _, k := range keys {
		if k.Name == key && k.set != nil {
			return k.set(c, value)
		}
	}
	return fmt.Errorf("no such key: %s", unknownKey(key, keys))
}

// FromEnv reads the variables of [Keys]. One that is set to nothing counts as
// not given, since an Actions input that is left out arrives so.
func FromEnv(lookup func(string) (string, bool)) (Config, error) {
	c := Config{at: places{}}
	for _, k := range Keys() {
		if k.Env == "" {
			continue
		}
		v, ok := lookup(k.Env)
		if v = strings.TrimSpace(v); !ok || v == "" {
			continue
		}
		if err := k.set(&c, v); err != nil {
			return Config{}, fmt.Errorf("reading %s: %w", k.Env, err)
		}
		c.at[k.Name] = k.Env
	}
	return c, nil
}

// unknownKey says what was meant, or what there is.
func unknownKey(got string, keys []Key) string {
	best, near := 3, ""
	var all []string
	for _, k := range keys {
		all = append(all, k.Name)
		if d := distance(normal(got), normal(k.Name)); d < best && d*2 <= len(k.Name) {
			best, near = d, k.Name
		}
	}
	if near != "" {
		return fmt.Sprintf("unknown key %s, did you mean %q?", quoted(got), near)
	}
	return fmt.Sprintf("unknown key %s, the keys are %s", quoted(got), strings.Join(all, ", "))
}

// normal forgives the other ways to write a key.
func normal(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", "-")
}

// distance is Levenshtein's, capped at 9 for texts that cannot be a slip.
func distance(a, b string) int {
	if len(a) > 40 {
		return 9
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
