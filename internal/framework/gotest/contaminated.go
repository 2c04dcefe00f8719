package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/triagebot/triagebot/internal/triage"
)

// absolutePath finds the absolute paths of replace and use directives.
var absolutePath = regexp.MustCompile(`(?m)(?:=>|^\s*use|^)\s*(/[^\s()]+)`)

// contaminated reports the failure of a tree whose module files pin a folder of
// the user's own checkout: both trees would load the same files from there, and
// base would run head's code. It is nil when there is none.
func (a Adapter) contaminated(tree, mod, pkg string) *triage.Failure {
	if a.Checkout == "" {
		return nil
	}
	for _, file := range []string{filepath.Join(mod, "go.mod"), filepath.Join(mod, "go.work"), filepath.Join(tree, "go.work")} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, m := range absolutePath.FindAllSubmatch(data, -1) {
			pinned := filepath.Clean(string(m[1]))
			rel, err := filepath.Rel(a.Checkout, pinned)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			return &triage.Failure{
				Target: a.target(pkg, ""), Outcome: triage.Error,
				Message: fmt.Sprintf("contaminated: %s names %s in the checkout itself, so that base would load head's files: use a relative path",
					filepath.Base(file), filepath.ToSlash(rel)),
				Signature: triage.Signature{Phase: triage.PhaseSetup, Message: "contaminated"},
			}
		}
	}
	return nil
}
