package ghtest_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// everyOperation calls every operation that operations.txt lists, with somebody
// else's client. The server checks each answer against GitHub's description.
var everyOperation = map[string]func(context.Context, *github.Client) error{
	"the repository": func(ctx context.Context, c *github.Client) error {
		return first(c.Repositories.Get(ctx, owner, repo))
	},
	"a permission": func(ctx context.Context, c *github.Client) error {
		return first(c.Repositories.GetPermissionLevel(ctx, owner, repo, "bob"))
	},
	"a file": func(ctx context.Context, c *github.Client) error {
		_, _, _, err := c.Repositories.GetContents(ctx, owner, repo, ".github/triagebot.yml", &github.RepositoryContentGetOptions{Ref: "main"})
		return err
	},
	"a ref": func(ctx context.Context, c *github.Client) error {
		return first(c.Git.GetRef(ctx, owner, repo, "heads/main"))
	},
	"a commit": func(ctx context.Context, c *github.Client) error {
		return first(c.Repositories.GetCommit(ctx, owner, repo, "main", nil))
	},
	"a comparison": func(ctx context.Context, c *github.Client) error {
		return first(c.Repositories.CompareCommits(ctx, owner, repo, "main", "fix", &github.ListOptions{PerPage: 1}))
	},
	"a user":          func(ctx context.Context, c *github.Client) error { return first(c.Users.Get(ctx, "bob")) },
	"me":              func(ctx context.Context, c *github.Client) error { return first(c.Users.Get(ctx, "")) },
	"the rate limits": func(ctx context.Context, c *github.Client) error { return first(c.RateLimit.Get(ctx)) },
	"pull requests": func(ctx context.Context, c *github.Client) error {
		return first(c.PullRequests.List(ctx, owner, repo, nil))
	},
	"a pull request": func(ctx context.Context, c *github.Client) error {
		return first(c.PullRequests.Get(ctx, owner, repo, 7))
	},
	"its files": func(ctx context.Context, c *github.Client) error {
		return first(c.PullRequests.ListFiles(ctx, owner, repo, 7, nil))
	},
	"pull requests of a commit": func(ctx context.Context, c *github.Client) error {
		return first(c.PullRequests.ListPullRequestsWithCommit(ctx, owner, repo, ghtest.SHA("head"), nil))
	},
	"issues": func(ctx context.Context, c *github.Client) error {
		return first(c.Issues.ListByRepo(ctx, owner, repo, &github.IssueListByRepoOptions{State: "all", Labels: []string{"flaky"}}))
	},
	"an issue": func(ctx context.Context, c *github.Client) error { return first(c.Issues.Get(ctx, owner, repo, 9)) },
	"making an issue": func(ctx context.Context, c *github.Client) error {
		return first(c.Issues.Create(ctx, owner, repo, &github.IssueRequest{Title: github.String("a race"), Labels: &[]string{"flaky"}}))
	},
	"changing an issue": func(ctx context.Context, c *github.Client) error {
		return first(c.Issues.Edit(ctx, owner, repo, 9, &github.IssueRequest{State: github.String("closed")}))
	},
	"adding a label": func(ctx context.Context, c *github.Client) error {
		return first(c.Issues.AddLabelsToIssue(ctx, owner, repo, 7, []string{"triaged"}))
	},
	"comments": func(ctx context.Context, c *github.Client) error {
		return first(c.Issues.ListComments(ctx, owner, repo, 7, nil))
	},
	"a comment, all its life": func(ctx context.Context, c *github.Client) error {
		made, _, err := c.Issues.CreateComment(ctx, owner, repo, 9, &github.IssueComment{Body: github.String("one")})
		if err != nil {
			return err
		}
		steps := []func() error{
			func() error { return first(c.Issues.GetComment(ctx, owner, repo, made.GetID())) },
			func() error {
				return first(c.Issues.EditComment(ctx, owner, repo, made.GetID(), &github.IssueComment{Body: github.String("two")}))
			},
			func() error {
				return first(c.Reactions.CreateIssueCommentReaction(ctx, owner, repo, made.GetID(), "eyes"))
			},
			func() error { return first(c.Reactions.ListIssueCommentReactions(ctx, owner, repo, made.GetID(), nil)) },
			func() error { _, err := c.Issues.DeleteComment(ctx, owner, repo, made.GetID()); return err },
		}
		return all(steps)
	},
	"check runs of a commit": func(ctx context.Context, c *github.Client) error {
		return first(c.Checks.ListCheckRunsForRef(ctx, owner, repo, ghtest.SHA("head"), nil))
	},
	"check suites of a branch": func(ctx context.Context, c *github.Client) error {
		return first(c.Checks.ListCheckSuitesForRef(ctx, owner, repo, "fix", nil))
	},
	"a check run, all its life": func(ctx context.Context, c *github.Client) error {
		made, _, err := c.Checks.CreateCheckRun(ctx, owner, repo, github.CreateCheckRunOptions{Name: "triagebot", HeadSHA: ghtest.SHA("head"), Status: github.String("in_progress")})
		if err != nil {
			return err
		}
		return all([]func() error{
			func() error { return first(c.Checks.GetCheckRun(ctx, owner, repo, made.GetID())) },
			func() error {
				return first(c.Checks.UpdateCheckRun(ctx, owner, repo, made.GetID(), github.UpdateCheckRunOptions{Name: "triagebot", Conclusion: github.String("neutral"), Status: github.String("completed"),
					Output: &github.CheckRunOutput{Title: github.String("t"), Summary: github.String("s"), Annotations: []*github.CheckRunAnnotation{{
						Path: github.String("a.go"), StartLine: github.Int(1), EndLine: github.Int(1), AnnotationLevel: github.String("notice"), Message: github.String("m")}}}}))
			},
			func() error { return first(c.Checks.ListCheckRunAnnotations(ctx, owner, repo, made.GetID(), nil)) },
		})
	},
	"runs": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListRepositoryWorkflowRuns(ctx, owner, repo, &github.ListWorkflowRunsOptions{HeadSHA: ghtest.SHA("head"), Event: "pull_request", Status: "completed"}))
	},
	"runs of a workflow": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListWorkflowRunsByFileName(ctx, owner, repo, "ci.yml", nil))
	},
	"a run": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowRunByID(ctx, owner, repo, 42))
	},
	"an attempt": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowRunAttempt(ctx, owner, repo, 42, 1, nil))
	},
	"jobs": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListWorkflowJobs(ctx, owner, repo, 42, &github.ListWorkflowJobsOptions{Filter: "latest"}))
	},
	"jobs of an attempt": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListWorkflowJobsAttempt(ctx, owner, repo, 42, 1, nil))
	},
	"a job": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowJobByID(ctx, owner, repo, 421))
	},
	"a job's log": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowJobLogs(ctx, owner, repo, 421, 0))
	},
	"a run's logs": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowRunLogs(ctx, owner, repo, 42, 0))
	},
	"an attempt's logs": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetWorkflowRunAttemptLogs(ctx, owner, repo, 42, 1, 0))
	},
	"running a job again": func(ctx context.Context, c *github.Client) error {
		_, err := c.Actions.RerunJobByID(ctx, owner, repo, 431)
		return err
	},
	"running a run again": func(ctx context.Context, c *github.Client) error {
		_, err := c.Actions.RerunWorkflowByID(ctx, owner, repo, 44)
		return err
	},
	"running what failed again": func(ctx context.Context, c *github.Client) error {
		_, err := c.Actions.RerunFailedJobsByID(ctx, owner, repo, 45)
		return err
	},
	"starting a workflow": func(ctx context.Context, c *github.Client) error {
		_, err := c.Actions.CreateWorkflowDispatchEventByFileName(ctx, owner, repo, "triagebot.yml", github.CreateWorkflowDispatchEventRequest{Ref: "main", Inputs: map[string]any{"run": "42"}})
		return err
	},
	"dispatching to the repository": func(ctx context.Context, c *github.Client) error {
		return first(c.Repositories.Dispatch(ctx, owner, repo, github.DispatchRequestOptions{EventType: "triage"}))
	},
	"artifacts": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListArtifacts(ctx, owner, repo, nil))
	},
	"artifacts of a run": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.ListWorkflowRunArtifacts(ctx, owner, repo, 42, nil))
	},
	"an artifact": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.GetArtifact(ctx, owner, repo, 51))
	},
	"an artifact's zip": func(ctx context.Context, c *github.Client) error {
		return first(c.Actions.DownloadArtifact(ctx, owner, repo, 51, 0))
	},
}

