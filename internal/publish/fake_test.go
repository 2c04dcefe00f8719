package publish

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	repoID = 7
	forkID = 8
	runID  = 42
	me     = "github-actions[bot]"
)

var (
	headSHA  = strings.Repeat("a", 40)
	movedSHA = strings.Repeat("b", 40)
	mergeSHA = strings.Repeat("c", 40)
	baseSHA  = strings.Repeat("d", 40)
	otherSHA = strings.Repeat("e", 40)
)

// fake is GitHub as far as publishing asks. Its comments behave as those do.
type fake struct {
	run       gh.Run
	artifacts []gh.Artifact
	files     map[int64]map[string][]byte
	readErr   map[int64]error
	pull      gh.Pull
	findErr   error
	comments  []gh.CommentRef
	upsertErr []error // one an attempt
	bases     map[string]string
	// moved is the head after the artifacts were read.
	moved  string
	closed bool
	wrote  int
}

func newFake(r triage.Report) *fake {
	f := &fake{
		run: gh.Run{
			ID: runID, Attempt: 1, Path: ".github/workflows/triage.yml", Event: "pull_request", Status: "completed", Conclusion: "failure",
			HeadSHA: headSHA, HeadRepoID: repoID, HeadRepo: "acme/loop", RepoID: repoID, Pulls: []int{5},
		},
		pull: gh.Pull{
			Number: 5, State: "open", MergeSHA: mergeSHA,
			Head: gh.Branch{SHA: headSHA, RepoID: repoID, Repo: "acme/loop"}, Base: gh.Branch{SHA: baseSHA, RepoID: repoID, Repo: "acme/loop"},
		},
		files: map[int64]map[string][]byte{}, readErr: map[int64]error{}, bases: map[string]string{mergeSHA: headSHA},
	}
	f.add("triagebot-report", r)
	return f
}

func (f *fake) add(name string, r triage.Report) *gh.Artifact {
	id := int64(len(f.artifacts) + 1)
	f.artifacts = append(f.artifacts, gh.Artifact{ID: id, Name: name, RunID: runID, HeadSHA: f.run.HeadSHA, HeadRepoID: f.run.HeadRepoID})
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		panic(err)
	}
	f.files[id] = map[string][]byte{file: b.Bytes()}
	return &f.artifacts[len(f.artifacts)-1]
}

// fork makes the pull request one of a fork's, which GitHub names in no run.
func (f *fake) fork() {
	f.run.HeadRepoID, f.run.HeadRepo, f.run.Pulls = forkID, "mallory/loop", nil
	f.pull.Head.RepoID, f.pull.Head.Repo = forkID, "mallory/loop"
	for i := range f.artifacts {
		f.artifacts[i].HeadRepoID = forkID
	}
}

func (f *fake) Run(context.Context, int64) (gh.Run, error) { return f.run, nil }
func (f *fake) Repo(context.Context) (gh.Repo, error) {
	return gh.Repo{ID: repoID, Owner: "acme", Name: "loop"}, nil
}
func (f *fake) Artifacts(context.Context, int64) ([]gh.Artifact, error) { return f.artifacts, nil }
func (f *fake) ReadArtifact(_ context.Context, a gh.Artifact, _ []string, _ gh.Limits) (map[string][]byte, error) {
	return f.files[a.ID], f.readErr[a.ID]
}
func (f *fake) FindPull(_ context.Context, run gh.Run) (gh.Pull, error) {
	if f.findErr == nil && f.pull.Head.SHA != run.HeadSHA {
		return gh.Pull{}, fmt.Errorf("finding: %w", gh.ErrNoPull)
	}
	return f.pull, f.findErr
}
func (f *fake) Pull(context.Context, int) (gh.Pull, error) {
	p := f.pull
	if f.moved != "" {
		p.Head.SHA = f.moved
	}
	if f.closed {
		p.State = "closed"
	}
	return p, nil
}
func (f *fake) MergeBase(_ context.Context, base, head string) (string, error) {
	if b, ok := f.bases[head]; ok {
		return b, nil
	}
	return "", gh.ErrNotFound
}
func (f *fake) Login(context.Context) (string, error) { return me, nil }
func (f *fake) Comments(context.Context, int, time.Time) ([]gh.CommentRef, error) {
	return f.comments, nil
}
func (f *fake) Upsert(_ context.Context, number int, w gh.Comment) (gh.Result, error) {
	if len(f.upsertErr) > 0 {
		err := f.upsertErr[0]
		f.upsertErr = f.upsertErr[1:]
		if err != nil {
			return gh.Result{}, err
		}
	}
	if number != f.pull.Number {
		return gh.Result{}, gh.ErrNotFound
	}
	body := gh.Marker(w.Marker) + "\n" + w.Body
	if len(body) > gh.CommentLimit {
		return gh.Result{}, gh.ErrTooLong
	}
	for i, c := range f.comments {
		if c.Author != me || !strings.HasPrefix(c.Body, gh.Marker(w.Marker)) {
			continue
		}
		if c.Body == body {
			return gh.Result{Action: gh.Unchanged, ID: c.ID}, nil
		}
		f.wrote++
		f.comments[i].Body = body
		return gh.Result{Action: gh.Updated, ID: c.ID}, nil
	}
	if !w.Create {
		return gh.Result{Action: gh.None}, nil
	}
	f.wrote++
	f.comments = append(f.comments, gh.CommentRef{ID: 1, Body: body, Author: me})
	return gh.Result{Action: gh.Created, ID: 1, URL: "https://gh.example/1"}, nil
}

func (f *fake) publish(t *testing.T) Outcome {
	t.Helper()
	out, err := FromRun(t.Context(), f, runID, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sample is a report about one red test on the merge commit.
func sample(verdicts ...triage.Verdict) triage.Report {
	r := triage.Report{
		Schema: triage.Schema,
		Tool:   triage.Tool{Name: "triagebot", Version: "1", Go: "go1.26", Platform: "linux/amd64", Cores: 2},
		Check:  triage.Check{Repo: "acme/loop", Suite: "go", Source: "report", Head: triage.Rev{SHA: mergeSHA}, Base: triage.Rev{SHA: baseSHA}},
		Plan:   triage.Plan{Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), BudgetMS: 1000, TrialTimeoutMS: 1000, Lag: "auto", Alpha: 0.01},
	}
	for _, v := range verdicts {
		v.Bound.Text = "wrong ≤ 1 %"
		r.Failures = append(r.Failures, triage.Failure{Target: v.Target, Outcome: triage.Fail})
		r.Evidence = append(r.Evidence, triage.Evidence{Target: v.Target})
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

func regression() triage.Report {
	return sample(triage.Verdict{
		Target: triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app", Test: "TestOne"},
		Class:  triage.LikelyRegression, Origin: triage.OriginHead,
	})
}

// silent is a GitHub that compares nothing.
type silent struct{ *fake }

func (*silent) MergeBase(context.Context, string, string) (string, error) {
	return "", gh.ErrUnavailable
}
