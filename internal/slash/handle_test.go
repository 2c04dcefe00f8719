package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/gh"
)

const me = "github-actions[bot]"

var (
	head = strings.Repeat("a", 40)
	now  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)

// fake is GitHub as far as a command asks. It keeps what was done in order.
type fake struct {
	comments []gh.CommentRef
	roles    map[string]gh.Role
	pull     gh.Pull
	runs     []gh.Run
	jobs     []gh.Job
	rerunErr error
	did      []string
}

func newFake(body string) *fake {
	return &fake{
		comments: []gh.CommentRef{{ID: 10, Body: body, Author: "ada", Created: now, Updated: now}},
		roles:    map[string]gh.Role{"ada": gh.RoleWrite, "tim": gh.RoleTriage, "eve": gh.RoleRead},
		pull:     gh.Pull{Number: 5, State: "open", Head: gh.Branch{SHA: head, RepoID: 8}, Base: gh.Branch{RepoID: 7}},
		runs: []gh.Run{{
			ID: 42, Attempt: 1, Path: ".github/workflows/triage.yml", Event: "pull_request", Status: "completed", HeadSHA: head,
			HeadRepoID: 8, RepoID: 7, Created: now.Add(-time.Hour), URL: "https://gh.example/runs/42",
		}},
	}
}

func (f *fake) Login(context.Context) (string, error)      { return me, nil }
func (f *fake) Pull(context.Context, int) (gh.Pull, error) { return f.pull, nil }
func (f *fake) Permission(_ context.Context, user string) (gh.Role, error) {
	return f.roles[user], nil
}
func (f *fake) CommentByID(_ context.Context, id int64) (gh.CommentRef, error) {
	for _, c := range f.comments {
		if c.ID == id {
			return c, nil
		}
	}
	return gh.CommentRef{}, gh.ErrNotFound
}
func (f *fake) Comments(_ context.Context, _ int, since time.Time) ([]gh.CommentRef, error) {
	return slices.DeleteFunc(slices.Clone(f.comments), func(c gh.CommentRef) bool { return c.Updated.Before(since) }), nil
}
func (f *fake) RunsOf(_ context.Context, sha, workflow string) ([]gh.Run, error) { return f.runs, nil }
func (f *fake) RerunRun(_ context.Context, id int64) error {
	f.did = append(f.did, "run")
	return f.rerunErr
}
func (f *fake) RerunFailed(_ context.Context, id int64) error {
	f.did = append(f.did, "failed")
	return f.rerunErr
}
func (f *fake) RerunJob(_ context.Context, id int64) error {
	f.did = append(f.did, fmt.Sprint("job ", id))
	return f.rerunErr
}
func (f *fake) Jobs(context.Context, int64, int) ([]gh.Job, error) { return f.jobs, nil }
func (f *fake) React(_ context.Context, _ int64, r gh.Reaction) error {
	f.did = append(f.did, string(r))
	return nil
}
func (f *fake) Reply(_ context.Context, _ int, id int64, body string) (gh.Result, error) {
	f.did = append(f.did, "reply")
	for i, c := range f.comments {
		if c.ID == 100+id {
			f.comments[i].Body = gh.Marker(fmt.Sprint("reply/", id)) + "\n" + body
			return gh.Result{Action: gh.Updated}, nil
		}
	}
	f.comments = append(f.comments, gh.CommentRef{ID: 100 + id, Body: gh.Marker(fmt.Sprint("reply/", id)) + "\n" + body, Author: me, Bot: true, Created: now.Add(time.Second), Updated: now.Add(time.Second)})
	return gh.Result{Action: gh.Created, URL: "https://gh.example/reply"}, nil
}

func (f *fake) event() gh.Event {
	c := f.comments[0]
	return gh.Event{Name: "issue_comment", Action: "created", Sender: c.Author, Pull: &gh.Pull{Number: 5}, Comment: &c}
}

