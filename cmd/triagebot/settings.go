package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/triagebot/triagebot/internal/config"
	"github.com/triagebot/triagebot/internal/triage"
)

// setting is a flag that gives a key of the configuration, so that flags,
// variables and the file read a value in one way.
type setting struct {
	cfg  *config.Config
	key  config.Key
	text string
}

// String is the value as it was given, or the default.
func (s *setting) String() string {
	if s.text == "" {
		return s.key.Default
	}
	return s.text
}

// Set reads the value.
func (s *setting) Set(v string) error {
	if s.text != "" && s.key.Name == "pass-env" { // the one list: repeating the flag adds to it
		v = s.text + "," + v
	}
	s.text = v
	return s.cfg.Set(s.key.Name, v)
}

// Type is how a value is written.
func (s *setting) Type() string { return s.key.Type }

// addSettings adds a flag for each key that can be given as one, or only for
// those that are named.
func addSettings(fl *pflag.FlagSet, cfg *config.Config, only ...string) {
	for _, k := range config.Keys() {
		if k.Env == "" || len(only) > 0 && !slices.Contains(only, k.Name) {
			continue
		}
		fl.Var(&setting{cfg: cfg, key: k}, k.Name, phrase(k.Doc))
	}
}

// phrase is a sentence as a flag's help has it.
func phrase(sentence string) string {
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}

// fails reports whether any verdict trips the policy of fail-on.
func fails(cfg config.Config, vs []triage.Verdict) bool {
	return slices.ContainsFunc(vs, cfg.Fails)
}
