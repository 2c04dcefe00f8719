package actiontest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkout is a small repository with the files that a release touches.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"action.yml", "host/action.yml", "host/binary.sh", ".ci/release-commit.sh"} {
		write(t, filepath.Join(dir, f), string(readFile(t, f)))
	}
	write(t, filepath.Join(dir, ".gitignore"), "/dist/\n")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	write(t, filepath.Join(dir, "dist", releaseName()), fakeBinary)
	write(t, filepath.Join(dir, "dist", "SHA256SUMS"), sumOf(fakeBinary)+"  "+releaseName()+"\n")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = gitEnv()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// gitEnv is free of the configuration of who runs the tests.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
}

func releaseCommit(dir string, args ...string) (string, error) {
	c := exec.Command("bash", append([]string{".ci/release-commit.sh"}, args...)...)
	c.Dir = dir
	c.Env = gitEnv()
	out, err := c.CombinedOutput()
	return string(out), err
}

const image = "ghcr.io/triagebot/triagebot@sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func TestReleaseCommitPinsWhatUsersGet(t *testing.T) {
	dir := checkout(t)
	url := serve(t, fakeBinary)
	main := git(t, dir, "rev-parse", "main")
	git(t, dir, "tag", "v1")
	if out, err := releaseCommit(dir, "v1.2.3", image, "dist", url); err != nil {
		t.Fatal(err, out)
	}
	if got := git(t, dir, "rev-parse", "main"); got != main {
		t.Errorf("main moved to %s", got)
	}
	for _, tag := range []string{"v1.2.3", "v1"} {
		if got := git(t, dir, "rev-parse", tag+"^{commit}~1"); got != main {
			t.Errorf("%s stands on %s, want it one commit above %s", tag, got, main)
		}
	}
	if changed := git(t, dir, "diff", "--name-only", "main", "v1"); changed != "action.yml\nhost/RELEASE\nhost/SHA256SUMS" {
		t.Errorf("the release changes\n%s", changed)
	}
	diff := git(t, dir, "diff", "-U0", "main", "v1", "--", "action.yml")
	if !strings.HasSuffix(diff, "-  image: Dockerfile\n+  image: docker://"+image) {
		t.Errorf("action.yml changes so:\n%s", diff)
	}
	// What a user checks out of the tag finds the released binary.
	h := newHostAction(t)
	h.dir = filepath.Join(dir, "host")
	path, err := h.run()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).Output(); err != nil || string(out) != "ran\n" {
		t.Errorf("running it gave %q, %v", out, err)
	}
}

func TestPreReleaseLeavesTheMovingTag(t *testing.T) {
	dir := checkout(t)
	git(t, dir, "tag", "v1")
	if out, err := releaseCommit(dir, "v1.3.0-rc.1", image, "dist", "https://example.com"); err != nil {
		t.Fatal(err, out)
	}
	if a, b := git(t, dir, "rev-parse", "v1"), git(t, dir, "rev-parse", "main"); a != b {
		t.Error("v1 moved to a pre-release")
	}
}

func TestReleaseCommitRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		version, image string
		before         func(dir string)
		why            string
	}{
		"a version that is none":    {"1.2.3", image, nil, "no version"},
		"a version with a command":  {"v1.2.3;id", image, nil, "no version"},
		"an image by tag":           {"v1.2.3", "ghcr.io/a/b:v1", nil, "by digest"},
		"an image with sed's sign":  {"v1.2.3", "a|b@" + strings.Split(image, "@")[1], nil, "by digest"},
		"a tag that is there":       {"v1.2.3", image, func(dir string) { git(t, dir, "tag", "v1.2.3") }, "there already"},
		"changes in the work tree":  {"v1.2.3", image, func(dir string) { write(t, filepath.Join(dir, "action.yml"), "x") }, "not committed"},
		"a binary that was changed": {"v1.2.3", image, func(dir string) { write(t, filepath.Join(dir, "dist", releaseName()), "x") }, "FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := checkout(t)
			if test.before != nil {
				test.before(dir)
			}
			head := git(t, dir, "rev-parse", "HEAD")
			out, err := releaseCommit(dir, test.version, test.image, "dist", "https://example.com")
			if err == nil || !strings.Contains(out, test.why) {
				t.Errorf("it ended with %v, %q, want %q", err, out, test.why)
			}
			if got := git(t, dir, "rev-parse", "HEAD"); got != head {
				t.Error("there is a commit all the same")
			}
		})
	}
}
