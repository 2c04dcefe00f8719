package ghtest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed testdata/events/*.json
var payloads embed.FS

// derived are payloads that speak of [Default]. GitHub gives no example of a
// comment on a pull request, of a run that a pull request started, of a fork, of
// a second attempt, or of a schedule: those are ours, as far as [State]'s
// methods say.
var derived = map[string]func(State) []byte{
	"pull_request.own":         func(st State) []byte { return st.PullEvent("synchronize", 7) },
	"pull_request.fork":        func(st State) []byte { return st.PullEvent("opened", 8) },
	"issue_comment.own":        func(st State) []byte { return st.CommentEvent(7, "bob", "/triage") },
	"issue_comment.fork":       func(st State) []byte { return st.CommentEvent(8, "mallory", "/triage") },
	"issue_comment.issue":      func(st State) []byte { return st.CommentEvent(9, "bob", "/triage") },
	"issue_comment.bot":        func(st State) []byte { return st.CommentEvent(7, "github-actions[bot]", "/triage") },
	"workflow_run.own":         func(st State) []byte { return st.RunEvent(42) },
	"workflow_run.fork":        func(st State) []byte { return st.RunEvent(43) },
	"workflow_run.attempt2":    func(st State) []byte { return secondAttempt(st).RunEvent(42) },
	"check_run.own":            func(st State) []byte { return st.CheckEvent(421) },
	"push.main":                func(st State) []byte { return st.PushEvent("main") },
	"merge_group.own":          func(st State) []byte { return st.MergeGroupEvent(7) },
	"workflow_dispatch.sweep":  func(st State) []byte { return st.DispatchEvent(12, map[string]any{"mode": "sweep"}) },
	"schedule.sweep":           func(st State) []byte { return st.ScheduleEvent(12, "17 3 * * *") },
	"workflow_run.deletedfork": func(st State) []byte { st.Forks = nil; return st.RunEvent(43) },
}

// Event is the payload of an event: one of GitHub's examples unchanged
// ("workflow_run.completed"), or one that speaks of [Default] ("workflow_run.fork").
// [EventNames] has them all; the name begins with the name of the event.
func Event(name string) []byte { return Default().Event(name) }

// Event is the payload of an event, where derived ones speak of this state: it
// must have what [Default] has under the same numbers.
func (st State) Event(name string) []byte {
	if derive, has := derived[name]; has {
		return derive(clone(st))
	}
	return readPayload(name)
}

// readPayload reads one of GitHub's examples.
func readPayload(name string) []byte {
	text, err := payloads.ReadFile("testdata/events/" + name + ".json")
	if err != nil {
		panic(fmt.Sprintf("ghtest: there is no event %q", name))
	}
	return text
}

// EventNames are the names that [Event] knows.
func EventNames() []string {
	names := slices.Collect(maps.Keys(derived))
	files, err := payloads.ReadDir("testdata/events")
	if err != nil {
		panic(fmt.Sprintf("ghtest: listing the events: %v", err))
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

func secondAttempt(st State) State {
	st.Runs[0].Attempts = append(st.Runs[0].Attempts, st.Runs[0].Attempts[0])
	return st
}

// writer writes payloads: the facts of a state over an example.
func (st State) writer() *call {
	c, err := loadContract()
	if err != nil {
		panic("ghtest: " + err.Error())
	}
	return &call{s: &Server{contract: c, state: st}, base: "https://api.github.com", asks: map[string]bool{}}
}

// payload lays facts over an example, and the repository and the sender.
func (c *call) payload(example, sender string, over obj) []byte {
	repo := c.s.state.Repo
	var o obj
	if err := json.Unmarshal(readPayload(example), &o); err != nil {
		panic(fmt.Sprintf("ghtest: event %q: %v", example, err))
	}
	o = rewrite(o, strings.NewReplacer("Codertocat/Hello-World", repo.FullName(), "octo-org/octo-repo", repo.FullName())).(obj)
	for _, k := range []string{"organization", "installation", "enterprise"} {
		delete(o, k)
	}
	lay(o, over)
	lay(o, obj{"repository": obj{
		"id": repo.ID, "name": repo.Name, "full_name": repo.FullName(), "private": repo.Private, "fork": repo.Fork, "default_branch": repo.DefaultBranch,
		"owner": c.user(repo.Owner), "html_url": strings.TrimSuffix(c.web(repo, ""), "/"), "url": strings.TrimSuffix(c.api(repo, ""), "/"),
	}, "sender": c.user(sender)})
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		panic(fmt.Sprintf("ghtest: writing event %s: %v", example, err))
	}
	return text
}

// PullEvent is pull_request with action opened or synchronize.
func (st State) PullEvent(action string, number int) []byte {
	c := st.writer()
	p := st.mustPull(number)
	return c.payload("pull_request."+action, p.User, obj{"number": number, "pull_request": c.pull(p, "pull-request"), "after": p.Head.SHA})
}

// CommentEvent is issue_comment, created: a comment on an issue or, as GitHub's
// examples never have it, on a pull request. It has no SHA, as in life.
func (st State) CommentEvent(number int, user, text string) []byte {
	c := st.writer()
	issue := Issue{}
	if p, is := c.s.pull(number); is {
		issue = p.issue()
	} else if i, is := c.s.issue(number); is {
		issue = *i
	} else {
		panic(fmt.Sprintf("ghtest: there is no issue %d", number))
	}
	comment := c.comment(Comment{ID: 9001, Issue: number, User: user, Body: text, Created: epoch, Updated: epoch})
	return c.payload("issue_comment.created", user, obj{"issue": c.issue(issue), "comment": comment})
}

// RunEvent is workflow_run, completed, of a run's last attempt. That of a fork
// lists no pull request.
func (st State) RunEvent(run int64) []byte {
	c := st.writer()
	r, found := c.s.run(run)
	if !found {
		panic(fmt.Sprintf("ghtest: there is no run %d", run))
	}
	o := c.run(*r, len(r.Attempts))
	if _, gone := c.s.repoByID(r.HeadRepo); r.HeadRepo != 0 && !gone {
		o["head_repository"] = nil
	}
	w, _ := c.s.workflow(fmt.Sprint(r.Workflow))
	return c.payload("workflow_run.completed", r.Actor, obj{"workflow_run": o, "workflow": obj{"id": w.ID, "name": w.Name, "path": w.Path}})
}

// CheckEvent is check_run, completed.
func (st State) CheckEvent(id int64) []byte {
	c := st.writer()
	k, found := c.s.check(id)
	if !found {
		panic(fmt.Sprintf("ghtest: there is no check run %d", id))
	}
	o := c.check(*k)
	o["check_suite"] = obj{"id": suiteID(k.HeadSHA, k.App), "head_sha": k.HeadSHA, "pull_requests": o["pull_requests"]}
	return c.payload("check_run.completed", st.Repo.Owner, obj{"check_run": o})
}

// PushEvent is push of a branch.
func (st State) PushEvent(branch string) []byte {
	c := st.writer()
	k, _ := c.s.commit(st.Refs["heads/"+branch])
	before := strings.Repeat("0", 40)
	if len(k.Parents) > 0 {
		before = k.Parents[0]
	}
	return c.payload("push", st.Repo.Owner, obj{
		"ref": "refs/heads/" + branch, "before": before, "after": k.SHA, "deleted": false, "created": false, "base_ref": nil,
		"head_commit": obj{"id": k.SHA, "message": k.Message}, "commits": []any{},
	})
}

// MergeGroupEvent is merge_group, checks_requested, for one pull request.
func (st State) MergeGroupEvent(number int) []byte {
	c, p := st.writer(), st.mustPull(number)
	ref := fmt.Sprintf("refs/heads/gh-readonly-queue/%s/pr-%d-%s", p.Base.Ref, number, p.Base.SHA)
	return c.payload("merge_group.checks_requested", p.User, obj{"merge_group": obj{
		"head_sha": p.Merge, "head_ref": ref, "base_sha": p.Base.SHA, "base_ref": "refs/heads/" + p.Base.Ref, "head_commit": obj{"id": p.Merge},
	}})
}

// DispatchEvent is workflow_dispatch on the default branch.
func (st State) DispatchEvent(workflow int64, inputs map[string]any) []byte {
	c := st.writer()
	w, _ := c.s.workflow(fmt.Sprint(workflow))
	text := c.payload("workflow_dispatch", st.Repo.Owner, obj{"ref": "refs/heads/" + st.Repo.DefaultBranch, "workflow": w.Path, "inputs": nil})
	return set(text, "inputs", inputs)
}

// ScheduleEvent is what a runner gets for schedule, which is no webhook and has
// no example: the cron line, the workflow and the repository.
func (st State) ScheduleEvent(workflow int64, cron string) []byte {
	c := st.writer()
	w, _ := c.s.workflow(fmt.Sprint(workflow))
	text := c.payload("workflow_dispatch", st.Repo.Owner, nil)
	text = set(set(text, "inputs", nil), "ref", nil)
	return set(set(text, "schedule", cron), "workflow", path.Clean(w.Path))
}

// set puts a key in the place of what a payload has there; nil removes it.
func set(payload []byte, key string, v any) []byte {
	var o obj
	if err := json.Unmarshal(payload, &o); err != nil {
		panic(fmt.Sprintf("ghtest: reading a payload: %v", err))
	}
	o[key] = v
	if v == nil {
		delete(o, key)
	}
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		panic(fmt.Sprintf("ghtest: writing a payload: %v", err))
	}
	return text
}

func (st State) mustPull(number int) Pull {
	i := slices.IndexFunc(st.Pulls, func(p Pull) bool { return p.Number == number })
	if i < 0 {
		panic(fmt.Sprintf("ghtest: there is no pull request %d", number))
	}
	return st.Pulls[i]
}