// appOperations need the JWT of an App.
var appOperations = map[string]func(context.Context, *github.Client) error{
	"the App": func(ctx context.Context, c *github.Client) error { return first(c.Apps.Get(ctx, "")) },
	"its installation": func(ctx context.Context, c *github.Client) error {
		return first(c.Apps.FindRepositoryInstallation(ctx, owner, repo))
	},
	"a token": func(ctx context.Context, c *github.Client) error {
		return first(c.Apps.CreateInstallationToken(ctx, 5, nil))
	},
}

func first[T any](_ T, _ *github.Response, err error) error { return err }

func all(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestEveryOperationAnswersAsGitHubDescribesIt(t *testing.T) {
	for _, shape := range []string{"github.com", "Enterprise Server"} {
		t.Run(shape, func(t *testing.T) {
			s, key := everything(t)
			person := as(t, s, "alice")
			app := github.NewClient(nil).WithAuthToken(jwt(t, key, "5000", time.Now(), time.Minute))
			app.BaseURL = person.BaseURL
			if shape != "github.com" {
				person.BaseURL = person.BaseURL.JoinPath("api/v3/")
				app.BaseURL = person.BaseURL
			}
			for c, ops := range map[*github.Client]map[string]func(context.Context, *github.Client) error{person: everyOperation, app: appOperations} {
				for name, op := range ops {
					t.Run(name, func(t *testing.T) {
						if err := op(context.Background(), c); err != nil {
							t.Error(err)
						}
					})
				}
			}
			called := map[string]bool{}
			for _, r := range s.Requests() {
				called[r.Operation] = true
			}
			for _, want := range listed(t) {
				if !called[want] {
					t.Errorf("%s was not called", want)
				}
			}
		})
	}
}

// everything is a server in which every operation has something to find.
func everything(t *testing.T) (*ghtest.Server, key) {
	s := ghtest.New(t)
	key := newKey(t)
	s.Update(func(st *ghtest.State) {
		st.Tokens = append(st.Tokens, ghtest.Token{Name: "alice", User: "alice", Permissions: ghtest.ReadWrite()})
		st.Files = []ghtest.File{{Path: ".github/triagebot.yml", Content: "budget: 5m\n"}}
		st.Artifacts = []ghtest.Artifact{{ID: 51, Run: 42, Name: "triage", Files: map[string]string{"report.json": "{}"}}}
		st.App = &ghtest.App{ID: 5000, Slug: "triagebot", InstallationID: 5, PublicKey: key.public, Permissions: ghtest.ReadWrite()}
		for id, n := int64(44), 0; n < 2; id, n = id+1, n+1 {
			r := st.Runs[0]
			r.ID, r.Attempts = id, slices.Clone(r.Attempts)
			r.Attempts[0].Jobs = nil
			st.Runs = append(st.Runs, r)
		}
	})
	return s, key
}

// listed are the operations that the description was cut to.
func listed(t *testing.T) []string {
	text, err := os.ReadFile("refresh/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d operations are listed", len(out))
	}
	return out
}
