package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

const appArchive = "testdata/app.txtar"

// One step of a job that was red: measure, comment, outputs; and the same again.
func TestActionMeasuresAndComments(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	s := l.act("INPUT_REPORTS=test.json", "INPUT_FAIL-ON=regression", "INPUT_MODE=measure")
	s.want(exitPolicy, "verdict=yours", "regressions=2", "inconclusive=0", "report-path=triagebot-out/report.json", "artifact-path=triagebot-out", "should-fail=true")
	s.says("error", "This pull request broke 2 tests")
	if !regexp.MustCompile(`(?m)^::warning .*file=calc/calc_test.go.*::TestDouble: likely regression$`).MatchString(s.log) {
		t.Errorf("no annotation at the failure; the log:\n%s", s.log)
	}
	c := l.comments(7, 1)[0]
	if s.outputs["comment-url"] == "" || c.User != "github-actions[bot]" {
		t.Errorf("comment %q by %s", s.outputs["comment-url"], c.User)
	}
	for page, text := range map[string]string{"comment": c.Body, "summary": s.summary} {
		if !strings.Contains(text, "This pull request broke 2 tests") || !strings.Contains(text, "`TestDouble`") || strings.Contains(text, "advice") {
			t.Errorf("the %s:\n%s", page, text)
		}
	}
	r := l.report()
	if r.Check.Head.SHA != l.merge || r.Check.Repo != "acme/widgets" {
		t.Errorf("the report is about %+v of %s", r.Check.Head, r.Check.Repo)
	}
	if got := l.sh("cd repo; git status --porcelain"); got != "?? test.json" {
		t.Errorf("left in the workspace: %s", got)
	}
	if left, _ := os.ReadDir(l.env["TMPDIR"]); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, q := range l.server.Requests() {
		if q.Problem != "" {
			t.Errorf("%s %s: %s", q.Method, q.Path, q.Problem)
		}
	}
}

func TestActionRunsTheCommandAndIsSilentOnGreen(t *testing.T) {
	l := newLab(t, appArchive)
	l.act("INPUT_COMMAND=go test ./calc").want(exitOK, "verdict=yours", "regressions=2", "should-fail=false")
	l.comments(7, 1)
	// Another job of the same run is green: that takes nothing of it away.
	l.act("INPUT_COMMAND=go test ./text").says("notice", "give each its own check-name")
	if c := l.comments(7, 1)[0]; !strings.Contains(c.Body, "This pull request broke 2 tests") {
		t.Errorf("the comment of the other job is gone:\n%s", c.Body)
	}
	s := l.act("INPUT_COMMAND=go test ./text", "GITHUB_RUN_ATTEMPT=2")
	s.want(exitOK, "verdict=green", "regressions=0", "report-path=")
	s.says("notice", "The suite is green")
	if c := l.comments(7, 1)[0]; !strings.Contains(c.Body, "The check is green") {
		t.Errorf("the comment was not corrected:\n%s", c.Body)
	}
}

// A fork's token only reads: summary and artifact here, and the comment from the
// privileged half, which takes the pull request from the API.
// The tests of the job had a variable that those of the measuring half have not.
func TestActionExcusesNobodyForWantOfAVariable(t *testing.T) {
	l := newLab(t, "testdata/script/kept.txtar")
	l.sh("cp ci.jsonl repo/ci.jsonl")
	for name, c := range map[string]struct {
		vars          []string
		verdict, says string
	}{
		"set for the job":      {[]string{"STRICT_PRICES=1"}, "verdict=inconclusive", "--pass-env STRICT_PRICES"},
		"set for another step": {[]string{"GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/ci.yml@refs/pull/7/merge"}, "verdict=inconclusive", "a step of .github/workflows/ci.yml sets"},
		"given to the tests":   {[]string{"STRICT_PRICES=1", "INPUT_PASS-ENV=STRICT_PRICES"}, "verdict=yours", "likely-regression"},
		"unknown to all":       {nil, "verdict=not-yours", "broken-on-base"},
	} {
		l.act(append(c.vars, "INPUT_REPORTS=ci.jsonl")...).want(exitOK, c.verdict)
		report, err := os.ReadFile(filepath.Join(l.repo, defaultOut, "report.json"))
		must(t, err)
		if !strings.Contains(string(report), c.says) {
			t.Errorf("%s: the report does not say %q", name, c.says)
		}
	}
}

