package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// The workflow of a maintainer who names the mode, on an event that must not measure.
func TestActionMeasuresOnNoEventWhoseTokenWrites(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	st := l.server.State()
	for name, payload := range map[string][]byte{
		"pull_request_target": st.PullEvent("synchronize", 7),
		"issue_comment":       st.CommentEvent(7, "alice", "hello"),
		"workflow_run":        st.RunEvent(42),
	} {
		for _, mode := range []string{modeMeasure, modeSweep, modePlan, modeMerge} {
			l.event(name, payload)
			s := l.act("INPUT_MODE="+mode, "INPUT_REPORTS=test.json", "INPUT_COMMENT="+commentAlways)
			s.want(exitError)
			s.says("error", "its token writes")
		}
	}
	l.comments(7, 0)
	if _, err := os.Stat(filepath.Join(l.repo, defaultOut)); err == nil {
		t.Error("something was measured")
	}
}

// A job that was cancelled is no proof that its tests are green.
func TestActionTakesNoCancelledJobForAGreenOne(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json").want(exitOK, "verdict=yours")
	for _, conclusion := range []string{"cancelled", "action_required"} {
		l.server.Update(func(st *ghtest.State) {
			for i := range st.Runs[0].Attempts[0].Jobs {
				st.Runs[0].Attempts[0].Jobs[i].Conclusion = conclusion
			}
		})
		s := l.act("GITHUB_RUN_ATTEMPT=1")
		s.want(exitError)
		s.says("error", "is "+conclusion+", so nothing can be told")
	}
	if c := l.comments(7, 1)[0]; !strings.Contains(c.Body, "This pull request broke 2 tests") {
		t.Errorf("the comment:\n%s", c.Body)
	}
}

// actions/checkout keeps its credentials in a file beside the checkout since its version 6.
func TestActionWarnsOfCredentialsThatTheCheckoutIncludes(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.sh("git -C repo config includeIf.gitdir:" + l.repo + "/.git.path " + filepath.Join(l.env["RUNNER_TEMP"], "git-credentials-1.config"))
	l.act("INPUT_REPORTS=test.json").says("warning", "persist-credentials")
	l.sh("git -C repo config --unset includeIf.gitdir:" + l.repo + "/.git.path")
	if s := l.act("INPUT_REPORTS=test.json"); strings.Contains(s.log, "persist-credentials") {
		t.Errorf("a warning of nothing:\n%s", s.log)
	}
}

// /triage of one test leaves what was said of the others.
func TestActionKeepsTheWholeWhenSomeTestsAreAskedFor(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json").want(exitOK, "verdict=yours")
	l.act("INPUT_TESTS=calc.TestFine", "GITHUB_RUN_ATTEMPT=2", "INPUT_MAX-TRIALS=2").want(exitOK)
	all := l.comments(7, 2)
	if !strings.Contains(all[0].Body, "This pull request broke 2 tests") || !strings.Contains(all[1].Body, "tests that were asked for") {
		t.Errorf("the comments:\n%s\n%s", all[0].Body, all[1].Body)
	}
}

// The runner hides secrets in the log only: a comment and an artifact are ours to look after.
func TestActionShowsNoSecretThatTestsPrint(t *testing.T) {
	l := newLab(t, appArchive)
	must(t, os.WriteFile(filepath.Join(l.repo, "calc", "secret_test.go"), []byte(`package calc

import (
	"os"
	"testing"
)

func TestSecret(t *testing.T) {
	t.Fatalf("connecting to %q, %[1]s by %s: no", os.Getenv("DB_PASSWORD"), os.Getenv("NO_PROXY"))
}
`), 0o644))
	l.sh("cd repo; git add -A; git commit -q -m secret")
	const password = `s3cr<t"\correct horse`
	l.env["DB_PASSWORD"], l.env["TOKENIZERS_PARALLELISM"] = password, "true"
	l.env["NO_PROXY"] = "http://ada:hunter2hunter2@proxy.example:3128"
	l.red() // without the password, as its job would have it
	s := l.act("INPUT_COMMAND=go test ./calc", "INPUT_PASS-ENV=DB_PASSWORD", "INPUT_BASE=HEAD^", "INPUT_MAX-TRIALS=2")
	s.want(exitOK)
	files := s.summary + l.comments(7, 1)[0].Body
	for _, name := range []string{reportFile, htmlFile, pageFile} {
		b, err := os.ReadFile(filepath.Join(l.repo, defaultOut, name))
		must(t, err)
		files += string(b)
	}
	for _, secret := range []string{"correct horse", "hunter2"} {
		if strings.Contains(files, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
	if !strings.Contains(files, "***") || !strings.Contains(files, "connecting to") {
		t.Errorf("the output is not there at all:\n%s", files)
	}
}

// actions/checkout with ref: the pull request's head, whose author has merged main,
// or another branch, into it: the first parent is the author's own work.
func TestActionTakesNoMergeOfTheAuthorsForThatOfGitHub(t *testing.T) {
	for name, merge := range map[string]string{
		"main":           "git merge -q --no-ff -m taken main",
		"another branch": "git checkout -q -b other main~1; echo x > x; git add -A; git commit -q -m x; git checkout -q fix; git merge -q --no-ff -m taken other",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, appArchive)
			base := l.sh("cd repo; git rev-parse main")
			l.sh("cd repo; git checkout -q fix; " + merge + "; git update-ref refs/remotes/origin/main main; git checkout -q --detach")
			head := l.sh("cd repo; git rev-parse HEAD")
			l.server.Update(func(st *ghtest.State) {
				st.Pulls[0].Head.SHA = head
				st.Commits = append(st.Commits, ghtest.Commit{SHA: head, Parents: []string{l.head, base}})
			})
			l.pullEvent(7)
			l.red()
			s := l.act("INPUT_REPORTS=test.json")
			s.want(exitOK, "verdict=yours", "regressions=2")
			if r := l.report(); r.Check.Base.SHA != base {
				t.Errorf("base is %+v, want %s", r.Check.Base, base)
			}
		})
	}
}
