package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// byHand runs triagebot as a person does at a desk.
func (l *lab) byHand(args ...string) (code int, out string) {
	l.t.Helper()
	c := exec.Command(l.program(), args...)
	c.Dir = l.dir
	c.Env = append(os.Environ(), "GITHUB_TOKEN="+l.server.Token("workflow"), "GITHUB_API_URL="+l.server.URL(), "GITHUB_REPOSITORY=", "GITHUB_EVENT_PATH=")
	b, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(b)
}

func TestPublishAndCommandByHand(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	report := filepath.Join(l.repo, defaultOut, reportFile)

	code, out := l.byHand("publish", "--report", report, "--pr", "7", "--repo", "acme/widgets", "--dry-run")
	if code != exitOK || !strings.Contains(out, "TestDouble") || !strings.Contains(out, "nothing was written") {
		t.Errorf("a dry run: %d\n%s", code, out)
	}
	l.comments(7, 0)
	if code, out = l.byHand("publish", "--report", report, "--pr", "7", "--repo", "acme/widgets"); code != exitOK || !strings.Contains(out, "created http") {
		t.Errorf("a report: %d\n%s", code, out)
	}
	l.comments(7, 1)
	if code, out = l.byHand("publish", "--report", report, "--pr", "9", "--repo", "acme/widgets"); code != exitError || !strings.Contains(out, "404") {
		t.Errorf("an issue: %d\n%s", code, out)
	}

	l.upload(42, "triagebot-report-linux")
	l.upload(42, "triagebot-report-macos")
	if code, out = l.byHand("publish", "--run", "42", "--repo", "acme/widgets"); code != exitOK || !strings.Contains(out, "updated http") {
		t.Errorf("a run: %d\n%s", code, out)
	}
	if c := l.comments(7, 1)[0]; !strings.Contains(c.Body, "### `linux`") || !strings.Contains(c.Body, "### `macos`") {
		t.Errorf("two legs of a matrix:\n%s", c.Body)
	}

	id := l.server.AddComment(7, "alice", "/triage help")
	event := filepath.Join(l.dir, "comment.json")
	must(t, os.WriteFile(event, commentEvent(t, l, id), 0o644))
	if code, out = l.byHand("command", "--workflow", "ci.yml", "--event", event, "--repo", "acme/widgets"); code != exitOK || !strings.Contains(out, "`/triage rerun`") {
		t.Errorf("help: %d\n%s", code, out)
	}
	l.comments(7, 3)
}