func (f *fake) handle(t *testing.T, ev gh.Event) Outcome {
	t.Helper()
	out, err := Handle(t.Context(), f, ev, options())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func options() Options {
	return Options{Workflow: "triage.yml", Cooldown: time.Minute, Now: func() time.Time { return now.Add(2 * time.Second) }}
}

func TestAnAcceptedCommandStartsTheRunOfThePinnedCommit(t *testing.T) {
	for body, start := range map[string]string{"/triage runs=20 lag=500ms TestA": "run", "/triage rerun": "failed"} {
		f := newFake(body)
		out := f.handle(t, f.event())
		if diff := cmp.Diff([]string{"eyes", "reply", start, "rocket"}, f.did); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		if !out.Accepted || out.SHA != head || out.Run.ID != 42 || !strings.Contains(out.Said, head) {
			t.Errorf("%s: %+v", body, out)
		}
		cmd, ok, err := Accepted(t.Context(), f, 5, head, 42, 2)
		if err != nil || !ok {
			t.Fatalf("%s: the run does not find its command: %v, %v", body, ok, err)
		}
		if diff := cmp.Diff(out.Command, cmd); diff != "" {
			t.Errorf("%s: the command changed on its way (-want +got):\n%s", body, diff)
		}
	}
}

func TestWhatIsPassedOverInSilence(t *testing.T) {
	for name, change := range map[string]func(*fake, *gh.Event){
		"no command":          func(f *fake, ev *gh.Event) { ev.Comment.Body = "see /triage" },
		"a bot":               func(f *fake, ev *gh.Event) { ev.Comment.Bot = true },
		"sent by a bot":       func(f *fake, ev *gh.Event) { ev.SenderBot = true },
		"our own comment":     func(f *fake, ev *gh.Event) { ev.Comment.Author, ev.Sender = me, me },
		"somebody else sent":  func(f *fake, ev *gh.Event) { ev.Sender = "eve" },
		"an edited comment":   func(f *fake, ev *gh.Event) { ev.Action = "edited" },
		"a deleted comment":   func(f *fake, ev *gh.Event) { f.comments = nil },
		"on an issue":         func(f *fake, ev *gh.Event) { ev.Pull = nil },
		"of an other event":   func(f *fake, ev *gh.Event) { ev.Name = "push" },
		"without any comment": func(f *fake, ev *gh.Event) { ev.Comment = nil },
	} {
		f := newFake("/triage")
		ev := f.event()
		change(f, &ev)
		if out := f.handle(t, ev); len(f.did) != 0 || out.Accepted || out.Said == "" {
			t.Errorf("%s: did %v, %+v", name, f.did, out)
		}
	}
}

func TestWhatIsRefusedIsAnswered(t *testing.T) {
	for name, tc := range map[string]struct {
		body   string
		change func(*fake, *gh.Event)
		want   string
	}{
		"a triager":              {"/triage", func(f *fake, ev *gh.Event) { f.as("tim", ev) }, "author has triage"},
		"nonsense":               {"/triage foo=1", nil, `no option "foo"`},
		"edited in the meantime": {"/triage", func(f *fake, ev *gh.Event) { f.comments[0].Body = "/triage TestEvil" }, "was edited"},
		"closed":                 {"/triage", func(f *fake, ev *gh.Event) { f.pull.State = "closed" }, "closed"},
		"no run":                 {"/triage", func(f *fake, ev *gh.Event) { f.runs = nil }, "no run of `triage.yml`"},
		"a run of other rights":  {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Event = "pull_request_target" }, "no run of"},
		"another workflow":       {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Path = ".github/workflows/release.yml" }, "no run of"},
		"another repository":     {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].HeadRepoID = 9 }, "no run of"},
		"another commit":         {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].HeadSHA = strings.Repeat("b", 40) }, "no run of"},
		"moved since":            {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Created = now.Add(time.Minute) }, "came after the comment"},
		"still running":          {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Status = "in_progress" }, "has not ended yet"},
		"not approved":           {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Conclusion = "action_required" }, "waits for a person"},
		"too old":                {"/triage", func(f *fake, ev *gh.Event) { f.runs[0].Created = now.Add(-31 * 24 * time.Hour) }, "more than 30 days"},
		"forbidden":              {"/triage", func(f *fake, ev *gh.Event) { f.rerunErr = gh.ErrForbidden }, "actions: write"},
		"gone":                   {"/triage rerun", func(f *fake, ev *gh.Event) { f.rerunErr = gh.ErrGone }, "cannot be started"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(tc.body)
			ev := f.event()
			if tc.change != nil {
				tc.change(f, &ev)
			}
			out := f.handle(t, ev)
			if out.Accepted || !strings.Contains(out.Said, tc.want) {
				t.Errorf("said %q, want %q", out.Said, tc.want)
			}
			if !slices.Contains(f.did, "reply") || f.did[len(f.did)-1] != "confused" {
				t.Errorf("did %v", f.did)
			}
			if _, ok, _ := Accepted(t.Context(), f, 5, head, 42, 2); ok {
				t.Error("the run finds a command that was refused")
			}
			if last := f.comments[len(f.comments)-1]; strings.HasPrefix(last.Body, Name) || strings.Contains(last.Body, "TestEvil") {
				t.Errorf("the reply is %q", last.Body)
			}
		})
	}
}

