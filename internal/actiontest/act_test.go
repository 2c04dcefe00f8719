package actiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

var actPath = flag.String("act", "", "play the example workflows with the program act at this `PATH` (make act)")

// stage plays the workflows of docs/workflows as a user has them: act runs every
// step on this machine, our action is a release that is downloaded, and GitHub is
// the fake. Three things are not the real ones: the container action is replaced
// by the one on the runner (act has no container without an image), checkout is
// act's own, and setup-go, upload-artifact are stubs.
type stage struct {
	t         *testing.T
	pull      *pull
	fake      *ghtest.Server
	dir       string // all that act and the workflows write
	artifacts string
	attempt   int
	// lost is the artifact that never arrives.
	lost string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if *actPath == "" {
		t.Skip("run with make act")
	}
	s := &stage{t: t, pull: pullRequest(t, "package app\n"), dir: t.TempDir(), attempt: 1}
	s.fake = ghtest.New(t, ghtest.WithState(s.pull.state()))
	s.artifacts = filepath.Join(s.dir, "artifacts")
	if err := os.Mkdir(s.artifacts, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, s.pull.dir, "remote", "add", "origin", "https://github.com/acme/widgets")
	s.ourRelease()
	write(t, filepath.Join(s.dir, "setup-go", "action.yml"), "name: stub\nruns:\n  using: composite\n  steps:\n    - {shell: bash, run: go version}\n")
	write(t, filepath.Join(s.dir, "upload-artifact", "action.yml"), `name: stub
inputs:
  name: {description: Name.}
  path: {description: Folder.}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: '${{ inputs.name }}', FROM: '${{ inputs.path }}'}
      run: |
        if [ "$NAME" = "$LOST" ]; then exit 0; fi # as if the machine had died
        mkdir "$ARTIFACTS/$NAME"
        if [ -d "$FROM" ]; then FROM=$FROM/.; fi
        cp -r "$FROM" "$ARTIFACTS/$NAME"
`)
	write(t, filepath.Join(s.dir, "download-artifact", "action.yml"), `name: stub
inputs:
  name: {description: Name.}
  pattern: {description: Names.}
  path: {description: Folder., default: .}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: '${{ inputs.name }}', PATTERN: '${{ inputs.pattern }}', TO: '${{ inputs.path }}'}
      run: |
        mkdir -p "$TO"
        if [ -n "$NAME" ]; then cp -r "$ARTIFACTS/$NAME/." "$TO"; exit; fi
        for dir in "$ARTIFACTS"/$PATTERN; do cp -r "$dir" "$TO"; done
`)
	return s
}

// ourRelease is what triagebot/triagebot@v1 holds after a release.
func (s *stage) ourRelease() {
	binary, err := os.ReadFile(triagebot(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(binary) }))
	s.t.Cleanup(server.Close)
	host := string(readFile(s.t, "host/action.yml"))
	for path, text := range map[string]string{
		"action.yml":      strings.ReplaceAll(host, "$GITHUB_ACTION_PATH/binary.sh", "$GITHUB_ACTION_PATH/host/binary.sh"),
		"host/action.yml": host,
		"host/binary.sh":  string(readFile(s.t, "host/binary.sh")),
		"host/RELEASE":    server.URL + "\n",
		"host/SHA256SUMS": sumOf(string(binary)) + "  " + releaseName() + "\n",
	} {
		write(s.t, filepath.Join(s.dir, "triagebot", path), text)
	}
}

// playTime is far above what a workflow takes here: 15 seconds, and a minute with an
// empty build cache.
const playTime = 8 * time.Minute

