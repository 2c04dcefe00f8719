package main

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestWhatToolsLeaveBehindIsNotNeeded(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"app/__pycache__/": true, "shop.egg-info/": true, "web/coverage/": true, ".nx/cache/x": true, "npm-debug.log": true, "test-reports/junit/": true, ".envrc": true, ".coverage.host.1": true,
		"dist/": false, ".env": false, ".env.test": false, "src/_version.py": false, "gen/api.pb.go": false, "config.local.json": false, ".svelte-kit/": false,
	} {
		if isLeftBehind(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}

func TestAFailureForWantOfSomethingIsTold(t *testing.T) {
	t.Parallel()
	said := func(message string) triage.Failure {
		return triage.Failure{Signature: triage.Signature{Phase: triage.PhaseTest, Message: message}}
	}
	for name, c := range map[string]struct {
		failure triage.Failure
		want    bool
	}{
		"no message yet":      {triage.Failure{}, true},
		"a build":             {triage.Failure{Signature: triage.Signature{Phase: triage.PhaseBuild, Message: "syntax error"}}, true},
		"a module of Node":    {said("Cannot find module './generated/client' from 'src/db.ts'"), true},
		"a package of vite":   {said(`Failed to resolve entry for package "@mono/lib"`), true},
		"a module of Python":  {said("ModuleNotFoundError: No module named 'app._version'"), true},
		"a file":              {said("FileNotFoundError: [Errno N] No such file or directory: 'config.local.json'"), true},
		"a package of Go":     {said("no required module provides package example.com/app/rates"), true},
		"an assertion":        {said("got N, want N"), false},
		"in the excerpt only": {triage.Failure{Signature: triage.Signature{Phase: triage.PhaseTest, Message: "exit N"}, Excerpt: "ENOENT: no such file or directory, open '.env'"}, true},
	} {
		if lacks(c.failure) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}
