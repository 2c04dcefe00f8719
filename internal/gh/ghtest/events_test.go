package ghtest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// parse reads a payload with go-github. schedule is no webhook.
func parse[E any](t *testing.T, name string) *E {
	t.Helper()
	kind, _, _ := strings.Cut(name, ".")
	e, err := github.ParseWebHook(kind, ghtest.Event(name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, is := e.(*E)
	if !is {
		t.Fatalf("%s is a %T", name, e)
	}
	return got
}

func TestEveryPayloadIsReadByGoGithub(t *testing.T) {
	names := ghtest.EventNames()
	if len(names) < 20 {
		t.Errorf("only %d payloads: %v", len(names), names)
	}
	for _, name := range names {
		kind, _, _ := strings.Cut(name, ".")
		if kind == "schedule" {
			continue
		}
		if _, err := github.ParseWebHook(kind, ghtest.Event(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The repository of a derived payload is that of the state, wherever it is named.
func TestADerivedPayloadSpeaksOfTheState(t *testing.T) {
	for _, name := range ghtest.EventNames() {
		var payload struct {
			Repository struct {
				ID       int64
				FullName string `json:"full_name"`
			}
		}
		text := ghtest.Event(name)
		if err := json.Unmarshal(text, &payload); err != nil {
			t.Fatal(err)
		}
		if payload.Repository.FullName == "acme/widgets" {
			if payload.Repository.ID != 1001 || strings.Contains(string(text), "Codertocat/Hello-World") || strings.Contains(string(text), "octo-org/octo-repo") {
				t.Errorf("%s speaks of other repositories too", name)
			}
		} else if !strings.Contains("check_run.completed issue_comment.created merge_group.checks_requested pull_request.opened pull_request.synchronize push workflow_dispatch workflow_run.completed", name) {
			t.Errorf("%s is about %s", name, payload.Repository.FullName)
		}
	}
}

func TestACommentOnAPullRequestSaysSoAndHasNoSHA(t *testing.T) {
	on := parse[github.IssueCommentEvent](t, "issue_comment.own")
	if !on.GetIssue().IsPullRequest() || on.GetIssue().GetNumber() != 7 || on.GetComment().GetUser().GetLogin() != "bob" || on.GetSender().GetLogin() != "bob" {
		t.Errorf("got %v", on)
	}
	if strings.Contains(string(ghtest.Event("issue_comment.own")), ghtest.SHA("head")) {
		t.Error("the payload has the head's SHA")
	}
	if parse[github.IssueCommentEvent](t, "issue_comment.issue").GetIssue().IsPullRequest() {
		t.Error("an issue is a pull request")
	}
	if bot := parse[github.IssueCommentEvent](t, "issue_comment.bot"); bot.GetSender().GetType() != "Bot" {
		t.Errorf("the bot is a %s", bot.GetSender().GetType())
	}
}

func TestARunOfAForkListsNoPullRequestAndMayBeOfMain(t *testing.T) {
	fork := parse[github.WorkflowRunEvent](t, "workflow_run.fork").GetWorkflowRun()
	if len(fork.PullRequests) != 0 || fork.GetHeadBranch() != "main" || fork.GetHeadRepository().GetID() != 2002 || fork.GetRepository().GetID() != 1001 {
		t.Errorf("got %v", fork)
	}
	if fork.GetEvent() != "pull_request" || fork.GetConclusion() != "failure" || fork.GetHeadSHA() != ghtest.SHA("fork-head") {
		t.Errorf("got %v", fork)
	}
	own := parse[github.WorkflowRunEvent](t, "workflow_run.own").GetWorkflowRun()
	if len(own.PullRequests) != 1 || own.PullRequests[0].GetNumber() != 7 || own.GetRunAttempt() != 1 || own.PullRequests[0].GetBase().GetRepo().GetID() != 1001 {
		t.Errorf("got %v", own)
	}
	second := parse[github.WorkflowRunEvent](t, "workflow_run.attempt2").GetWorkflowRun()
	if second.GetRunAttempt() != 2 || !strings.HasSuffix(second.GetPreviousAttemptURL(), "/attempts/1") {
		t.Errorf("got %v", second)
	}
	if gone := parse[github.WorkflowRunEvent](t, "workflow_run.deletedfork").GetWorkflowRun(); gone.HeadRepository != nil {
		t.Errorf("the deleted fork is %v", gone.HeadRepository)
	}
}

func TestTheOtherEventsHaveTheirFacts(t *testing.T) {
	if e := parse[github.PullRequestEvent](t, "pull_request.fork"); e.GetAction() != "opened" || !e.GetPullRequest().GetHead().GetRepo().GetFork() || e.GetNumber() != 8 {
		t.Errorf("got %v", e)
	}
	if e := parse[github.PullRequestEvent](t, "pull_request.own"); e.GetAction() != "synchronize" || e.GetAfter() != ghtest.SHA("head") || e.GetPullRequest().GetMergeCommitSHA() != ghtest.SHA("merge") {
		t.Errorf("got %v", e)
	}
	if e := parse[github.CheckRunEvent](t, "check_run.own"); e.GetCheckRun().GetConclusion() != "failure" || e.GetCheckRun().GetApp().GetSlug() != "github-actions" || len(e.GetCheckRun().PullRequests) != 1 {
		t.Errorf("got %v", e)
	}
	if e := parse[github.PushEvent](t, "push.main"); e.GetRef() != "refs/heads/main" || e.GetAfter() != ghtest.SHA("base") || e.GetBefore() != ghtest.SHA("root") {
		t.Errorf("got %v", e)
	}
	if e := parse[github.MergeGroupEvent](t, "merge_group.own"); e.GetMergeGroup().GetHeadSHA() != ghtest.SHA("merge") || e.GetMergeGroup().GetBaseSHA() != ghtest.SHA("base") {
		t.Errorf("got %v", e)
	}
	var sweep, scheduled map[string]any
	for name, into := range map[string]*map[string]any{"workflow_dispatch.sweep": &sweep, "schedule.sweep": &scheduled} {
		if err := json.Unmarshal(ghtest.Event(name), into); err != nil {
			t.Fatal(err)
		}
	}
	if inputs, _ := sweep["inputs"].(map[string]any); len(inputs) != 1 || inputs["mode"] != "sweep" {
		t.Errorf("the inputs are %v", sweep["inputs"])
	}
	if _, has := scheduled["inputs"]; has || scheduled["schedule"] != "17 3 * * *" {
		t.Errorf("got %v", scheduled)
	}
}
