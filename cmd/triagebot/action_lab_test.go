package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
	"github.com/triagebot/triagebot/internal/triage"
	"github.com/triagebot/triagebot/internal/workspace"
	"golang.org/x/tools/txtar"
)

// A lab is a pull request on a fake GitHub, its merge commit in a real checkout,
// and a runner around the real program.
type lab struct {
	t      *testing.T
	dir    string
	repo   string // the checkout, which is the workspace
	server *ghtest.Server
	head   string
	merge  string
	env    map[string]string
}

// The files of lab.txtar: base/ is main, head/ what the pull request changes.
func newLab(t *testing.T, archive string) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{t: t, dir: t.TempDir()}
	must(t, os.Chmod(l.dir, 0o755))
	must(t, os.Chmod(filepath.Dir(l.dir), 0o755))
	a, err := txtar.ParseFile(archive)
	must(t, err)
	for _, f := range a.Files {
		path := filepath.Join(l.dir, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, f.Data, 0o755))
	}
	l.repo = filepath.Join(l.dir, "repo")
	l.sh(`git init -q -b main repo; cd repo; git remote add origin https://github.com/acme/widgets
cp -R ../base/. .; git add -A; git commit -q -m base; git checkout -q -b fix
cp -R ../head/. .; git add -A; git commit -q -m change
git checkout -q main; echo notes > NOTES; git add -A; git commit -q -m later
git merge -q --no-ff -m merge fix; git checkout -q --detach; git branch -q -f main HEAD^1`)
	l.head, l.merge = l.sh("cd repo; git rev-parse fix"), l.sh("cd repo; git rev-parse HEAD")
	l.server = ghtest.New(t, ghtest.WithState(l.state(l.sh("cd repo; git rev-parse HEAD^1"))))
	l.environment()
	return l
}

// state is the usual one with the commits of the checkout.
func (l *lab) state(base string) ghtest.State {
	st := ghtest.Default()
	for i := range st.Pulls {
		st.Pulls[i].Base.SHA = base
	}
	st.Pulls[0].Head.SHA, st.Pulls[0].Merge = l.head, l.merge
	st.Pulls[1].Head.SHA, st.Pulls[1].Merge = l.head, l.merge
	st.Pulls[1].State = "closed"
	st.Commits = append(st.Commits,
		ghtest.Commit{SHA: base, Parents: []string{ghtest.SHA("root")}}, ghtest.Commit{SHA: l.head, Parents: []string{base}},
		ghtest.Commit{SHA: l.merge, Parents: []string{base, l.head}})
	for i := range st.Runs {
		st.Runs[i].HeadSHA, st.Runs[i].Created = l.head, time.Now().Add(-time.Hour)
	}
	return st
}

// fork makes the pull request 8, of the fork, the open one.
func (l *lab) fork() {
	l.server.Update(func(st *ghtest.State) { st.Pulls[0].State, st.Pulls[1].State = "closed", "open" })
}

func (l *lab) environment() {
	files := filepath.Join(l.dir, "files")
	must(l.t, errors.Join(os.MkdirAll(files, 0o755), os.MkdirAll(filepath.Join(l.dir, "home"), 0o755), os.MkdirAll(filepath.Join(l.dir, "temp"), 0o755), os.MkdirAll(filepath.Join(l.dir, "tmp"), 0o755)))
	shared := filepath.Join(l.dir, "shared") // for a test user too
	must(l.t, errors.Join(os.MkdirAll(shared, 0o755), os.Chmod(shared, 0o777|os.ModeSticky)))
	caches := strings.Fields(l.sh("go env GOCACHE GOMODCACHE"))
	l.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": filepath.Join(l.dir, "home"), "XDG_CACHE_HOME": filepath.Join(l.dir, "home/cache"), workspace.LockVar: filepath.Join(shared, "lock"),
		"GOCACHE": caches[0], "GOMODCACHE": caches[1], "GOPROXY": "off", "GOTOOLCHAIN": "local", "CI": "true",
		"TMPDIR": filepath.Join(l.dir, "tmp"), "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/widgets", "GITHUB_WORKSPACE": l.repo,
		"GITHUB_API_URL": l.server.URL(), "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_SHA": l.merge, "GITHUB_OUTPUT": filepath.Join(files, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(files, "summary"),
		"GITHUB_EVENT_PATH": filepath.Join(files, "event.json"), "RUNNER_TEMP": filepath.Join(l.dir, "temp"),
		"INPUT_TOKEN": l.server.Token("workflow"), "INPUT_TEST-USER": userNone, "INPUT_LAG": "off",
	}
	l.event("pull_request", l.server.State().PullEvent("synchronize", 7))
}

func (l *lab) event(name string, payload []byte) {
	l.env["GITHUB_EVENT_NAME"] = name
	must(l.t, os.WriteFile(l.env["GITHUB_EVENT_PATH"], payload, 0o644))
}

