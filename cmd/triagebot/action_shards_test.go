package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One check shared by two machines: the plan, its parts, and the whole.
func TestActionSharesACheck(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	s := l.act("INPUT_MODE=plan", "INPUT_SHARDS=2", "INPUT_REPORTS=test.json", "INPUT_HISTORY=no/such/folder")
	s.want(exitOK)
	var m matrix
	must(t, json.Unmarshal([]byte(s.outputs[outputMatrix]), &m))
	if len(m.Include) != 2 || m.Include[1].Shard != "2/2" {
		t.Fatalf("the matrix is %s", s.outputs[outputMatrix])
	}
	if _, err := os.Stat(filepath.Join(l.repo, defaultOut)); err == nil {
		t.Error("a plan left a report")
	}
	for _, machine := range m.Include {
		l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off", "INPUT_SHARD="+machine.Shard).want(exitOK)
		l.sh(fmt.Sprintf("cd repo; mkdir -p shards; mv %s shards/%d", defaultOut, machine.Index))
	}
	merge := func(vars ...string) step {
		return l.act(append([]string{"INPUT_MODE=merge", "INPUT_REPORTS=shards/*/report.json"}, vars...)...)
	}
	merge("INPUT_COMMENT=off", "INPUT_FAIL-ON=regression").want(exitPolicy, "verdict=yours", "report-path=triagebot-out/report.json", "should-fail=true")
	whole := l.report()
	if len(whole.Plan.Parts) != 2 || len(whole.Verdicts) != whole.Plan.Parts[0].Failures+whole.Plan.Parts[1].Failures || len(whole.Warnings) > 0 && strings.Contains(whole.Warnings[0], "shard") {
		t.Errorf("the whole has the parts %+v, %d verdicts and the warnings %q", whole.Plan.Parts, len(whole.Verdicts), whole.Warnings)
	}

	// A shard that is lost, and one that somebody swapped for a link.
	l.sh("cd repo; rm -rf shards/2; mkdir shards/2; ln -s /etc/passwd shards/2/report.json")
	l.comments(7, 0)
	s = merge()
	s.want(exitOK, "verdict=yours")
	text := strings.Join(l.report().Warnings, "\n")
	if !strings.Contains(text, "shards/2/report.json is left out") || !strings.Contains(text, "2/2") && !strings.Contains(text, "shard 2 of 2") {
		t.Errorf("the warnings are %q", text)
	}
	if strings.Contains(s.log+text, "root:") {
		t.Error("the log shows a file outside of the workspace")
	}
	l.comments(7, 1)

	for name, vars := range map[string][]string{
		"no such file in the workspace":    {"INPUT_MODE=merge", "INPUT_REPORTS=nowhere/*.json"},
		"name the reports of the shards":   {"INPUT_MODE=merge"},
		"is not in the workspace":          {"INPUT_MODE=merge", "INPUT_REPORTS=../*.json"},
		"reading input shards":             {"INPUT_MODE=plan", "INPUT_SHARDS=many"},
		"reading --shards: want 1 to":      {"INPUT_MODE=plan", "INPUT_SHARDS=9999"},
		"is not a path inside the workspa": {"INPUT_MODE=merge", "INPUT_REPORTS=shards/1/report.json", "INPUT_OUT=../x"},
	} {
		s := l.act(vars...)
		s.want(exitError)
		s.says("error", name)
	}
}

// The tests' user cannot read the workspace's folders of ours, so it gets copies.
func TestActionHandsTheHistoryOver(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	l.sh("cd repo; mkdir -p past/night; mv " + defaultOut + " past/night/1; mv past/night/1/report.json past/night/first.json; chmod -R go-rwx past")
	user := userNone
	if os.Geteuid() == 0 {
		user = "auto"
	}
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off", "INPUT_HISTORY=past", "INPUT_TEST-USER="+user).want(exitOK)
	for _, f := range l.report().Failures {
		if f.Past == nil {
			t.Errorf("nothing of the past of %s is known", f.Target)
		}
	}
}
