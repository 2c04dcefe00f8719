package actiontest

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var container = flag.String("container", "", "run the container tests with this `IMAGE` of the full target (make container)")

// secrets are what a test must not find, wherever it looks. Each is where the
// runner has such a thing.
var secrets = map[string]string{
	"token":                          "ghs_SECRETOFTHEINPUT",
	"ACTIONS_RUNTIME_TOKEN":          "SECRETOFTHERUNTIME",
	"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "SECRETOFOIDC",
	"GITHUB_TOKEN":                   "ghs_SECRETOFTHEENV",
}

// hunter is a test of the pull request that looks for what it could steal or
// change, and fails with what it found, so that the report tells.
const hunter = `package app

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

func TestHunt(t *testing.T) {
	found := map[string]bool{}
	secret := strings.Join([]string{"SECRET", "OF"}, "") // not in this file, nor in what is built of it
	look := func(where, text string) {
		if strings.Contains(text, secret) {
			found["secret in "+where] = true
		}
	}
	for _, kv := range os.Environ() {
		look("own environment", kv)
		name, _, _ := strings.Cut(kv, "=")
		for _, p := range []string{"INPUT_", "ACTIONS_", "RUNNER_", "GITHUB_"} {
			if strings.HasPrefix(name, p) {
				found["variable "+name] = true
			}
		}
	}
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	if len(procs) == 0 {
		found["no processes at all: the test is blind"] = true
	}
	for _, p := range procs {
		b, _ := os.ReadFile(p)
		look("environment of another process", string(b))
	}
	cmds, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range cmds {
		b, _ := os.ReadFile(p)
		look("command line of a process", string(b))
	}
	for _, dir := range []string{"/github", "/home", "/root", "/tmp", "/opt", ".."} {
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if b, err := os.ReadFile(path); err == nil {
					look("file "+path, string(b))
				}
			}
			return nil
		})
	}
	if fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
		found["no sockets at all: the test is blind"] = true
	} else if syscall.Connect(fd, &syscall.SockaddrUnix{Name: "/var/run/docker.sock"}) == nil {
		found["docker.sock opens"] = true
	}
	for _, path := range []string{"/github/file_commands/output", "/github/file_commands/env", "/github/file_commands/path", "/github/file_commands/summary", "/github/workspace/app.go", "/github/workspace/.git/config", "/usr/local/bin/triagebot", "/usr/local/go/bin/go"} {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			f.Close()
			found["can write "+path] = true
		}
	}
	var all []string
	for f := range found {
		all = append(all, f)
	}
	sort.Strings(all)
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "CapEff:") && strings.Trim(line[7:], "\t 0") != "" {
			all = append(all, "has capabilities "+line)
		}
	}
	t.Fatalf("hunted as uid %d gid %d, found <%s>", os.Getuid(), os.Getgid(), strings.Join(all, "; "))
}
`

// run is one run of the container action.
type run struct {
	t    *testing.T
	work string
	log  string
	code int
}

// start runs the image and keeps what it says.
func (r *run) start(image string, pairs ...string) {
	r.t.Helper()
	for name, value := range secrets {
		pairs = append(pairs, name+"="+value)
	}
	c := exec.Command(filepath.Join(root, ".ci", "run-as-action.sh"), append([]string{image, r.work}, pairs...)...)
	out, err := c.CombinedOutput()
	r.log = string(out)
	if err != nil && c.ProcessState.ExitCode() < 0 {
		r.t.Fatal(err)
	}
	r.code = c.ProcessState.ExitCode()
	r.t.Cleanup(func() { // the container's files are root's
		if r.t.Failed() {
			r.t.Logf("the log of the action:\n%s", r.log)
		}
	})
}

// outputs are what later steps get.
func (r *run) outputs() map[string]string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.work, "_temp/_runner_file_commands/output"))
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]string{}
	lines := strings.Split(string(b), "\n")
	for i := 0; i < len(lines); i++ {
		name, end, heredoc := strings.Cut(lines[i], "<<")
		if !heredoc {
			if name, value, ok := strings.Cut(lines[i], "="); ok {
				out[name] = value
			}
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

func (r *run) file(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.work, path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// gateway is the address of this machine for containers.
func gateway(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func needContainer(t *testing.T) {
	t.Helper()
	if *container == "" {
		t.Skip("run with make container")
	}
}

func TestContainerTriagesAPullRequest(t *testing.T) {
	needContainer(t)
	p := pullRequest(t, hunter)
	fake := p.serveOn(t, gateway(t))
	r := &run{t: t, work: filepath.Dir(p.dir)}
	write(t, filepath.Join(r.work, "event.json"), string(p.state().PullEvent("synchronize", 7)))
	r.start(*container, "mode=measure", "command=go test ./...", "fail-on=regression", "budget=3m",
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_REPOSITORY=acme/widgets", "GITHUB_SHA="+p.merge,
		"GITHUB_RUN_ID=42", "GITHUB_RUN_ATTEMPT=1", "GITHUB_API_URL="+fake.URL(), "GITHUB_SERVER_URL=https://github.com")
	if r.code != 1 {
		t.Errorf("exit code %d, want 1: fail-on is regression", r.code)
	}
	out := r.outputs()
	if diff := cmp.Diff(map[string]string{"verdict": "yours", "regressions": "2", "should-fail": "true", "report-path": "triagebot-out/report.json"},
		map[string]string{"verdict": out["verdict"], "regressions": out["regressions"], "should-fail": out["should-fail"], "report-path": out["report-path"]}); diff != "" {
		t.Errorf("the outputs are not those (-want +got):\n%s", diff)
	}
	if s := r.file("_temp/_runner_file_commands/summary"); !strings.Contains(s, "TestAdd") {
		t.Errorf("the job summary does not name the red test:\n%s", s)
	}
	text := r.file(filepath.Join("workspace", out["report-path"]))
	var rep struct{ Schema string }
	if err := json.Unmarshal([]byte(text), &rep); err != nil || rep.Schema != "triagebot/report/v1" {
		t.Errorf("the report has schema %q, %v", rep.Schema, err)
	}
	// What the hunter found is in its message. It ran as the image's own user.
	if !strings.Contains(text, "hunted as uid 10001 gid 10001, found ") {
		t.Errorf("no word of the hunter as uid 10001 in the report:\n%s", text)
	}
	if !strings.Contains(text, `found \u003c\u003e`) && !strings.Contains(text, "found <>") {
		t.Errorf("the hunter found something:\n%s", text)
	}
	if c := fake.State().Comments; len(c) != 1 || c[0].Issue != 7 || !strings.Contains(c[0].Body, "TestAdd") {
		t.Errorf("the comments are %+v, want one on the pull request that names the red test", c)
	}
	for name, secret := range secrets {
		if strings.Contains(strings.ReplaceAll(r.log, "::add-mask::"+secret, ""), secret) || strings.Contains(text, secret) {
			t.Errorf("the secret %s stands in the log or the report", name)
		}
	}
	if dirty := git(t, filepath.Join(r.work, "workspace"), "-c", "safe.directory=*", "status", "--porcelain", "--", ":!triagebot-out"); dirty != "" {
		t.Errorf("the workspace was changed:\n%s", dirty)
	}
}