func TestActionOnAForkMeasuresAndPublishesInTwoHalves(t *testing.T) {
	l := newLab(t, appArchive)
	l.fork()
	l.red()
	l.pullEvent(8)
	s := l.act("INPUT_REPORTS=test.json", "INPUT_TOKEN="+l.server.Token("fork"))
	s.want(exitOK, "verdict=yours", "comment-url=")
	s.says("notice", "comes from a fork")
	l.comments(8, 0)
	if !strings.Contains(s.summary, "TestDouble") {
		t.Errorf("the summary:\n%s", s.summary)
	}
	s = l.act("INPUT_REPORTS=test.json", "INPUT_TOKEN="+l.server.Token("fork"), "INPUT_COMMENT=always")
	s.want(exitError)
	s.says("error", "403")

	l.upload(43, "triagebot-report-test-1")
	l.event("workflow_run", l.server.State().RunEvent(43))
	s = l.act("GITHUB_WORKSPACE="+t.TempDir(), "INPUT_WORKFLOW=ci.yml")
	s.want(exitOK, "verdict=yours", "regressions=2")
	c := l.comments(8, 1)[0]
	if !strings.Contains(c.Body, "take it as advice") || !strings.Contains(c.Body, "`TestDouble`") {
		t.Errorf("the comment:\n%s", c.Body)
	}
	l.comments(7, 0)
}

// A token without the right, on a pull request of the repository's own.
func TestActionSaysWhichPermissionIsMissing(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	s := l.act("INPUT_REPORTS=test.json", "INPUT_TOKEN="+l.server.Token("fork"), "INPUT_FAIL-ON=introduced")
	s.want(exitPolicy, "comment-url=", "should-fail=true")
	s.says("warning", "pull-requests: write")
	l.env["INPUT_TOKEN"] = ""
	s = l.act("INPUT_REPORTS=test.json")
	s.want(exitOK, "verdict=yours", "comment-url=")
	s.says("warning", "there is no token")
}

// A job that follows the red one reads its log.
func TestActionReadsTheLogsOfFailedJobs(t *testing.T) {
	l := newLab(t, appArchive)
	log := l.sh("cd repo; go test ./... || true")
	stamped := ""
	for line := range strings.Lines(log) {
		stamped += "2026-01-02T03:04:05.1234567Z " + line
	}
	l.server.Update(func(st *ghtest.State) { st.Runs[0].Attempts[0].Jobs[0].Log = stamped + "\n" })
	l.act("INPUT_LOG-JOBS=test").want(exitOK, "verdict=yours", "regressions=2")
	if r := l.report(); r.Check.Source != "log" {
		t.Errorf("the reds come from %q", r.Check.Source)
	}
	s := l.act("INPUT_LOG-JOBS=lint")
	s.want(exitOK, "verdict=green")
	s.says("notice", "no job of this run has failed")

	s = l.act("INPUT_LOG-JOBS=build")
	s.want(exitError)
	s.says("error", "follow the red one")

	s = l.act("INPUT_TOKEN=")
	s.want(exitError)
	s.says("error", "a token that may read the logs")

	l.server.Update(func(st *ghtest.State) { st.Runs[0].Attempts[0].Jobs[0].LogState = ghtest.LogLost })
	s = l.act("INPUT_LOG-JOBS=test")
	s.want(exitError)
	s.says("error", `"test" left no log`)
}