// Whoever may only read cannot have us write a comment for each of theirs.
func TestAStrangerGetsAReactionAndNoReply(t *testing.T) {
	for name, tc := range map[string]struct {
		who, body string
		change    func(*fake)
	}{
		"a reader":                      {"eve", "/triage", nil},
		"a stranger":                    {"mallory", "/triage", nil},
		"a stranger's nonsense":         {"mallory", "/triage x=", nil},
		"a stranger's call for help":    {"mallory", "/triage help", nil},
		"a stranger who edits at once":  {"mallory", "/triage", func(f *fake) { f.comments[0].Body = "/triage TestEvil" }},
		"a stranger who deletes it all": {"mallory", "/triage", func(f *fake) { f.comments = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(tc.body)
			ev := f.event()
			f.as(tc.who, &ev)
			if tc.change != nil {
				tc.change(f)
			}
			if out := f.handle(t, ev); out.Accepted || !slices.Equal(f.did, []string{"confused"}) || !strings.Contains(out.Said, "may not command") {
				t.Errorf("did %v: %+v", f.did, out)
			}
		})
	}
}

// as makes another person write the comment.
func (f *fake) as(user string, ev *gh.Event) {
	f.comments[0].Author = user
	ev.Comment.Author, ev.Sender = user, user
}

