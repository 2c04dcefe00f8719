package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
)

func TestChooseAccount(t *testing.T) {
	there := func(name string) (*user.User, error) {
		switch name {
		case testUser:
			return &user.User{Uid: "10001", Gid: "10002"}, nil
		case "root":
			return &user.User{Uid: "0", Gid: "0"}, nil
		}
		return nil, errors.New("no such user")
	}
	empty := func(string) (*user.User, error) { return nil, errors.New("no such user") }
	for name, tc := range map[string]struct {
		input string
		root  bool
		users func(string) (*user.User, error)
		want  account
		other bool
		err   string
	}{
		"root takes the user of the image":  {"auto", true, there, account{10001, 10002}, true, ""},
		"or one who owns nothing":           {"auto", true, empty, account{nobody, nobody}, true, ""},
		"who is not root stays":             {"auto", false, there, account{}, false, ""},
		"none stays root":                   {"none", true, there, account{}, false, ""},
		"by number":                         {"5", true, there, account{5, 5}, true, ""},
		"by numbers":                        {"5:6", true, there, account{5, 6}, true, ""},
		"by name":                           {"triage", true, there, account{10001, 10002}, true, ""},
		"a name that is not there":          {"ada", true, there, account{}, false, "no user"},
		"root by number":                    {"0", true, there, account{}, false, "is root"},
		"root's group":                      {"5:0", true, there, account{}, false, "is root"},
		"root by name":                      {"root", true, there, account{}, false, "is root"},
		"a negative number":                 {"-1", true, there, account{}, false, "is root"},
		"a group that is no number":         {"5:x", true, there, account{}, false, "UID:GID"},
		"another user, asked by who cannot": {"5", false, there, account{}, false, "only root"},
	} {
		acc, other, err := chooseAccount(tc.input, tc.root, tc.users)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %q", name, err, tc.err)
			}
			continue
		}
		if err != nil || acc != tc.want || other != tc.other {
			t.Errorf("%s: %v, %v, %v", name, acc, other, err)
		}
	}
}

func TestWhatIsShutIsOpenedAgain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the action changes users on Linux only")
	}
	dir := t.TempDir()
	open, shut, link := filepath.Join(dir, "open"), filepath.Join(dir, "shut"), filepath.Join(dir, "link")
	must(t, errors.Join(os.Mkdir(open, 0o755), os.Chmod(open, 0o755|os.ModeSticky), os.Mkdir(shut, 0o700), os.Symlink(open, link)))
	restore, err := closeOff(link, shut, "", filepath.Join(dir, "missing"))
	must(t, err)
	if st, _ := os.Stat(open); st.Mode().Perm() != 0o700 || st.Mode()&os.ModeSticky == 0 {
		t.Errorf("mode %v while it is shut", st.Mode())
	}
	restore()
	if st, _ := os.Stat(open); st.Mode().Perm() != 0o755 || st.Mode()&os.ModeSticky == 0 {
		t.Errorf("mode %v afterwards", st.Mode())
	}
}