// play runs a workflow on an event and gives the log and whether it was green.
func (s *stage) play(workflow, event string, payload []byte) (log string, green bool) {
	s.t.Helper()
	file := filepath.Join(s.dir, "event.json")
	write(s.t, file, string(payload))
	// Copies: the checkout may lie where only its owner may read.
	text := readFile(s.t, "docs/workflows/"+workflow)
	copied := filepath.Join(s.dir, "workflows", workflow)
	write(s.t, copied, string(text))
	goCache := filepath.Join(programs(s.t), "go-cache") // one for all tests: filling it takes most of a minute
	if err := os.MkdirAll(goCache, 0o755); err != nil {
		s.t.Fatal(err)
	}
	args := []string{event, "-e", file, "-W", copied,
		"-P", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-", "-s", "GITHUB_TOKEN=" + workflowToken}
	for _, m := range regexp.MustCompile(`uses: ([\w.-]+/([\w.-]+))[\w./-]*(@\S+)`).FindAllSubmatch(text, -1) {
		if name := string(m[2]); name != "checkout" {
			args = append(args, "--local-repository", fmt.Sprintf("%s%s=%s", m[1], m[3], filepath.Join(s.dir, name)))
		}
	}
	for name, value := range map[string]string{
		"GITHUB_API_URL": s.fake.URL(), "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": fmt.Sprint(s.attempt),
		"ARTIFACTS": s.artifacts, "LOST": s.lost, "RUNNER_TEMP": filepath.Join(s.dir, "temp"),
		"GOCACHE": goCache, "GOTOOLCHAIN": "local", "TRIAGEBOT_LOCK": filepath.Join(s.dir, "temp", "lock"),
	} {
		args = append(args, "--env", name+"="+value)
	}
	asRunner(s.t, exec.Command("true"), goCache)
	ctx, cancel := context.WithTimeout(s.t.Context(), playTime)
	defer cancel()
	c := exec.CommandContext(ctx, actCopy(s.t), args...)
	c.WaitDelay = time.Second
	c.Dir = s.pull.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"),
		"XDG_CACHE_HOME=" + filepath.Join(s.dir, "cache"), "TMPDIR=" + filepath.Join(s.dir, "temp")}
	for _, d := range []string{"home", "cache", "temp"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	asRunner(s.t, c, s.dir, s.pull.dir)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("act %s %s:\n%s", event, workflow, out.String())
		}
	})
	return out.String(), err == nil
}

// actCopy is act where any user may run it.
func actCopy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(programs(t), "act")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	program, err := os.ReadFile(*actPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// report is the report that a run of a workflow left as an artifact.
func (s *stage) report(artifact string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.artifacts, artifact, "report.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// upload gives the artifacts of the finished run 42 to the fake, as the runner
// would have.
func (s *stage) upload(names ...string) {
	s.t.Helper()
	s.fake.Update(func(st *ghtest.State) {
		for i, name := range names {
			files := map[string]string{}
			dir := filepath.Join(s.artifacts, name)
			err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				rel, _ := filepath.Rel(dir, path) // path is below dir
				files[filepath.ToSlash(rel)] = string(text)
				return err
			})
			if err != nil {
				s.t.Fatal(err)
			}
			st.Artifacts = append(st.Artifacts, ghtest.Artifact{ID: int64(700 + i), Run: 42, Name: name, Files: files})
		}
	})
}

func (s *stage) comments() []ghtest.Comment { return s.fake.State().Comments }

// wantOneComment checks what the pull request got to read.
func (s *stage) wantOneComment() {
	s.t.Helper()
	c := s.comments()
	if len(c) != 1 || c[0].Issue != 7 || c[0].User != "github-actions[bot]" || !strings.Contains(c[0].Body, "TestAdd") || !strings.Contains(c[0].Body, "likely regression") {
		s.t.Fatalf("the comments are %+v, want one on pull request 7 that calls TestAdd a likely regression", c)
	}
}

func TestPlayStepThenPublish(t *testing.T) {
	s := newStage(t)
	log, green := s.play("failed-ci-step.yml", "pull_request", s.pull.state().PullEvent("synchronize", 7))
	if green {
		t.Errorf("a red job became green")
	}
	if strings.Contains(log, workflowToken) {
		t.Errorf("the token stands in the log")
	}
	wantRegression(t, s.report("triagebot-report-test"))
	if c := s.comments(); len(c) != 0 {
		t.Errorf("the half that measures commented: %+v", c)
	}

	s.upload("triagebot-report-test")
	event := s.fake.State().RunEvent(42)
	if log, green := s.play("publish.yml", "workflow_run", event); !green {
		t.Fatalf("publishing failed:\n%s", log)
	}
	s.wantOneComment()
	s.play("publish.yml", "workflow_run", event)
	s.wantOneComment()
	if n := s.comments()[0].Edits; n != 0 {
		t.Errorf("the same report edited the comment %d times", n)
	}
}

func TestPlayCommandStep(t *testing.T) {
	s := newStage(t)
	if _, green := s.play("failed-ci-command.yml", "pull_request", s.pull.state().PullEvent("synchronize", 7)); !green {
		t.Errorf("with fail-on none the step fails")
	}
	wantRegression(t, s.report("triagebot-report-test"))
	s.wantOneComment()
}

