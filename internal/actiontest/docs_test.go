package actiontest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestInstallPageNamesEveryExampleAndNothingElse(t *testing.T) {
	page := string(readFile(t, "docs/install.md"))
	for path := range workflows(t) {
		if name, ok := strings.CutPrefix(path, "docs/"); ok && !strings.Contains(page, "]("+name+")") {
			t.Errorf("docs/install.md does not lead to %s", name)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(root, "docs", m[1])); err != nil {
			t.Errorf("docs/install.md leads to %s: %v", m[1], err)
		}
	}
}

// What an example asks for is what docs/permissions.md says that its mode needs.
func TestExamplesAskForThePermissionsOfTheTable(t *testing.T) {
	rows := map[string]string{}
	for _, line := range strings.Split(string(readFile(t, "docs/permissions.md")), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	for path, modes := range map[string][]string{
		"docs/workflows/publish.yml":        {"`publish`"},
		"docs/workflows/triage-command.yml": {"`command`"},
		"docs/workflows/sweep.yml":          {"`sweep`"},
		"docs/workflows/failed-ci-step.yml": {"`measure`, from reports, logs or a command", "`measure`, of an attempt that `/triage` started"},
		"docs/workflows/failed-ci-job.yml":  {"`measure`, a job that follows the red one", "`measure`, which comments itself"},
	} {
		want := map[string]string{}
		for _, mode := range modes {
			if rows[mode] == "" {
				t.Fatalf("docs/permissions.md has no row %s", mode)
			}
			for _, m := range regexp.MustCompile("`([a-z-]+): (read|write)`").FindAllStringSubmatch(rows[mode], -1) {
				want[m[1]] = m[2]
			}
		}
		for name, j := range workflows(t)[path].Jobs {
			if path == "docs/workflows/failed-ci-job.yml" && name == "test" {
				continue // it is the user's own job
			}
			for scope, level := range want {
				if j.Permissions[scope] != level {
					t.Errorf("%s: job %s has %s: %q, the table says %s", path, name, scope, j.Permissions[scope], level)
				}
			}
			if len(j.Permissions) != len(want) {
				t.Errorf("%s: job %s has %v, the table says %v", path, name, j.Permissions, want)
			}
		}
	}
}
