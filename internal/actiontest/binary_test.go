package actiontest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hostAction is a copy of host/ as a user has it, beside no source and no Go.
type hostAction struct {
	t            *testing.T
	dir, outputs string
	path         []string // programs that are found
}

func newHostAction(t *testing.T) *hostAction {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script needs bash; the runner's own is not looked for")
	}
	h := &hostAction{t: t, dir: filepath.Join(t.TempDir(), "host")}
	h.outputs = filepath.Join(filepath.Dir(h.dir), "outputs")
	write(t, filepath.Join(h.dir, "binary.sh"), string(readFile(t, "host/binary.sh")))
	h.path = []string{"bash", "uname", "mktemp", "dirname", "awk", "cut", "sha256sum", "shasum", "cp", "chmod", "cat", "curl"}
	return h
}

// run gives the path that the script chose, or its complaint.
func (h *hostAction) run(env ...string) (string, error) {
	h.t.Helper()
	bin := h.t.TempDir()
	for _, name := range h.path {
		if real, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(real, filepath.Join(bin, name)); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	c := exec.Command(filepath.Join(bin, "bash"), filepath.Join(h.dir, "binary.sh"))
	c.Env = append([]string{"PATH=" + bin, "HOME=" + os.Getenv("HOME"), "RUNNER_TEMP=" + h.t.TempDir(), "GITHUB_OUTPUT=" + h.outputs}, env...)
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	text, err := os.ReadFile(h.outputs)
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "path="), nil
}

// release makes the copy one of a release whose files are served at url.
func (h *hostAction) release(url, sums string) {
	write(h.t, filepath.Join(h.dir, "RELEASE"), url+"\n")
	write(h.t, filepath.Join(h.dir, "SHA256SUMS"), sums)
}

func releaseName() string { return "triagebot_" + runtime.GOOS + "_" + runtime.GOARCH }

const fakeBinary = "#!/bin/sh\necho ran\n"

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func serve(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v9/"+releaseName() {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v9"
}

// wantRefused checks that nothing may run and that people are told why.
func wantRefused(t *testing.T, path string, err error, why string) {
	t.Helper()
	if err == nil || path != "" {
		t.Fatalf("it gave %q, want a refusal", path)
	}
	for _, want := range []string{"exit status 2", "::error title=triagebot::", why} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal is %v, want it to say %q", err, want)
		}
	}
}

func TestReleasedBinaryIsTakenWithItsChecksum(t *testing.T) {
	h := newHostAction(t)
	h.release(serve(t, fakeBinary), "00 other\n"+sumOf(fakeBinary)+"  "+releaseName()+"\n")
	path, err := h.run()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).Output(); err != nil || string(out) != "ran\n" {
		t.Errorf("running it gave %q, %v", out, err)
	}
}

func TestChangedReleaseIsNotRunAndNotBuiltAround(t *testing.T) {
	h := newHostAction(t)
	h.path = append(h.path, "go")
	h.release(serve(t, "#!/bin/sh\necho evil\n"), sumOf(fakeBinary)+"  "+releaseName()+"\n")
	path, err := h.run()
	wantRefused(t, path, err, "its SHA-256 is")
}

func TestOwnBinaryNeedsAKnownChecksum(t *testing.T) {
	own := filepath.Join(t.TempDir(), "mine")
	write(t, own, fakeBinary)
	t.Run("given", func(t *testing.T) {
		if path, err := newHostAction(t).run("TRIAGEBOT_BINARY="+own, "TRIAGEBOT_SHA256="+sumOf(fakeBinary)); err != nil || path == own {
			t.Errorf("it gave %q, %v, want a copy", path, err)
		}
	})
	t.Run("of the release", func(t *testing.T) {
		h := newHostAction(t)
		h.release("http://127.0.0.1:1", sumOf(fakeBinary)+"  "+releaseName()+"\n")
		if _, err := h.run("TRIAGEBOT_BINARY=" + own); err != nil {
			t.Error(err)
		}
	})
	for name, test := range map[string]struct{ env, why string }{
		"none":         {"", "give its SHA-256 in the input sha256"},
		"another":      {"TRIAGEBOT_SHA256=" + sumOf("x"), "it is not run"},
		"half of it":   {"TRIAGEBOT_SHA256=" + sumOf(fakeBinary)[:32], "it is not run"},
		"no such file": {"TRIAGEBOT_BINARY=/nowhere/triagebot", "there is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := newHostAction(t).run("TRIAGEBOT_BINARY="+own, test.env)
			wantRefused(t, path, err, test.why)
		})
	}
}

func TestWithoutReleaseAndGoTheFixIsTold(t *testing.T) {
	path, err := newHostAction(t).run()
	wantRefused(t, path, err, "add actions/setup-go before this step, give the input binary, or use the container action")
}

// Our own workflows and users of a branch build what stands beside the script.
func TestSourceIsBuiltWhenGoIsThere(t *testing.T) {
	h := newHostAction(t)
	h.dir = filepath.Join(absolute(t, root), "host")
	h.path = append(h.path, "go")
	path, err := h.run("GOFLAGS=-mod=vendor", "GOWORK=/nowhere/go.work")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, "version").Output(); err != nil || !strings.HasPrefix(string(out), "triagebot ") {
		t.Errorf("the built program says %q, %v", out, err)
	}
}

func TestUnreachableReleaseFallsBackToSource(t *testing.T) {
	h := newHostAction(t)
	write(t, filepath.Join(filepath.Dir(h.dir), "go.mod"), "module example.com/x\n\ngo 1.26\n")
	write(t, filepath.Join(filepath.Dir(h.dir), "cmd", "triagebot", "main.go"), "package main\n\nfunc main() { println(\"built\") }\n")
	h.path = append(h.path, "go")
	h.release(serve(t, "")+"/gone", sumOf(fakeBinary)+"  "+releaseName()+"\n")
	path, err := h.run()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != "built\n" {
		t.Errorf("running it gave %q, %v", out, err)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
