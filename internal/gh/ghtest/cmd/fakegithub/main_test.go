package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// runAsFake makes the test binary be the command.
const runAsFake = "FAKEGITHUB_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runAsFake) != "" {
		main()
	}
	os.Exit(m.Run())
}

// line is a line of the command's output.
type line struct {
	Listening map[string]string
	Request   *ghtest.Request
	State     *ghtest.State
}

// fake is the command in another process.
type fake struct {
	cmd   *exec.Cmd
	url   string
	lines *bufio.Scanner
}

func start(t *testing.T, args ...string) *fake {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{cmd: exec.Command(exe, args...)}
	f.cmd.Env = append(os.Environ(), runAsFake+"=1")
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.cmd.Process.Kill() }) //nolint:errcheck // it has ended
	f.lines = bufio.NewScanner(out)
	f.lines.Buffer(nil, 1<<20)
	f.url = f.next(t).Listening["url"]
	return f
}

func (f *fake) next(t *testing.T) line {
	t.Helper()
	var l line
	if !f.lines.Scan() {
		t.Fatalf("no more lines: %v", f.lines.Err())
	}
	if err := json.Unmarshal(f.lines.Bytes(), &l); err != nil {
		t.Fatalf("%s: %v", f.lines.Text(), err)
	}
	return l
}

func (f *fake) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ghtest-workflow")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// end stops it as a shell would, and gives the state that it dumps.
func (f *fake) end(t *testing.T) (*ghtest.State, int) {
	t.Helper()
	if err := f.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var st *ghtest.State
	for st == nil {
		st = f.next(t).State
	}
	f.cmd.Wait() //nolint:errcheck // the exit code tells
	return st, f.cmd.ProcessState.ExitCode()
}

func TestTheStateIsServedAndDumpedAtTheEnd(t *testing.T) {
	var text bytes.Buffer
	if code, err := run(context.Background(), []string{"-print-state"}, &text); code != exitFine || err != nil {
		t.Fatal(code, err)
	}
	name := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(name, bytes.ReplaceAll(text.Bytes(), []byte("Fix the outbox"), []byte("Mend it")), 0o600); err != nil {
		t.Fatal(err)
	}
	f := start(t, "-state", name)
	if code, body := f.ask(t, "GET", "/repos/acme/widgets/pulls/7", ""); code != 200 || !strings.Contains(body, "Mend it") {
		t.Errorf("got %d %s", code, body)
	}
	if l := f.next(t); l.Request == nil || l.Request.Path != "/repos/acme/widgets/pulls/7" || l.Request.Token != "workflow" || l.Request.Status != 200 {
		t.Errorf("the journal has %+v", l.Request)
	}
	f.ask(t, "POST", "/repos/acme/widgets/issues/7/comments", `{"body":"hello"}`)
	if code, body := f.ask(t, "GET", "/_state", ""); code != 200 || !strings.Contains(body, "hello") {
		t.Errorf("/_state is %d %s", code, body)
	}
	st, code := f.end(t)
	if code != exitFine || len(st.Comments) != 1 || st.Comments[0].Body != "hello" {
		t.Errorf("exit %d, comments %v", code, st.Comments)
	}
}

func TestABreachIsAnsweredNotedAndTheExitCode(t *testing.T) {
	f := start(t)
	if code, body := f.ask(t, "GET", "/repos/acme/widgets/pull/7", ""); code != 500 || !strings.Contains(body, "no path like") {
		t.Errorf("got %d %s", code, body)
	}
	if l := f.next(t); l.Request == nil || !strings.Contains(l.Request.Problem, "no path like") {
		t.Errorf("the journal has %+v", l.Request)
	}
	if _, code := f.end(t); code != exitBreach {
		t.Errorf("exit %d", code)
	}
}

func TestItIsSteeredFromOutside(t *testing.T) {
	f := start(t)
	zip := string(ghtest.Zip(map[string]string{"report.json": "{}"}))
	if code, body := f.ask(t, "POST", "/_artifacts?run=42&name=triage", zip); code != 200 {
		t.Errorf("uploading: %d %s", code, body)
	}
	if code, body := f.ask(t, "GET", "/repos/acme/widgets/actions/runs/42/artifacts", ""); code != 200 || !strings.Contains(body, `"name":"triage"`) {
		t.Errorf("listing: %d %s", code, body)
	}
	if code, body := f.ask(t, "POST", "/_faults", `{"match":"GET /repos/{owner}/{repo}/pulls","status":503}`); code != 200 {
		t.Errorf("planning a fault: %d %s", code, body)
	}
	if code, _ := f.ask(t, "GET", "/repos/acme/widgets/pulls", ""); code != 503 {
		t.Errorf("the fault: %d", code)
	}
	if code, _ := f.ask(t, "PUT", "/_state", `{"repo":{"id":5,"owner":"x","name":"y","default_branch":"main"},"tokens":[{"name":"workflow","user":"bob"}]}`); code != 200 {
		t.Errorf("replacing the state: %d", code)
	}
	if code, body := f.ask(t, "GET", "/repos/x/y", ""); code != 200 || !strings.Contains(body, `"id":5`) {
		t.Errorf("the new state: %d %s", code, body)
	}
	for path, body := range map[string]string{"/_state": `{"pull":[]}`, "/_faults": `{}`, "/_artifacts?run=x": "", "/_artifacts?run=7": ""} {
		method := "POST"
		if path == "/_state" {
			method = "PUT"
		}
		if code, _ := f.ask(t, method, path, body); code != 400 && code != 404 {
			t.Errorf("%s %s: %d", path, body, code)
		}
	}
	if code, body := f.ask(t, "GET", "/_requests", ""); code != 200 || strings.Count(body, `"method"`) != 3 {
		t.Errorf("the journal: %d %s", code, body)
	}
	f.end(t)
}

func TestBadUsageSaysWhy(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(bad, []byte(`{"repos":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":         {[]string{"-state", bad + "x"}, "opening the state"},
		"an unknown key":  {[]string{"-state", bad}, `unknown field "repos"`},
		"an argument":     {[]string{"now"}, `unexpected argument "now"`},
		"no such event":   {[]string{"-event", "party"}, `there is no event "party"`},
		"a taken address": {[]string{"-listen", "256.0.0.1:1"}, "listening for the API"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, err := run(context.Background(), tc.args, io.Discard); code != exitUsage || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("exit %d, %v", code, err)
			}
		})
	}
}

func TestEventsArePrinted(t *testing.T) {
	var names, payload bytes.Buffer
	if code, err := run(context.Background(), []string{"-event", "list"}, &names); code != exitFine || err != nil || !strings.Contains(names.String(), "workflow_run.fork\n") {
		t.Errorf("exit %d, %v: %s", code, err, &names)
	}
	if code, err := run(context.Background(), []string{"-event", "workflow_run.fork"}, &payload); code != exitFine || err != nil || !json.Valid(payload.Bytes()) {
		t.Errorf("exit %d, %v", code, err)
	}
}
