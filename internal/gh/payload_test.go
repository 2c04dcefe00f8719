package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// webhook is one of GitHub's own example payloads.
func webhook(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("ghtest", "testdata", "events", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// with changes a payload: keys are paths of names with dots between, and a nil
// value is null.
func with(t testing.TB, data []byte, changes map[string]any) []byte {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	for path, v := range changes {
		at, names := root, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[names[len(names)-1]] = v
	}
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parsed(t *testing.T, name string, data []byte) Event {
	t.Helper()
	e, err := ParseEvent(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestGitHubsOwnExamplesAreRead(t *testing.T) {
	for file, c := range map[string]struct {
		event, action string
		holds         func(Event) bool
	}{
		"pull_request.opened.json": {"pull_request", "opened", func(e Event) bool {
			return e.Pull.Number == 2 && !e.Pull.Fork() && e.Pull.Head.SHA == "ec26c3e57ca3a959ca5aad62de7213c562f8c821" && e.Pull.Base.Ref == "master"
		}},
		"pull_request.synchronize.json": {"pull_request_target", "synchronize", func(e Event) bool { return e.Pull.Number == 2 }},
		"merge_group.checks_requested.json": {"merge_group", "checks_requested", func(e Event) bool {
			return e.Group.BaseSHA == "380387fbc80638b734a49e1be1c4dfec1c01b33c" && strings.HasPrefix(e.Group.HeadRef, "refs/heads/gh-readonly-queue/")
		}},
		"push.json": {"push", "", func(e Event) bool { return e.Push.Ref == "refs/heads/master" && len(e.Push.After) == 40 }},
		"workflow_run.completed.json": {"workflow_run", "completed", func(e Event) bool {
			return e.Run.ID > 0 && e.Run.Attempt == 1 && e.Run.RepoID == e.Repo.ID && len(e.Run.HeadSHA) == 40 && e.Run.HeadRepo != "" && e.Run.Conclusion != ""
		}},
		"check_run.completed.json": {"check_run", "completed", func(e Event) bool {
			return e.Check.ID == 128620228 && e.Check.HeadSHA == "ec26c3e57ca3a959ca5aad62de7213c562f8c821" && e.Check.Conclusion != ""
		}},
		"issue_comment.created.json": {"issue_comment", "created", func(e Event) bool {
			return e.Pull == nil && e.Comment.ID > 0 && e.Comment.Author == "Codertocat" && !e.Comment.Bot && e.Comment.Body != ""
		}},
		"workflow_dispatch.json": {"workflow_dispatch", "", func(e Event) bool { return strings.HasPrefix(e.Ref, "refs/heads/") && len(e.Inputs) == 0 }},
	} {
		e := parsed(t, c.event, webhook(t, file))
		if e.Name != c.event || e.Action != c.action || e.Repo.ID < 1 || e.Repo.Owner == "" || e.Repo.DefaultBranch == "" || e.Sender == "" || e.SenderBot {
			t.Errorf("%s: %+v", file, e)
		}
		if !c.holds(e) {
			t.Errorf("%s: %+v is not what it says", file, e)
		}
	}
}

func TestACommentOnAPullRequestNamesIt(t *testing.T) {
	e := parsed(t, "issue_comment", with(t, webhook(t, "issue_comment.created.json"), map[string]any{
		"issue.pull_request.url": "https://api.github.com/x", "comment.body": "/triage", "comment.user.type": "Bot",
	}))
	if e.Pull == nil || e.Pull.Number != 1 || e.Pull.Head.SHA != "" || e.Comment.Body != "/triage" || !e.Comment.Bot {
		t.Errorf("%+v %+v", e.Pull, e.Comment)
	}
}

func TestARunOfAForkIsKnownByItsRepository(t *testing.T) {
	e := parsed(t, "workflow_run", with(t, webhook(t, "workflow_run.completed.json"), map[string]any{
		"workflow_run.head_repository.id": 77, "workflow_run.head_repository.full_name": "mallory/widgets", "workflow_run.head_branch": "main",
		"workflow_run.path": ".github/workflows/triage.yml@main", "workflow_run.run_attempt": 3,
		"workflow_run.pull_requests": []any{
			map[string]any{"number": 5, "base": map[string]any{"repo": map[string]any{"id": 999}}},
		},
	}))
	if r := e.Run; r.HeadRepoID != 77 || r.HeadRepo != "mallory/widgets" || r.Path != ".github/workflows/triage.yml" || r.Attempt != 3 || len(r.Pulls) != 0 {
		t.Errorf("%+v", r)
	}
	e = parsed(t, "workflow_run", with(t, webhook(t, "workflow_run.completed.json"), map[string]any{"workflow_run.head_repository": nil}))
	if e.Run.HeadRepoID != 0 || e.Run.HeadRepo != "" {
		t.Errorf("a deleted fork: %+v", e.Run)
	}
}

func TestADeletedForksPullRequestIsNotTrusted(t *testing.T) {
	e := parsed(t, "pull_request", with(t, webhook(t, "pull_request.opened.json"), map[string]any{"pull_request.head.repo": nil}))
	if !e.Pull.Fork() || e.Pull.Head.RepoID != 0 {
		t.Errorf("%+v", e.Pull)
	}
}

func TestEventsThatTheRunnerFillsIn(t *testing.T) {
	e := parsed(t, "schedule", []byte(`{"schedule":"17 3 * * *"}`))
	if e.Schedule != "17 3 * * *" || e.Repo.ID != 0 {
		t.Errorf("%+v", e)
	}
	e = parsed(t, "workflow_dispatch", []byte(`{"ref":"refs/heads/main","inputs":{"a":"x","b":true,"c":null,"d":2}}`))
	if e.Inputs["a"] != "x" || e.Inputs["b"] != "true" || e.Inputs["d"] != "2" || len(e.Inputs) != 3 {
		t.Errorf("%+v", e.Inputs)
	}
	if e = parsed(t, "workflow_dispatch", []byte(`{"inputs":null}`)); e.Inputs != nil {
		t.Errorf("%+v", e.Inputs)
	}
}

func TestPayloadsThatCannotBeTrueAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		event, file string
		change      map[string]any
	}{
		"a number below one":         {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.number": 0}},
		"a number beyond all":        {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.number": 1 << 40}},
		"a number as text":           {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.number": "2"}},
		"a branch for a commit":      {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.sha": "main"}},
		"an option for a commit":     {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.sha": "--upload-pack=x"}},
		"a commit in capitals":       {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.sha": strings.Repeat("A", 40)}},
		"no pull request":            {"pull_request", "pull_request.opened.json", map[string]any{"pull_request": nil}},
		"a repository id below one":  {"pull_request", "pull_request.opened.json", map[string]any{"repository.id": -1}},
		"a repository that is none":  {"pull_request", "pull_request.opened.json", map[string]any{"repository.full_name": "../../x"}},
		"no repository":              {"pull_request", "pull_request.opened.json", map[string]any{"repository": nil}},
		"a fork that is none":        {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.repo.full_name": "a b"}},
		"lines in a branch":          {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.ref": "x\ny=z"}},
		"a long branch":              {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.head.ref": strings.Repeat("x", 2000)}},
		"an author that is none":     {"pull_request", "pull_request.opened.json", map[string]any{"pull_request.user.login": "a/../b"}},
		"a run without id":           {"workflow_run", "workflow_run.completed.json", map[string]any{"workflow_run.id": nil}},
		"a run without commit":       {"workflow_run", "workflow_run.completed.json", map[string]any{"workflow_run.head_sha": ""}},
		"a run that is none":         {"workflow_run", "workflow_run.completed.json", map[string]any{"workflow_run": []any{}}},
		"a comment without id":       {"issue_comment", "issue_comment.created.json", map[string]any{"comment.id": 0}},
		"a comment without issue":    {"issue_comment", "issue_comment.created.json", map[string]any{"issue": nil}},
		"a comment too long":         {"issue_comment", "issue_comment.created.json", map[string]any{"comment.body": strings.Repeat("x", 4*CommentLimit+1)}},
		"an issue without number":    {"issue_comment", "issue_comment.created.json", map[string]any{"issue.number": -4}},
		"a check without id":         {"check_run", "check_run.completed.json", map[string]any{"check_run.id": 0}},
		"a check of no commit":       {"check_run", "check_run.completed.json", map[string]any{"check_run.head_sha": "x"}},
		"no check":                   {"check_run", "check_run.completed.json", map[string]any{"check_run": nil}},
		"a group of no commit":       {"merge_group", "merge_group.checks_requested.json", map[string]any{"merge_group.base_sha": "x"}},
		"no group":                   {"merge_group", "merge_group.checks_requested.json", map[string]any{"merge_group": nil}},
		"a push of nothing":          {"push", "push.json", map[string]any{"after": ""}},
		"a push to nowhere":          {"push", "push.json", map[string]any{"ref": ""}},
		"an input that is an object": {"workflow_dispatch", "workflow_dispatch.json", map[string]any{"inputs": map[string]any{"a": []any{1}}}},
		"an event of another kind":   {"release", "push.json", nil},
		"an event with a path":       {"../push", "push.json", nil},
		"a push read as a comment":   {"issue_comment", "push.json", nil},
	} {
		e, err := ParseEvent(c.event, with(t, webhook(t, c.file), c.change))
		if !errors.Is(err, ErrEvent) {
			t.Errorf("%s: %v %+v", name, err, e)
		} else if strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("%s: the error has line breaks: %q", name, err)
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("{"), "a list": []byte("[]"), "null": []byte("null"),
		"too large": append(webhook(t, "push.json"), bytes.Repeat([]byte(" "), MaxEventBytes)...), "deep": []byte(strings.Repeat(`{"a":`, 20_000)),
	} {
		if _, err := ParseEvent("push", data); !errors.Is(err, ErrEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("ghtest", "testdata", "events", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		var p payload // what is read of it: a small seed is changed where it counts
		if err := json.Unmarshal(webhook(f, filepath.Base(file)), &p); err != nil {
			f.Fatal(err)
		}
		seed, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, seed)
	}
	f.Add("schedule", []byte(`{"schedule":"* * * * *"}`))
	f.Add("workflow_run", []byte(`{"repository":{"id":1,"full_name":"a/b"},"workflow_run":{"id":1,"head_sha":"0123456789012345678901234567890123456789"}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		e, err := ParseEvent(name, data)
		if err != nil {
			if !errors.Is(err, ErrEvent) {
				t.Fatal(err)
			}
			return
		}
		for _, id := range e.claims() {
			if !sha.MatchString(id) {
				t.Fatalf("%q passes for a commit", id)
			}
		}
		if e.Repo.Owner != "" && (e.Repo.ID < 1 || strings.ContainsAny(e.Repo.FullName(), "\n ?#%")) {
			t.Fatal(fmt.Sprint(e.Repo))
		}
	})
}

// claims are all commits that an event names.
func (e Event) claims() []string {
	switch {
	case e.Run != nil:
		return []string{e.Run.HeadSHA}
	case e.Check != nil:
		return []string{e.Check.HeadSHA}
	case e.Push != nil:
		return []string{e.Push.Before, e.Push.After}
	case e.Group != nil:
		return []string{e.Group.HeadSHA, e.Group.BaseSHA}
	case e.Pull != nil && e.Comment == nil:
		return []string{e.Pull.Head.SHA, e.Pull.Base.SHA}
	}
	return nil
}
