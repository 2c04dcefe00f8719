package beside

import (
	"path"
	"slices"
	"strings"
)

// toolOf is the test tool that a command line is of, empty for another program.
// Nothing of the line itself is ever told: it may hold anything.
func toolOf(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	program := path.Base(argv[0])
	if strings.HasSuffix(program, ".test") {
		return "go test"
	}
	words := argv[:min(len(argv), 8)]
	switch {
	case program == "go" && len(words) > 1 && words[1] == "test":
		return "go test"
	case strings.HasPrefix(program, "python") || strings.HasPrefix(program, "pytest"):
		if slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == "pytest" || path.Base(w) == "py.test" }) {
			return "pytest"
		}
	case strings.HasPrefix(program, "node"):
		return scriptTool(words)
	}
	return ""
}

// scriptTool is the test runner that node runs, or a worker of it.
func scriptTool(words []string) string {
	for _, w := range words[1:] {
		if w == "--test" {
			return "node --test"
		}
		for _, tool := range []string{"vitest", "jest", "mocha"} {
			base := path.Base(w)
			if base == tool || base == tool+".js" || base == tool+".mjs" || strings.Contains(w, "/node_modules/"+tool) {
				return tool
			}
		}
	}
	return ""
}