// /triage: the privileged half starts the run again, and the measuring job of
// the new attempt finds its options.
func TestActionCarriesOutACommand(t *testing.T) {
	l := newLab(t, appArchive)
	id := l.server.AddComment(7, "bob", "/triage example.com/app/calc.TestDouble runs=30 lag=off")
	l.event("issue_comment", commentEvent(t, l, id))
	s := l.act("INPUT_WORKFLOW=ci.yml", "INPUT_COOLDOWN=1m")
	s.want(exitOK, "verdict=none")
	st := l.server.State()
	if len(st.Reruns) != 1 || st.Reruns[0].Run != 42 || st.Reruns[0].Kind != "all" {
		t.Fatalf("reruns %+v; the log:\n%s", st.Reruns, s.log)
	}
	all := l.comments(7, 2)
	if !strings.Contains(all[1].Body, l.head) || !strings.Contains(all[1].Body, "One test is triaged") {
		t.Errorf("the reply:\n%s", all[1].Body)
	}
	var reactions []string
	for _, r := range all[0].Reactions {
		reactions = append(reactions, r.Content)
	}
	if strings.Join(reactions, " ") != "eyes rocket" {
		t.Errorf("reactions %v", reactions)
	}

	l.red()
	l.pullEvent(7)
	s = l.act("INPUT_REPORTS=test.json", "GITHUB_RUN_ATTEMPT=2", "INPUT_TOKEN="+l.server.Token("fork"), "INPUT_COMMENT=off")
	s.want(exitOK, "regressions=1")
	s.says("notice", "started by /triage")
	if r := l.report(); r.Plan.MaxTrials != 30 || r.Check.Source != "test" || len(r.Verdicts) != 1 {
		t.Errorf("plan %+v, source %s", r.Plan, r.Check.Source)
	}
}

// Where the measuring job follows the red one, only it is started again, and it
// reads the log of the attempt before.
func TestActionStartsOnlyTheMeasuringJobAgain(t *testing.T) {
	l := newLab(t, appArchive)
	log := l.sh("cd repo; go test ./... || true")
	l.server.Update(func(st *ghtest.State) {
		jobs := st.Runs[0].Attempts[0].Jobs
		jobs[0].Log, jobs[1].Name = log+"\n", "triage"
	})
	id := l.server.AddComment(7, "alice", "/triage")
	l.event("issue_comment", commentEvent(t, l, id))
	l.act("INPUT_WORKFLOW=ci.yml", "INPUT_JOB=triage").want(exitOK)
	if r := l.server.State().Reruns; len(r) != 1 || r[0].Kind != "job" || r[0].Job != 422 {
		t.Fatalf("reruns %+v", r)
	}
	l.pullEvent(7)
	s := l.act("INPUT_LOG-JOBS=test", "GITHUB_RUN_ATTEMPT=2")
	s.want(exitOK, "regressions=2")
	s.says("notice", "started by /triage")
	l.comments(7, 3)
}

// A sweep of main: green is quiet, and what is red is broken on main, whoever broke
// it. One issue says so, until a sweep is clean.
func TestActionSweepsMain(t *testing.T) {
	l := newLab(t, appArchive)
	l.sh("cd repo; git checkout -q main")
	l.event("schedule", l.server.State().ScheduleEvent(12, "17 3 * * *"))
	issues := len(l.server.State().Issues)
	s := l.act("INPUT_BUDGET=5m")
	s.want(exitOK, "verdict=green")
	if got := len(l.server.State().Issues); got != issues {
		t.Errorf("%d issues opened for a clean sweep", got-issues)
	}
	l.sh("cd repo; git merge -q --ff-only " + l.merge)
	s = l.act("INPUT_LAG=off", "INPUT_REPORTS=test.json")
	s.want(exitOK, "verdict=not-yours", "broken-on-base=2")
	if !strings.Contains(s.summary, "TestDouble") {
		t.Errorf("the summary:\n%s", s.summary)
	}
	s = l.act("INPUT_LAG=off")
	s.want(exitOK, "verdict=not-yours")
	all := l.server.State().Issues
	if len(all) != issues+1 || !strings.Contains(all[issues].Body, "2 broken tests") || all[issues].State == "closed" {
		t.Fatalf("%d issues opened: %+v", len(all)-issues, all[issues:])
	}
	l.sh("cd repo; git checkout -q HEAD^1")
	l.act("INPUT_LAG=off").want(exitOK, "verdict=green")
	if i := l.server.State().Issues[issues]; i.State != "closed" {
		t.Errorf("after a clean sweep the issue is %s", i.State)
	}
	l.comments(7, 0)
}

