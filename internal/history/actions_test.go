package history

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// github is a GitHub in memory.
type github struct {
	runs    []Run
	reports map[int64][][]byte
	fails   error
	asked   []string
}

func (g *github) Repo(context.Context) (Repo, error) {
	return Repo{ID: 7, DefaultBranch: "trunk"}, g.fails
}

func (g *github) Runs(_ context.Context, branch string, _ int) ([]Run, error) {
	g.asked = append(g.asked, branch)
	return g.runs, nil
}

func (g *github) Reports(_ context.Context, run Run) ([]Artifact, error) {
	if run.ID == 404 {
		return nil, errors.New("gone")
	}
	var out []Artifact
	for _, b := range g.reports[run.ID] {
		out = append(out, Artifact{"report.json", func(context.Context) ([]byte, error) { return b, nil }})
	}
	return out, nil
}

// swept is a run of the default branch on a day, and its report.
func (g *github) swept(t *testing.T, id int64, day int, change func(*Run, *triage.Report)) {
	t.Helper()
	run := Run{ID: id, Branch: "trunk", Event: "schedule", HeadSHA: "main", RepoID: 7, HeadRepoID: 7, Created: nov1.AddDate(0, 0, day)}
	rep := with(night(day), test("a"), alone, "..")
	if change != nil {
		change(&run, &rep)
	}
	g.runs = append(g.runs, run)
	if g.reports == nil {
		g.reports = map[int64][][]byte{}
	}
	g.reports[id] = append(g.reports[id], encoded(t, rep)...)
}

func TestOnlyRunsOfTheDefaultBranchAreEvidence(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Run, *triage.Report)
		says   string // empty: it is taken
	}{
		"a night of main":                        {nil, ""},
		"a push to main":                         {func(r *Run, _ *triage.Report) { r.Event = "push" }, ""},
		"a fork's branch of the same name":       {func(r *Run, _ *triage.Report) { r.HeadRepoID = 666 }, "its code is of another repository"},
		"a run of another repository":            {func(r *Run, _ *triage.Report) { r.RepoID, r.HeadRepoID = 666, 666 }, "its code is of another repository"},
		"a pull request from the own repository": {func(r *Run, _ *triage.Report) { r.Event = "pull_request" }, `started by "pull_request"`},
		"a pull request's target":                {func(r *Run, _ *triage.Report) { r.Event = "pull_request_target" }, `started by "pull_request_target"`},
		"a run that hands on another's":          {func(r *Run, _ *triage.Report) { r.Event = "workflow_run" }, `started by "workflow_run"`},
		"another branch":                         {func(r *Run, _ *triage.Report) { r.Branch = "change" }, `of branch "change", not of "trunk"`},
		"a run without a commit":                 {func(r *Run, _ *triage.Report) { r.HeadSHA = "" }, "its commit is not known"},
		"a report of another commit":             {func(_ *Run, r *triage.Report) { r.Check.Head.SHA, r.Check.Base.SHA = "forged", "forged" }, "it is of commit forged, and the run that left it was of main"},
		"a report with uncommitted changes":      {func(_ *Run, r *triage.Report) { r.Check.Head.Dirty = true }, "it is of commit main"},
		"a report of another repository":         {func(_ *Run, r *triage.Report) { r.Check.Repo = "evil/loop" }, `it is of "evil/loop"`},
		"a run whose artifacts cannot be listed": {func(r *Run, _ *triage.Report) { r.ID = 404 }, "the artifacts of 1 runs cannot be listed, for example gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &github{}
			g.swept(t, 1, 0, tc.change)
			r, err := Read(t.Context(), Actions{g}, Limits{Repo: "acme/loop"}, report.Decode)
			if err != nil {
				t.Fatal(err)
			}
			if taken := r.Past(test("a"), hangUp) != nil; taken != (tc.says == "") {
				t.Errorf("taken: %v; %q", taken, r.Warnings)
			}
			if tc.says != "" && (len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], tc.says)) {
				t.Errorf("warnings %q, want %q", r.Warnings, tc.says)
			}
			if len(g.asked) != 1 || g.asked[0] != "trunk" {
				t.Errorf("asked for the runs of %q", g.asked)
			}
		})
	}
}

func TestActionsGiveTheNewestFirst(t *testing.T) {
	g := &github{}
	for day := range 5 {
		g.swept(t, int64(day+1), day, nil)
	}
	r, err := Read(t.Context(), Actions{g}, Limits{Reports: 2}, report.Decode)
	if err != nil || r.Reports != 2 || !r.Past(test("a"), hangUp).Since.Equal(nov1.AddDate(0, 0, 3)) {
		t.Errorf("%v, %d reports", err, r.Reports)
	}
	g.fails = errors.New("no network")
	if _, err := Read(t.Context(), Actions{g}, Limits{}, report.Decode); !errors.Is(err, g.fails) {
		t.Errorf("error %v", err)
	}
}
