package main

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// maxUnmade bounds the paths that are looked for in the code.
	maxUnmade = 20
	// maxUnmadeFiles bounds how many files of a directory are looked at.
	maxUnmadeFiles = 1000
)

// leftBehind are the names of what tools leave in a checkout and no test needs.
var leftBehind = strings.Fields(`
	__pycache__ *.pyc *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox .coverage .coverage.* coverage coverage.* htmlcov .nyc_output
	.turbo .nx .cache .parcel-cache .eslintcache .stylelintcache *.tsbuildinfo *.log *.prof
	reports test-reports test-results playwright-report allure-results allure-report tmp logs db.sqlite3
	junit*.xml test.xml test.json report*.xml report*.json results*.xml results*.json triagebot-out .envrc .idea .vscode .vs .DS_Store *.swp *~`)

// reLacks is in a message that says that something is not there.
var reLacks = regexp.MustCompile(`(?i)no such file|not found|cannot find|could not find|could not import|failed to resolve|no module named|does not exist|ENOENT|no required module|is not in std|undefined:|no matching files|cannot import`)

// noteUnmade finds what the checkout has and trials have not, because git does not
// know it: what CI's steps, or a developer, made before the tests. For want of it
// both sides can fail alike. A failure that was seen without it, and that says that
// something is missing, may be no failure of CI's; any other needs code that names it.
func (s *session) noteUnmade(ctx context.Context, c collected) error {
	unmade, err := s.ws.Unmade(ctx)
	if err != nil {
		return err
	}
	unmade = slices.DeleteFunc(unmade, isLeftBehind)
	if len(unmade) == 0 {
		return nil
	}
	for _, su := range s.suites {
		own := slices.DeleteFunc(slices.Clone(c.failures), func(f triage.Failure) bool { return f.Target.Suite != su.Name })
		if len(own) == 0 {
			continue
		}
		seenHere := c.source == "run" || c.source == "test"
		needed, err := s.needed(ctx, su, unmade, seenHere && slices.ContainsFunc(own, lacks))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("looking for what trials lack: %w", err)
		}
		if len(needed) > 0 {
			su.unlike = true
			s.warnings = append(s.warnings, fmt.Sprintf("suite %s: the checkout has %s, which git does not know and trials do not have: "+
				"if the tests need it, give what makes it as the suite's setup in .github/triagebot.yml, or with --setup", su.Name, several(needed)))
		}
	}
	return nil
}

// isLeftBehind tells whether a path is, or is below, what a tool leaves behind.
func isLeftBehind(p string) bool {
	return slices.ContainsFunc(strings.Split(strings.Trim(p, "/"), "/"), func(name string) bool {
		return slices.ContainsFunc(leftBehind, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	})
}

// lacks tells whether a failure is one for want of something, as far as is known.
func lacks(f triage.Failure) bool {
	return f.Signature.IsZero() || f.Signature.Phase == triage.PhaseBuild || reLacks.MatchString(f.Signature.Message) || reLacks.MatchString(f.Excerpt)
}

// needed are the paths that a suite's code names in a text of its own, or that have
// code themselves, where something is missing.
func (s *session) needed(ctx context.Context, su *suite, unmade []string, missing bool) ([]string, error) {
	var out []string
	for _, p := range unmade[:min(len(unmade), maxUnmade)] {
		code := s.hasSources(p, su.Framework)
		if code && !missing {
			continue // without it nothing would load
		}
		named, err := code, error(nil)
		if !code {
			named, err = s.quoted(ctx, su, path.Base(p))
		}
		if err != nil {
			return nil, err
		}
		if named {
			out = append(out, strings.TrimSuffix(p, "/"))
		}
	}
	return out, nil
}

// quoted tells whether code has a file's name in quotes, alone or in a path.
func (s *session) quoted(ctx context.Context, su *suite, file string) (bool, error) {
	pattern := "[\"'`/]" + regexp.QuoteMeta(file) + "[\"'`/]"
	if strings.HasPrefix(file, ".env") { // read without being named
		pattern += "|dotenv|env_file|env-file|loadEnv|read_env"
	}
	for _, tree := range s.trees() {
		if found, err := s.grep(ctx, su, tree, []string{"-q", "-e", pattern}, sources(su.Framework), nil); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// hasSources tells whether a file of the checkout, or one in a directory of it, is
// what a framework's tests are made of.
func (s *session) hasSources(p, framework string) bool {
	kinds, seen, found := sourceKinds(framework), 0, false
	_ = filepath.WalkDir(filepath.Join(s.ws.Top(), filepath.FromSlash(p)), func(at string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxUnmadeFiles {
			return fs.SkipAll // what cannot be read is not needed
		}
		if d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if found = !d.IsDir() && slices.Contains(kinds, filepath.Ext(at)); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// sourceKinds are the extensions of code that tests of a framework load.
func sourceKinds(framework string) []string {
	switch framework {
	case gotest.Name:
		return []string{".go", ".s", ".c", ".h"}
	case pytest.Name:
		return []string{".py", ".so", ".pyd"}
	}
	return []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".node", ".wasm", ".vue", ".svelte"}
}