// commentEvent is the event of a comment that is there.
func commentEvent(t *testing.T, l *lab, id int64) []byte {
	t.Helper()
	for _, c := range l.server.State().Comments {
		if c.ID != id {
			continue
		}
		var payload map[string]any
		must(t, json.Unmarshal(l.server.State().CommentEvent(c.Issue, c.User, c.Body), &payload))
		comment := payload["comment"].(map[string]any)
		comment["id"], comment["created_at"] = id, c.Created
		b, err := json.Marshal(payload)
		must(t, err)
		return b
	}
	t.Fatalf("no comment %d", id)
	return nil
}

func TestActionRefusesACommandOfSomebodyWithoutRights(t *testing.T) {
	l := newLab(t, appArchive)
	for _, user := range []string{"dave", "mallory", "carol"} {
		id := l.server.AddComment(7, user, "/triage $(touch /tmp/pwned) --fail-on=none '; rm -rf /'")
		l.event("issue_comment", commentEvent(t, l, id))
		l.act("INPUT_WORKFLOW=ci.yml").want(exitOK)
	}
	if st := l.server.State(); len(st.Reruns) != 0 {
		t.Errorf("reruns %+v", st.Reruns)
	}
	for _, c := range l.comments(7, 4) { // the triager alone is answered in words
		if c.User == "github-actions[bot]" && !strings.Contains(c.Body, "role write or more") {
			t.Errorf("the reply:\n%s", c.Body)
		}
	}
}

// The head moves between the command and the report: the report says so.
func TestActionTellsThatTheHeadHasMoved(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	l.upload(42, "triagebot-report")
	l.server.MoveHead(7, ghtest.SHA("newer"))
	l.event("workflow_run", l.server.State().RunEvent(42))
	s := l.act()
	s.want(exitOK)
	s.says("notice", "moved on to another commit")
	if c := l.comments(7, 1)[0]; !strings.Contains(c.Body, "**Out of date:**") {
		t.Errorf("the comment:\n%s", c.Body)
	}
}

// What GitHub refuses: the measuring half goes on with the summary, the
// publishing half ends with 2, and neither writes half a comment.
func TestActionMeetsRefusals(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	l.upload(42, "triagebot-report")
	pull, run := l.server.State().PullEvent("synchronize", 7), l.server.State().RunEvent(42)
	for _, status := range []int{403, 404, 410, 422} {
		l.event("workflow_run", run)
		l.server.Fail("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", ghtest.Answer(status, "no"))
		s := l.act()
		s.want(exitError)
		s.says("error", strconv.Itoa(status))
		if status != 422 {
			continue
		}
		l.event("pull_request", pull)
		l.server.Fail("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", ghtest.Answer(status, "no"))
		s = l.act("INPUT_REPORTS=test.json", "INPUT_FAIL-ON=regression")
		s.want(exitPolicy, "comment-url=")
		s.says("warning", strconv.Itoa(status))
	}
	l.event("workflow_run", run)
	l.server.Fail("GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", ghtest.BadGateway().Repeat(2))
	l.server.Fail("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", ghtest.SecondaryLimit(429, time.Second))
	l.comments(7, 0)
	l.act().want(exitOK)
	l.comments(7, 1)
}

// Two open pull requests of one head: neither is written to.
func TestActionDoesNotChooseBetweenTwoPullRequests(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	l.upload(42, "triagebot-report")
	l.server.Update(func(st *ghtest.State) {
		other := st.Pulls[0]
		other.Number = 12
		st.Pulls = append(st.Pulls, other)
	})
	l.event("workflow_run", l.server.State().RunEvent(42))
	s := l.act()
	s.want(exitOK, "verdict=yours", "comment-url=")
	s.says("notice", "ore than one open pull request")
	l.comments(7, 0)
	l.comments(12, 0)
	if !strings.Contains(s.summary, "TestDouble") {
		t.Errorf("the summary:\n%s", s.summary)
	}
}