func TestPlayJobAfterTheRedOne(t *testing.T) {
	s := newStage(t)
	s.fake.Update(func(st *ghtest.State) {
		st.Runs[0].Attempts[0].Jobs[0].Log = strings.ReplaceAll("\ufeff##[group]Run go test ./...\n##[endgroup]\n--- FAIL: TestAdd (0.00s)\n    app_test.go:7: Add(1, 2) = -1, want 3\nFAIL\nFAIL\texample.com/app\t0.002s\nFAIL\n##[error]Process completed with exit code 1.\n", "\n", "\n2026-01-02T03:04:05.1234567Z ")
	})
	if _, green := s.play("failed-ci-job.yml", "pull_request", s.pull.state().PullEvent("synchronize", 7)); green {
		t.Errorf("a red workflow became green")
	}
	wantRegression(t, s.report("triagebot-report-triage"))
	s.wantOneComment()
}

func TestPlayTriageCommand(t *testing.T) {
	s := newStage(t)
	if log, green := s.say("dave", "/triage runs=3"); !green {
		t.Errorf("refusing failed:\n%s", log)
	}
	if n := len(s.fake.State().Reruns); n != 0 {
		t.Fatalf("somebody who may only read started %d runs", n)
	}
	if log, green := s.say("bob", "/triage runs=3"); !green {
		t.Errorf("the command failed:\n%s", log)
	}
	if r := s.fake.State().Reruns; len(r) != 1 || r[0].Run != 42 {
		t.Errorf("the new runs are %+v, want one of run 42", r)
	}
	reactions := map[string]string{}
	for _, c := range s.comments() {
		for _, r := range c.Reactions {
			reactions[c.User] += " " + r.Content
		}
	}
	if reactions["bob"] == "" || reactions["dave"] == reactions["bob"] {
		t.Errorf("the reactions are %q, want bob to see that it was taken, and dave that it was not", reactions)
	}
	// The run that it started measures as the comment asked.
	s.attempt = 2
	log, _ := s.play("failed-ci-step.yml", "pull_request", s.fake.State().PullEvent("synchronize", 7))
	if !strings.Contains(log, "This attempt was started by /triage") {
		t.Errorf("the second attempt does not know of the command")
	}
	if text := s.report("triagebot-report-test"); !strings.Contains(text, "leaning-regression") {
		t.Errorf("three runs cannot tell, so the second attempt did more:\n%s", text)
	}
}

// say plays the workflow of commands on a new comment of a user.
func (s *stage) say(user, text string) (log string, green bool) {
	s.t.Helper()
	var event map[string]any
	if err := json.Unmarshal(s.pull.state().CommentEvent(7, user, text), &event); err != nil {
		s.t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	comment := event["comment"].(map[string]any)
	comment["created_at"], comment["updated_at"] = now, now
	id := int64(comment["id"].(float64))
	payload, err := json.Marshal(event)
	if err != nil {
		s.t.Fatal(err)
	}
	s.fake.Update(func(st *ghtest.State) { // every event of the fake has the same comment
		for i := range st.Comments {
			if st.Comments[i].ID == id {
				st.Comments[i].ID = 8000
			}
		}
		st.Comments = append(st.Comments, ghtest.Comment{ID: id, Issue: 7, User: user, Body: text, Created: now, Updated: now})
	})
	return s.play("triage-command.yml", "issue_comment", payload)
}

func TestPlaySweep(t *testing.T) {
	s := newStage(t)
	s.play("sweep.yml", "schedule", s.pull.state().ScheduleEvent(12, "23 3 * * *"))
	if text := s.report("triagebot-report-sweep"); !strings.Contains(text, "TestAdd") {
		t.Errorf("the report does not name the red test:\n%s", text)
	}
	if c := s.comments(); len(c) != 0 {
		t.Errorf("a sweep commented: %+v", c)
	}
}

// wantRegression checks the record that a workflow left.
func wantRegression(t *testing.T, text string) {
	t.Helper()
	var r struct {
		Verdicts []struct {
			Target struct{ Test string }
			Class  string
		}
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Verdicts {
		if v.Target.Test == "TestAdd" && v.Class == "likely-regression" {
			return
		}
	}
	t.Errorf("the verdicts are %+v, want TestAdd as a likely regression", r.Verdicts)
}

func init() {
	if runtime.GOOS == "windows" {
		*actPath = "" // the stubs need a Unix shell
	}
}