func TestOriginIsNamedWithoutCredentials(t *testing.T) {
	section := "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = %\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[remote \"evil\"]\n\turl = https://evil.example/x\n"
	for url, want := range map[string]string{
		"https://github.com/acme/app":                "https://github.com/acme/app",
		"https://x-access-token:s3cret@ghe.acme/a/b": "https://ghe.acme/a/b",
		"https://github.com/acme/app?t=s3cret#x":     "https://github.com/acme/app",
		"ssh://git@github.com/acme/app":              "ssh://github.com/acme/app",
		"git@github.com:acme/app.git":                "https://github.com/acme/app.git",
		"/srv/git/app":                               "/srv/git/app",
		"ext::sh -c evil":                            "",
		"--upload-pack=evil":                         "",
		"../elsewhere":                               "",
	} {
		if got := originURL(strings.Replace(section, "%", url, 1)); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if got := originURL("[remote \"other\"]\n\turl = https://github.com/a/b\n"); got != "" {
		t.Errorf("without an origin: %q", got)
	}
}

func TestTheChildGetsAnExplicitEnvironment(t *testing.T) {
	environ := []string{
		"PATH=/bin", "HOME=/root", "GOCACHE=/root/.cache", "GOPROXY=off", "DATABASE_URL=postgres://x", "INPUT_TOKEN=t", "GITHUB_TOKEN=t",
		"GITHUB_OUTPUT=/f", "GITHUB_JOB=test", "GITHUB_WORKFLOW_REF=a/b/.github/workflows/ci.yml@refs/heads/main", "ACTIONS_RUNTIME_TOKEN=t", "AWS_SECRET_ACCESS_KEY=t", "RUNNER_TEMP=/t", "STRANGE=1", "DOCKER_HOST=unix:///x",
	}
	same := child{scratch: "/s"}
	env, err := same.environment(environ, "")
	must(t, err)
	const kept = "TRIAGEBOT_KEPT=ACTIONS_RUNTIME_TOKEN AWS_SECRET_ACCESS_KEY DATABASE_URL DOCKER_HOST GITHUB_JOB GITHUB_OUTPUT GITHUB_TOKEN GITHUB_WORKFLOW_REF RUNNER_TEMP STRANGE"
	const workflow = "TRIAGEBOT_WORKFLOW=.github/workflows/ci.yml"
	if want := []string{"GOCACHE=/root/.cache", "GOPROXY=off", "HOME=/root", "PATH=/bin", kept, workflow, "TRIAGEBOT_JOB=test"}; !slices.Equal(env, want) {
		t.Errorf("as ourselves: %q, want %q", env, want)
	}
	other := child{scratch: "/s", acc: &account{5, 5}}
	env, err = other.environment(environ, "DATABASE_URL, GOCACHE")
	must(t, err)
	if want := []string{"DATABASE_URL=postgres://x", "GOCACHE=/root/.cache", "GOPROXY=off", "PATH=/bin", strings.Replace(kept, " DATABASE_URL", "", 1), workflow, "TRIAGEBOT_JOB=test", "HOME=/s/home", "TMPDIR=/s/tmp", "USER=triage", "LOGNAME=triage"}; !slices.Equal(env, want) {
		t.Errorf("as another: %q, want %q", env, want)
	}
	if _, err := other.environment(environ, "A=B"); err == nil {
		t.Error("pass-env took what is no name")
	}
}

func TestJobsAreWantedByNameAndBeginning(t *testing.T) {
	jobs := jobsNamed("test", "test (1.26, linux)", "test-ui", "lint", "e2e / chrome")
	for list, want := range map[string]string{
		"":            "test|test (1.26, linux)|test-ui|lint|e2e / chrome",
		"test":        "test|test (1.26, linux)",
		"test*":       "test|test (1.26, linux)|test-ui",
		"lint\ne2e *": "lint|e2e / chrome",
		"nothing":     "",
	} {
		var got []string
		for _, j := range wanted(jobs, lines(list)) {
			got = append(got, j.Name)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

func jobsNamed(names ...string) []gh.Job {
	var jobs []gh.Job
	for _, n := range names {
		jobs = append(jobs, gh.Job{Name: n})
	}
	return jobs
}

// lateLog has a log only after some looks.
type lateLog struct{ missing, looks int }

func (l *lateLog) JobLog(_ context.Context, _ int64, w io.Writer, _ int64) (gh.Log, error) {
	if l.looks++; l.looks <= l.missing {
		return gh.Log{}, fmt.Errorf("job 1: %w", gh.ErrNoLog)
	}
	_, err := io.WriteString(w, "the log")
	return gh.Log{}, err
}

func TestALogThatIsNotThereYetIsLookedForAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := fetchLog(t.Context(), &lateLog{missing: logTries - 1}, 1, path, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "the log" {
		t.Errorf("the log is %q", b)
	}
	late := &lateLog{missing: logTries}
	if err := fetchLog(t.Context(), late, 1, path, time.Millisecond); !errors.Is(err, gh.ErrNoLog) || late.looks != logTries {
		t.Errorf("error %v after %d looks", err, late.looks)
	}
}

func TestModeOfAnEvent(t *testing.T) {
	for name, want := range map[string]string{
		"pull_request": modeMeasure, "merge_group": modeMeasure, "push": modeMeasure, "workflow_dispatch": modeMeasure,
		"workflow_run": modePublish, "issue_comment": modeCommand, "schedule": modeSweep, "pull_request_target": "", "watch": "",
	} {
		got, err := modeOf(gh.Event{Name: name})
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestBaseOfAnEvent(t *testing.T) {
	if got := baseOf(gh.Event{Name: "schedule"}, modeSweep); got != beforeHead {
		t.Errorf("a sweep: %q", got)
	}
	repo := gh.Repo{DefaultBranch: "main"}
	for name, tc := range map[string]struct {
		ev   gh.Event
		want string
	}{
		"by hand on main":        {gh.Event{Name: "workflow_dispatch", Repo: repo, Ref: "refs/heads/main"}, beforeHead},
		"by hand on a branch":    {gh.Event{Name: "workflow_dispatch", Repo: repo, Ref: "refs/heads/fix"}, ""},
		"a merge queue":          {gh.Event{Group: &gh.GroupRef{BaseSHA: "b"}}, "b"},
		"a push to main":         {gh.Event{Repo: repo, Push: &gh.PushRef{Ref: "refs/heads/main", Before: "b"}}, "b"},
		"a push to a branch":     {gh.Event{Repo: repo, Push: &gh.PushRef{Ref: "refs/heads/fix", Before: "b"}}, ""},
		"the first push to main": {gh.Event{Repo: repo, Push: &gh.PushRef{Ref: "refs/heads/main", Before: "0000"}}, ""},
		"a pull request":         {gh.Event{Pull: &gh.Pull{}}, ""},
	} {
		if got := baseOf(tc.ev, modeMeasure); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