// An interrupt ends the measuring process and keeps what it has measured.
func TestActionEndsInAnOrderlyWayWhenItIsInterrupted(t *testing.T) {
	l := newLab(t, "testdata/slow.txtar")
	c, log := l.start("INPUT_TESTS=TestSlow")
	out := &signalOnce{text: "trial 2 ", then: func() { must(t, c.Process.Signal(syscall.SIGTERM)) }, log: log}
	c.Stdout, c.Stderr = out, out
	must(t, c.Start())
	s := l.ended(c.Wait(), c, log)
	s.want(exitOK, "verdict=inconclusive", "report-path=triagebot-out/report.json")
	if r := l.report(); r.Plan.Stopped != "interrupted" || len(r.Trials) < 1 {
		t.Errorf("stopped %q after %d trials", r.Plan.Stopped, len(r.Trials))
	}
	l.comments(7, 0)
	if left := l.processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// signalOnce does something when a text comes by.
type signalOnce struct {
	text string
	then func()
	log  *strings.Builder
}

func (s *signalOnce) Write(p []byte) (int, error) {
	s.log.Write(p)
	if s.then != nil && strings.Contains(s.log.String(), s.text) {
		s.then()
		s.then = nil
	}
	return len(p), nil
}

func TestActionRefusesBadInput(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	for name, tc := range map[string]struct {
		vars []string
		want string
	}{
		"an unknown mode":           {[]string{"INPUT_MODE=magic"}, `"magic" is not auto, measure`},
		"an unknown event":          {[]string{"GITHUB_EVENT_NAME=watch"}, "watch"},
		"a privileged event":        {[]string{"GITHUB_EVENT_NAME=pull_request_target"}, "use pull_request"},
		"a budget that is none":     {[]string{"INPUT_BUDGET=soon"}, "reading input budget"},
		"a folder outside":          {[]string{"INPUT_OUT=../x", "INPUT_REPORTS=test.json"}, "not a path inside the workspace"},
		"a folder in .git":          {[]string{"INPUT_OUT=.git/x", "INPUT_REPORTS=test.json"}, "outside of .git"},
		"no such folder":            {[]string{"INPUT_WORKING-DIRECTORY=nowhere", "INPUT_REPORTS=test.json"}, "check the repository out first"},
		"no such report":            {[]string{"INPUT_REPORTS=*.xml"}, "no such file"},
		"a report without failures": {[]string{"INPUT_REPORTS=go.mod"}, "go.mod"},
		"a command for a shell":     {[]string{"INPUT_COMMAND=go test ./... | tee log"}, "reading input command"},
		"a user without root":       {[]string{"INPUT_TEST-USER=0:0"}, "test-user"},
		"half an App":               {[]string{"INPUT_REPORTS=test.json", "INPUT_APP-ID=5", "INPUT_COMMENT=always"}, "app-key"},
		"publish without a run":     {[]string{"INPUT_MODE=publish"}, "names no run"},
		"a run that is no number":   {[]string{"INPUT_MODE=publish", "INPUT_RUN-ID=4x"}, "run-id"},
		"a run that is not there":   {[]string{"INPUT_MODE=publish", "INPUT_RUN-ID=999"}, "404"},
		"publish without a token":   {[]string{"INPUT_MODE=publish", "INPUT_RUN-ID=42", "INPUT_TOKEN="}, "there is no token"},
		"command without workflow":  {[]string{"INPUT_MODE=command"}, "workflow"},
		"a cooldown that is none":   {[]string{"INPUT_MODE=command", "INPUT_WORKFLOW=ci.yml", "INPUT_COOLDOWN=often"}, "cooldown"},
		"a role that is none":       {[]string{"INPUT_MODE=command", "INPUT_WORKFLOW=ci.yml", "INPUT_PERMISSION=read"}, "permission"},
		"an event that is none":     {[]string{"GITHUB_EVENT_PATH=" + filepath.Join(l.dir, "nothing")}, "reading the event"},
		"a repository that is none": {[]string{"GITHUB_REPOSITORY=acme", "INPUT_MODE=publish", "INPUT_RUN-ID=42"}, "owner/name"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			s := l.act(tc.vars...)
			s.t = t
			s.want(exitError)
			s.says("error", tc.want)
			if time.Since(began) > time.Minute {
				t.Errorf("it took %v to refuse", time.Since(began))
			}
		})
	}
	l.comments(7, 0)
}
