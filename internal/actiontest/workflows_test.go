package actiontest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// workflow is what the tests look at of a workflow file.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Permissions map[string]string
	Uses        string
	Steps       []step
}

// workflows are all workflow files, those of this project and those that users copy.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	all := map[string]workflow{}
	for _, dir := range []string{".github/workflows", "docs/workflows"} {
		found, err := filepath.Glob(filepath.Join(root, dir, "*.yml"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no workflows in %s: %v", dir, err)
		}
		for _, f := range found {
			path := dir + "/" + filepath.Base(f)
			var w workflow
			if err := yaml.Unmarshal(readFile(t, path), &w); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all[path] = w
		}
	}
	return all
}

// A tag can be moved to other code. Our own is the exception: users decide for
// themselves how they pin us, and docs/install.md says how.
func TestForeignActionsArePinnedByCommit(t *testing.T) {
	pin := regexp.MustCompile(`^\s*(- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	ours := regexp.MustCompile(`^\s*(- )?uses: (\.|\./host|triagebot/triagebot(/host)?@(v1|main)|\./)$`)
	seen := map[string]string{}
	for path := range workflows(t) {
		for n, line := range strings.Split(string(readFile(t, path)), "\n") {
			if !regexp.MustCompile(`^\s*(- )?uses:`).MatchString(line) {
				continue
			}
			if !pin.MatchString(line) && !ours.MatchString(line) {
				t.Errorf("%s:%d is not pinned by commit with its version beside it: %s", path, n+1, line)
			}
			name, sha, _ := strings.Cut(strings.TrimSpace(strings.SplitN(line, "uses:", 2)[1]), "@")
			if old := seen[name]; sha != "" && old != "" && old != sha && !ours.MatchString(line) {
				t.Errorf("%s:%d uses %s at %s, another workflow at %s", path, n+1, name, sha, old)
			}
			seen[name] = sha
		}
	}
}

func TestWorkflowsGiveNoPermissionByDefault(t *testing.T) {
	for path, w := range workflows(t) {
		if w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%s: the permissions at the top are %v, want {}", path, w.Permissions)
		}
		for name, j := range w.Jobs {
			if j.Permissions == nil {
				t.Errorf("%s: job %s does not say its permissions", path, name)
			}
		}
	}
}

// What a stranger writes (a branch, a title, a comment) must not become part of a
// script, and a job with a token that writes must not check out a pull request.
func TestWorkflowsKeepForeignTextOutOfScripts(t *testing.T) {
	privileged := []string{"workflow_run", "issue_comment", "pull_request_target"}
	for path, w := range workflows(t) {
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: job %s puts an expression into a script: %s", path, name, s.Run)
				}
				checkout := strings.HasPrefix(s.Uses, "actions/checkout@")
				if checkout && s.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s leaves its token in the checkout", path, name)
				}
				if checkout && slices.ContainsFunc(privileged, func(e string) bool { _, ok := w.On[e]; return ok }) {
					t.Errorf("%s: job %s checks code out under %v", path, name, w.On)
				}
			}
		}
	}
}

// What measures on the runner itself can be read by the tests that it runs.
func TestTheHalfOnTheRunnerThatMeasuresOnlyReads(t *testing.T) {
	found := 0
	for path, w := range workflows(t) {
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				host := strings.Contains(s.Uses, "/host")
				if !host || s.With["mode"] != "measure" && s.With["mode"] != "sweep" {
					continue
				}
				found++
				for scope, level := range j.Permissions {
					if level != "read" {
						t.Errorf("%s: job %s runs tests beside a token with %s: %s", path, name, scope, level)
					}
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("found %d steps that measure on the runner, want the documented and our own", found)
	}
}

func TestOurOwnWorkflowNamesEveryInput(t *testing.T) {
	used := map[string]bool{}
	for _, j := range workflows(t)[".github/workflows/ci.yml"].Jobs {
		for _, s := range j.Steps {
			if s.Uses == "./" && len(s.With) > 10 {
				for name := range s.With {
					used[name] = true
				}
			}
		}
	}
	for _, r := range readTables(t).Inputs {
		if !used[r.Name] {
			t.Errorf("ci.yml does not name the input %s", r.Name)
		}
	}
}

// The example workflows name outputs and inputs that exist; actionlint checks that
// only for actions beside the workflow.
func TestExamplesUseInputsAndOutputsThatExist(t *testing.T) {
	tb := readTables(t)
	outputs := regexp.MustCompile(`steps\.\w+\.outputs\.([\w-]+)`)
	has := func(rows []row, name string) bool {
		return slices.ContainsFunc(rows, func(r row) bool { return r.Name == name })
	}
	for path, w := range workflows(t) {
		if !strings.HasPrefix(path, "docs/") {
			continue
		}
		for _, m := range outputs.FindAllStringSubmatch(string(readFile(t, path)), -1) {
			if !has(tb.Outputs, m[1]) {
				t.Errorf("%s reads the output %s, which there is not", path, m[1])
			}
		}
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				if !strings.HasPrefix(s.Uses, "triagebot/") {
					continue
				}
				for name := range s.With {
					if !has(tb.Inputs, name) {
						t.Errorf("%s gives the input %s, which there is not", path, name)
					}
				}
			}
		}
	}
}

// The image and the release must hold the same binary.
func TestImageAndReleaseAreBuiltAlike(t *testing.T) {
	flags := regexp.MustCompile(`go build (-trimpath -buildvcs=false)[\s\\]+-ldflags "([^"]+)"`)
	ldflags := func(path string) string {
		m := flags.FindStringSubmatch(string(readFile(t, path)))
		if m == nil {
			t.Fatalf("%s has no go build with -trimpath -buildvcs=false -ldflags", path)
		}
		return strings.NewReplacer("${VERSION}", "V", "$version", "V").Replace(m[2])
	}
	if a, b := ldflags("Dockerfile"), ldflags(".ci/build.sh"); a != b {
		t.Errorf("the image is built with %q, the release with %q", a, b)
	}
	image := regexp.MustCompile(`FROM golang:([\d.]+)-`).FindStringSubmatch(string(readFile(t, "Dockerfile")))
	release := regexp.MustCompile(`go-version: '([\d.]+)' # the one of the Dockerfile`).FindStringSubmatch(string(readFile(t, ".github/workflows/release.yml")))
	if image == nil || release == nil || image[1] != release[1] {
		t.Errorf("the image is built with Go %v, the release with %v", image, release)
	}
}
