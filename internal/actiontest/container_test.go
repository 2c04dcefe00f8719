package actiontest

import (
	"archive/tar"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

var container = flag.String("container", "", "run the container tests with this `IMAGE` of the full target (make container)")
var slim = flag.String("slim", "", "the `IMAGE` of the slim target")

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
	r.takeBack()
	if err != nil && c.ProcessState.ExitCode() < 0 {
		r.t.Fatal(err)
	}
	r.code = c.ProcessState.ExitCode()
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("the log of the action:\n%s", r.log)
		}
	})
}

// takeBack makes the files that the container left as root those of who runs the
// tests, who has to read and to remove them.
func (r *run) takeBack() {
	r.t.Helper()
	owner := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	if out, err := exec.Command("docker", "run", "--rm", "-v", r.work+":/work", "--entrypoint", "chown", *container, "-R", owner, "/work").CombinedOutput(); err != nil {
		r.t.Fatalf("taking the files back: %v\n%s", err, out)
	}
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

// measured is the command step in the container, on the pull request of the hunter.
func measured(t *testing.T, inputs ...string) (*run, *pull, *ghtest.Server) {
	t.Helper()
	needContainer(t)
	p := pullRequest(t, hunter)
	fake := p.serveOn(t, gateway(t))
	r := &run{t: t, work: filepath.Dir(p.dir)}
	write(t, filepath.Join(r.work, "event.json"), string(p.state().PullEvent("synchronize", 7)))
	r.start(*container, append(inputs, "mode=measure", "GITHUB_EVENT_NAME=pull_request", "GITHUB_REPOSITORY=acme/widgets",
		"GITHUB_SHA="+p.merge, "GITHUB_RUN_ID=42", "GITHUB_RUN_ATTEMPT=1", "GITHUB_API_URL="+fake.URL(), "GITHUB_SERVER_URL=https://github.com")...)
	return r, p, fake
}

func TestContainerTriagesAPullRequest(t *testing.T) {
	r, p, fake := measured(t, "command=go test ./...", "fail-on=regression", "budget=3m")
	if r.code != 1 {
		t.Errorf("exit code %d, want 1: fail-on is regression", r.code)
	}
	out := r.outputs()
	want := map[string]string{"verdict": "yours", "regressions": "2", "should-fail": "true", "report-path": "triagebot-out/report.json"}
	got := map[string]string{}
	for name := range want {
		got[name] = out[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the outputs are not those (-want +got):\n%s", diff)
	}
	if s := r.file("_temp/_runner_file_commands/summary"); !strings.Contains(s, "TestAdd") {
		t.Errorf("the job summary does not name the red test:\n%s", s)
	}
	text := r.file(filepath.Join("workspace", out["report-path"]))
	if found := hunted(t, text); found != "" {
		t.Errorf("as user 10001 the hunter found: %s", found)
	}
	if c := fake.State().Comments; len(c) != 1 || c[0].Issue != 7 || !strings.Contains(c[0].Body, "TestAdd") {
		t.Errorf("the comments are %+v, want one on the pull request that names the red test", c)
	}
	for name, secret := range secrets {
		if strings.Contains(strings.ReplaceAll(r.log, "::add-mask::"+secret, ""), secret) || strings.Contains(text, secret) {
			t.Errorf("the secret %s stands in the log or the report", name)
		}
	}
	if dirty := git(t, p.dir, "-c", "safe.directory=*", "status", "--porcelain", "--", ":!triagebot-out"); dirty != "" {
		t.Errorf("the workspace was changed:\n%s", dirty)
	}
	slimPublishes(t, p, text)
}

// hunted is what the hunter of a report found, as the user of the image.
func hunted(t *testing.T, report string) string {
	t.Helper()
	m := regexp.MustCompile(`hunted as uid (\d+) gid (\d+), found (?:<|\\u003c)(.*?)(?:>|\\u003e)`).FindStringSubmatch(report)
	if m == nil {
		t.Fatalf("no word of the hunter in the report:\n%s", report)
	}
	if m[1] != "10001" || m[2] != "10001" {
		t.Errorf("the tests ran as %s:%s, want the image's own user 10001:10001", m[1], m[2])
	}
	return m[3]
}

// slimPublishes gives the report of a run to the image without a shell.
func slimPublishes(t *testing.T, p *pull, report string) {
	fake := p.serveOn(t, gateway(t))
	fake.Update(func(st *ghtest.State) {
		st.Artifacts = []ghtest.Artifact{{ID: 700, Run: 42, Name: "triagebot-report-test", Files: map[string]string{"report.json": report}}}
	})
	r := &run{t: t, work: t.TempDir()}
	write(t, filepath.Join(r.work, "event.json"), string(p.state().RunEvent(42)))
	write(t, filepath.Join(r.work, "workspace", "README"), "An empty workspace: nothing was checked out.\n")
	r.start(*slim, "mode=publish", "workflow=ci.yml", "GITHUB_EVENT_NAME=workflow_run", "GITHUB_REPOSITORY=acme/widgets",
		"GITHUB_RUN_ID=99", "GITHUB_RUN_ATTEMPT=1", "GITHUB_API_URL="+fake.URL(), "GITHUB_SERVER_URL=https://github.com")
	if c := fake.State().Comments; r.code != 0 || len(c) != 1 || !strings.Contains(c[0].Body, "TestAdd") {
		t.Errorf("publishing ended with %d and the comments %+v", r.code, c)
	}
	if url := r.outputs()["comment-url"]; !strings.HasPrefix(url, "https://github.com/acme/widgets/") {
		t.Errorf("the output comment-url is %q", url)
	}
}

// That the hunter finds nothing must not be because it is blind: where tests stay
// root, as they do when told to, it finds what there is.
func TestContainerHunterSeesWhatRootSees(t *testing.T) {
	r, _, _ := measured(t, "command=go test -run TestHunt ./...", "comment=off", "test-user=none", "max-trials=1", "lag=off")
	text := r.file("workspace/triagebot-out/report.json")
	for _, want := range []string{"hunted as uid 0", "docker.sock opens", "can write /github/file_commands/output", "has capabilities"} {
		if !strings.Contains(text, want) {
			t.Errorf("the hunter as root does not say %q", want)
		}
	}
}

func TestContainerRefusesWrongInputs(t *testing.T) {
	needContainer(t)
	p := pullRequest(t, "package app\n")
	r := &run{t: t, work: filepath.Dir(p.dir)}
	write(t, filepath.Join(r.work, "event.json"), string(p.state().PullEvent("synchronize", 7)))
	r.start(*container, "mode=measrue", "GITHUB_EVENT_NAME=pull_request", "GITHUB_REPOSITORY=acme/widgets")
	if r.code != 2 || !strings.Contains(r.log, "::error title=triagebot::") || !strings.Contains(r.log, "measrue") {
		t.Errorf("a wrong mode ends with %d, want 2 and an annotation that quotes it", r.code)
	}
}

// byTheEngine are the files that Docker puts into every container.
var byTheEngine = []string{".dockerenv", "dev/console", "etc/hostname", "etc/hosts", "etc/resolv.conf"}

// The slim image has nothing that could run code.
func TestContainerSlimHoldsOneProgram(t *testing.T) {
	needContainer(t)
	out, err := exec.Command("docker", "create", *slim).Output()
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	t.Cleanup(func() { exec.Command("docker", "rm", id).Run() })
	tarball := exec.Command("docker", "export", id)
	pipe, err := tarball.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.Start(); err != nil {
		t.Fatal(err)
	}
	var programs []string
	for files := tar.NewReader(pipe); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg && h.Mode&0o111 != 0 && !slices.Contains(byTheEngine, h.Name) {
			programs = append(programs, h.Name)
		}
	}
	if err := tarball.Wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"usr/local/bin/triagebot"}, programs); diff != "" {
		t.Errorf("the programs of the slim image (-want +got):\n%s", diff)
	}
}