func TestATriagerCommandsWhereThatIsAllowed(t *testing.T) {
	f := newFake("/triage")
	ev := f.event()
	f.as("tim", &ev)
	o := options()
	o.Least = gh.RoleTriage
	if out, err := Handle(t.Context(), f, ev, o); err != nil || !out.Accepted {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestOnlyTheMeasuringJobIsStartedWhereItIsNamed(t *testing.T) {
	jobs := []gh.Job{{ID: 1, Name: "test"}, {ID: 2, Name: "triage (linux)"}, {ID: 3, Name: "triage-docs"}}
	for name, tc := range map[string]struct {
		body string
		jobs []gh.Job
		want string
	}{
		"the one":          {"/triage", jobs, "job 2"},
		"none":             {"/triage", jobs[:1], "confused"},
		"two":              {"/triage", append(slices.Clone(jobs), gh.Job{ID: 4, Name: "triage (macos)"}), "confused"},
		"rerun of all red": {"/triage rerun", jobs, "failed"},
	} {
		f := newFake(tc.body)
		f.jobs = tc.jobs
		o := options()
		o.Job = "triage"
		if _, err := Handle(t.Context(), f, f.event(), o); err != nil || !slices.Contains(f.did, tc.want) || slices.Contains(f.did, "run") {
			t.Errorf("%s: did %v, %v", name, f.did, err)
		}
	}
}

func TestHelpIsTheTable(t *testing.T) {
	f := newFake("/triage help")
	if out := f.handle(t, f.event()); out.Said != Usage || !slices.Equal(f.did, []string{"eyes", "reply", "rocket"}) {
		t.Errorf("did %v, said %q", f.did, out.Said)
	}
}

func TestASecondCommandHasToWait(t *testing.T) {
	f := newFake("/triage")
	f.handle(t, f.event())
	f.did = nil
	second := gh.CommentRef{ID: 11, Body: "/triage", Author: "ada", Created: now.Add(time.Second), Updated: now.Add(time.Second)}
	f.comments = append(f.comments, second)
	ev := f.event()
	ev.Comment = &second
	if out := f.handle(t, ev); out.Accepted || !strings.Contains(out.Said, "less than 1m0s old") || slices.Contains(f.did, "run") {
		t.Errorf("did %v, %+v", f.did, out)
	}
	o := options()
	o.Now = func() time.Time { return now.Add(2 * time.Minute) }
	if out, err := Handle(t.Context(), f, ev, o); err != nil || !out.Accepted {
		t.Errorf("after the cooldown: %+v, %v", out, err)
	}
}

func TestAnAcceptanceOfAnothersIsNone(t *testing.T) {
	f := newFake("/triage TestA")
	f.handle(t, f.event())
	reply := &f.comments[1]
	for name, change := range map[string]func(){
		"another author":    func() { reply.Author = "mallory" },
		"another comment":   func() { reply.Body = strings.Replace(reply.Body, "reply/10 ", "reply/11 ", 1) },
		"a report of ours":  func() { reply.Body = gh.Marker("check") + "\n" + reply.Body },
		"further below":     func() { reply.Body = strings.Replace(reply.Body, "-->\n", "-->\ntext\n", 1) },
		"another's comment": func() { reply.Author, reply.Body = "mallory", "<!-- triagebot:reply -->\n"+reply.Body },
	} {
		was := *reply
		change()
		if _, ok, err := Accepted(t.Context(), f, 5, head, 42, 2); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		*reply = was
	}
	for name, ask := range map[string]func() (Command, bool, error){
		"another commit":  func() (Command, bool, error) { return Accepted(t.Context(), f, 5, strings.Repeat("b", 40), 42, 2) },
		"another run":     func() (Command, bool, error) { return Accepted(t.Context(), f, 5, head, 43, 2) },
		"another attempt": func() (Command, bool, error) { return Accepted(t.Context(), f, 5, head, 42, 3) },
	} {
		if _, ok, err := ask(); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	f.comments[0].Body = "/triage TestEvil"
	if _, ok, err := Accepted(t.Context(), f, 5, head, 42, 2); ok || err == nil {
		t.Errorf("a comment that was edited after it was accepted: %v, %v", ok, err)
	}
}

func TestAnOutageIsAnErrorAndTakesTheAcceptanceBack(t *testing.T) {
	f := newFake("/triage")
	f.rerunErr = gh.ErrUnavailable
	if _, err := Handle(t.Context(), f, f.event(), options()); !errors.Is(err, gh.ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	if _, ok, _ := Accepted(t.Context(), f, 5, head, 42, 2); ok {
		t.Error("the acceptance still stands")
	}
}

func TestADryRunDoesNothing(t *testing.T) {
	f := newFake("/triage")
	o := options()
	o.DryRun = true
	if out, err := Handle(t.Context(), f, f.event(), o); err != nil || len(f.did) != 0 || !strings.Contains(out.Said, "dry run") {
		t.Errorf("did %v, %+v, %v", f.did, out, err)
	}
}
