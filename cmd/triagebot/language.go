package main

import (
	"context"
	"io"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/lag/pylag"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// language is what a check needs of the framework of one of its suites.
type language interface {
	// configure reads the suite's own command; top is the root of the checkout.
	configure(top string, su *suite) error
	// ready gives both trees what the tests need, and tells a missing or too old
	// tool apart from a tree on which nothing runs.
	ready(ctx context.Context, s *session, su *suite) error
	adapter() rerun.Adapter
	// sets are the variables that the suite's command or script gives head's trials,
	// as KEY=VALUE.
	sets() []string
	engine(s *session, su *suite) rerun.Engine
	// command is how the whole suite is run on head, to find what is red.
	command(ctx context.Context, s *session, su *suite) ([]suiteCommand, error)
	// plain is the framework's own command over everything; empty when nothing can
	// be red without a test's name.
	plain() []string
	// named reads a name of --test; false when no test of this framework is
	// called so. The package may be left open.
	named(id string, su *suite) (triage.Failure, bool)
	// resolve finds the packages that failures leave open, and refuses names that
	// are not there.
	resolve(ctx context.Context, s *session, su *suite, fs []triage.Failure) ([]triage.Failure, error)
	// places are where a declared function can be: files and functions as a plan
	// has them. There are none where no file of the trees is meant.
	places(trees []string, su *suite, module, function string) ([]string, error)
	// diagnose tells what works here, and what would be skipped.
	diagnose(d *diagnosis, su *suite) []finding
	// reach tells how many changed files a package's tests can have loaded; nil
	// when that cannot be told.
	reach(ctx context.Context, s *session, pkg string) *triage.Reach
}

// suiteCommand is one process of a suite, and how its reds are read.
type suiteCommand struct {
	triage.Command
	// report is the file it leaves a report in, absolute or relative to Dir;
	// empty for none.
	report string
	// read reads what it printed; nil to read it as a log.
	read func(end triage.End, output io.Reader) ([]triage.Failure, error)
}

// newLanguage makes the language of a framework.
func newLanguage(framework string) (language, bool) {
	switch framework {
	case gotest.Name:
		return &goLanguage{}, true
	case pytest.Name:
		return &pythonLanguage{}, true
	}
	if d, ok := dialects[framework]; ok {
		return &scriptLanguage{dialect: d}, true
	}
	return nil, false
}

// capabilities is what the lag engine of a framework can move.
func capabilities(framework string) lag.Capabilities {
	switch framework {
	case gotest.Name:
		return goCapabilities()
	case pytest.Name:
		return pylag.Capabilities()
	case vitest.Name, jest.Name, mocha.Name, nodetest.Name:
		return nodelag.Capabilities()
	}
	return lag.Capabilities{}
}

// detector is the detector that is tried last for a suite, empty for none.
func (su *suite) detector() string {
	if g, ok := su.lang.(*goLanguage); ok && !g.Race {
		return "race"
	}
	return ""
}
