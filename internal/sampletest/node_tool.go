package sampletest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// nodeModules names the node_modules that the samples of JavaScript share.
const nodeModules = "TRIAGEBOT_TEST_NODE_MODULES"

func vitestTool() tool {
	return nodeTool(func(f Fact) []string {
		// vitest joins the names by a space when it matches a pattern.
		return withPattern([]string{"node", "node_modules/vitest/vitest.mjs", "run", "--cache=false"}, f, "--testNamePattern=", strings.ReplaceAll(f.Test, " > ", " "))
	}, func(report string) []string {
		return []string{"node", "node_modules/vitest/vitest.mjs", "run", "--cache=false", "--reporter=json", "--outputFile=" + report}
	})
}

func jestTool() tool {
	return nodeTool(func(f Fact) []string {
		return withPattern([]string{"node", "node_modules/jest/bin/jest.js", "--ci"}, f, "--testNamePattern=", f.Test)
	}, func(report string) []string {
		return []string{"node", "node_modules/jest/bin/jest.js", "--ci", "--json", "--outputFile=" + report}
	})
}

func mochaTool() tool {
	return nodeTool(func(f Fact) []string {
		return withPattern([]string{"node", "node_modules/mocha/bin/mocha.js"}, f, "--grep=", f.Test)
	}, func(report string) []string {
		return []string{"node", "node_modules/mocha/bin/mocha.js", "--reporter=json", "--reporter-option=output=" + report}
	})
}

func nodeTestTool() tool {
	t := nodeTool(func(f Fact) []string {
		// Node 20 matches each name alone, later versions the joined ones.
		names := strings.Split(f.Test, " > ")
		return withPattern([]string{"node", "--test", "--test-reporter=tap"}, f, "--test-name-pattern=", names[len(names)-1])
	}, func(report string) []string {
		return []string{"node", "--test", "--test-reporter=junit", "--test-reporter-destination=" + report}
	})
	t.report = "ci.xml"
	return t
}

// nodeTool is what the frameworks of JavaScript have in common. They exit 0 when
// they select nothing, so what ran is looked for in their output.
func nodeTool(one func(Fact) []string, all func(string) []string) tool {
	return tool{
		variable: nodeModules, required: "TRIAGEBOT_REQUIRE_NODE", target: "node-env",
		report: "ci.json",
		env:    []string{"CI=1", "NO_COLOR=1"},
		one:    one, all: all,
		late:    nodeLate,
		ran:     regexp.MustCompile(`\b[1-9]\d* (?:passed|failed|passing|failing)\b|# (?:pass|fail) [1-9]`),
		modules: true,
	}
}

// withPattern selects the file and the test of a fact.
func withPattern(argv []string, f Fact, option, test string) []string {
	argv = append(argv, f.Flags...)
	if f.Test != "" {
		argv = append(argv, option+regexp.QuoteMeta(strings.TrimSpace(test))+"$")
	}
	if f.Package != "" {
		argv = append(argv, f.Package)
	}
	return argv
}

// nodeLate waits on a clock that no fake timer replaces, or blocks the thread.
func nodeLate(l Late) string {
	if l.Await {
		return fmt.Sprintf(`await process.getBuiltinModule("node:timers/promises").setTimeout(%d)`, l.MS)
	}
	return fmt.Sprintf("for (const late = Date.now() + %d; Date.now() < late; );", l.MS)
}

// ciCheckout is where a recorded report of JavaScript says that the tree stood:
// such reports hold absolute paths.
const ciCheckout = "/home/runner/work/sample/sample"

// missingModules says why dir is no node_modules with the runners.
func missingModules(dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("the path is not absolute")
	}
	_, err := os.Stat(filepath.Join(dir, "vitest", "package.json"))
	return err
}

// linkModules gives a tree of JavaScript the shared node_modules, as an ignored
// link: a copy would cost seconds a sample.
func (t tool) linkModules(tree string) error {
	if !t.modules {
		return nil
	}
	err := os.Symlink(os.Getenv(nodeModules), filepath.Join(tree, "node_modules"))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("linking node_modules: %w", err)
	}
	return nil
}