// pullEvent is the event of a pull request, as it is now.
func (l *lab) pullEvent(number int) {
	l.event("pull_request", l.server.State().PullEvent("synchronize", number))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sh runs a script in the lab's directory and returns what it prints.
func (l *lab) sh(script string) string {
	l.t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Dir = l.dir
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := c.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// step is how one run of the action ended.
type step struct {
	t       *testing.T
	code    int
	log     string
	summary string
	outputs map[string]string
}

// program is a copy of triagebot that any user may run.
func (l *lab) program() string {
	l.t.Helper()
	path := filepath.Join(l.dir, "bin", "triagebot")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	from, err := exec.LookPath("triagebot")
	must(l.t, err)
	must(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	if from, err = filepath.EvalSymlinks(from); err == nil {
		err = os.Link(from, path) // no copy where that is possible
	}
	if err != nil {
		var b []byte
		b, err = os.ReadFile(from)
		must(l.t, err)
		err = os.WriteFile(path, b, 0o755)
	}
	must(l.t, err)
	return path
}

// start begins the action with more inputs or variables, as NAME=VALUE.
func (l *lab) start(vars ...string) (*exec.Cmd, *strings.Builder) {
	l.t.Helper()
	env := map[string]string{}
	for k, v := range l.env {
		env[k] = v
	}
	for _, kv := range vars {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		must(l.t, os.WriteFile(env[name], nil, 0o644))
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), 3*time.Minute)
	l.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, l.program(), "action")
	c.Dir = l.repo
	for k, v := range env {
		c.Env = append(c.Env, k+"="+v)
	}
	log := &strings.Builder{}
	c.Stdout, c.Stderr = log, log
	return c, log
}

// act runs the action and reads what it left.
func (l *lab) act(vars ...string) step {
	l.t.Helper()
	c, log := l.start(vars...)
	return l.ended(c.Run(), c, log)
}

func (l *lab) ended(err error, c *exec.Cmd, log *strings.Builder) step {
	l.t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	s := step{t: l.t, code: c.ProcessState.ExitCode(), log: log.String(), outputs: map[string]string{}}
	summary, err := os.ReadFile(l.env["GITHUB_STEP_SUMMARY"])
	must(l.t, err)
	s.summary = string(summary)
	out, err := os.ReadFile(l.env["GITHUB_OUTPUT"])
	must(l.t, err)
	s.outputs = readOutputs(l.t, string(out))
	if bad := commandsOutsideFences(s.log); len(bad) > 0 {
		l.t.Errorf("the runner would obey %q", bad)
	}
	return s
}

// readOutputs reads the runner's file of outputs.
func readOutputs(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for lines := strings.Split(text, "\n"); len(lines) > 1; {
		name, end, ok := strings.Cut(lines[0], "<<")
		i := slices.Index(lines[1:], end)
		if !ok || i < 0 {
			t.Fatalf("the outputs are broken at %q", lines[0])
		}
		out[name] = strings.Join(lines[1:1+i], "\n")
		lines = lines[i+2:]
	}
	return out
}

// ours are the commands that the action gives the runner.
var ours = regexp.MustCompile(`^::(add-mask|(notice|warning|error) ([a-zA-Z]+=[^:]*,)*title=triagebot(,[a-zA-Z]+=[^:]*)*|group|endgroup|stop-commands)::`)

// commandsOutsideFences are lines that a runner would take for commands, and
// that are none of ours.
func commandsOutsideFences(log string) []string {
	var bad []string
	end := ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		switch {
		case end != "":
			if line == "::"+end+"::" {
				end = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			end = strings.TrimPrefix(line, "::stop-commands::")
		case (strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##[")) && !ours.MatchString(line):
			bad = append(bad, line)
		}
	}
	if end != "" {
		bad = append(bad, "the runner stays deaf")
	}
	return bad
}

func (s step) want(code int, outputs ...string) {
	s.t.Helper()
	if s.code != code {
		s.t.Fatalf("exit code %d, want %d; the log:\n%s", s.code, code, s.log)
	}
	for _, kv := range outputs {
		k, v, _ := strings.Cut(kv, "=")
		if s.outputs[k] != v {
			s.t.Errorf("output %s is %q, want %q", k, s.outputs[k], v)
		}
	}
}

// says wants an annotation.
func (s step) says(level, text string) {
	s.t.Helper()
	for line := range strings.Lines(s.log) {
		if strings.HasPrefix(line, "::"+level+" title=triagebot::") && strings.Contains(line, text) {
			return
		}
	}
	s.t.Errorf("no %s says %q; the log:\n%s", level, text, s.log)
}

// red runs the tests as a job does and leaves their report in the workspace.
func (l *lab) red() {
	l.sh("cd repo; go test -json ./... > test.json || true")
}

// report is what the action left in the workspace.
func (l *lab) report() triage.Report {
	l.t.Helper()
	r, err := readReportFile(filepath.Join(l.repo, defaultOut, reportFile))
	must(l.t, err)
	return r
}

// upload gives the folder of the action to a run, as actions/upload-artifact does.
func (l *lab) upload(run int64, name string) {
	l.t.Helper()
	files := map[string]string{}
	for _, f := range []string{reportFile, pageFile, htmlFile} {
		b, err := os.ReadFile(filepath.Join(l.repo, defaultOut, f))
		must(l.t, err)
		files[f] = string(b)
	}
	l.server.AddArtifact(run, name, files)
}

// comments are those of a pull request, of which there must be so many.
func (l *lab) comments(number, want int) []ghtest.Comment {
	l.t.Helper()
	all := l.server.Comments(number)
	if len(all) != want {
		l.t.Fatalf("%d comments on #%d, want %d: %s", len(all), number, want, fmt.Sprint(all))
	}
	return all
}

// processes are the command lines of processes that speak of the lab.
func (l *lab) processes() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), l.dir) {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}
