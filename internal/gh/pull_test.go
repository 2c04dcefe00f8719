package gh

import (
	"errors"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// forkRun is a run of pull request 8, of a fork whose branch is called main.
func forkRun() Run {
	return Run{ID: 5, HeadSHA: ghtest.SHA("fork-head"), HeadBranch: "main", HeadRepo: "mallory/widgets", HeadRepoID: 2002, RepoID: 1001}
}

// ownRun is a run of pull request 7, of the repository itself.
func ownRun() Run {
	return Run{ID: 6, HeadSHA: ghtest.SHA("head"), HeadBranch: "fix", HeadRepo: "acme/widgets", HeadRepoID: 1001, RepoID: 1001, Pulls: []int{7}}
}

func TestAPullRequestTellsItsEnds(t *testing.T) {
	f := newFake(t, "workflow")
	p, err := f.Pull(ctx, 8)
	if err != nil {
		t.Fatal(err)
	}
	if p.Author != "mallory" || p.State != "open" || p.Head != (Branch{ghtest.SHA("fork-head"), "main", 2002, "mallory/widgets"}) || p.Base.RepoID != 1001 {
		t.Errorf("%+v", p)
	}
	if !p.Fork() {
		t.Error("it is of a fork")
	}
	own, err := f.Pull(ctx, 7)
	if err != nil || own.Fork() || own.MergeSHA != ghtest.SHA("merge") {
		t.Errorf("%+v %v", own, err)
	}
	f.Update(func(s *ghtest.State) { s.Pulls[1].Head.Repo = 0 })
	gone, err := f.Pull(ctx, 8)
	if err != nil || !gone.Fork() || !(Pull{}).Fork() {
		t.Errorf("a deleted fork is still one: %+v %v", gone, err)
	}
}

func TestAPullRequestIsStaleWhenItMovedOrClosed(t *testing.T) {
	f := newFake(t, "workflow")
	get := func() Pull {
		p, err := f.Pull(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if get().Stale(ghtest.SHA("head")) {
		t.Error("stale at once")
	}
	f.MoveHead(7, ghtest.SHA("pushed"))
	if !get().Stale(ghtest.SHA("head")) {
		t.Error("not stale after a push")
	}
	f.Update(func(s *ghtest.State) { s.Pulls[0].State = "closed" })
	if !get().Stale(ghtest.SHA("pushed")) {
		t.Error("not stale when closed")
	}
}

func TestThePullRequestOfARunIsFoundByItsHead(t *testing.T) {
	branchless := forkRun()
	branchless.HeadBranch = ""
	misleading := forkRun()
	misleading.Pulls = []int{7, 999}
	renamed := ownRun()
	renamed.HeadBranch, renamed.Pulls = "renamed", nil
	for name, c := range map[string]struct {
		run  Run
		want int
	}{
		"of the repository":                  {ownRun(), 7},
		"of a fork with a branch named main": {forkRun(), 8},
		"of a fork, without a branch":        {branchless, 8},
		"with numbers that are not its own":  {misleading, 8},
		"of a branch that was renamed":       {renamed, 7},
	} {
		f := newFake(t, "workflow")
		p, err := f.FindPull(ctx, c.run)
		if err != nil || p.Number != c.want {
			t.Errorf("%s: #%d %v, want #%d", name, p.Number, err, c.want)
		}
	}
}

func TestNoPullRequestIsFoundByLess(t *testing.T) {
	for name, change := range map[string]func(*Run, *ghtest.State){
		"another commit":              func(r *Run, _ *ghtest.State) { r.HeadSHA = ghtest.SHA("old") },
		"the commit in another fork":  func(r *Run, _ *ghtest.State) { r.HeadRepoID = 2003 },
		"the commit, here":            func(r *Run, _ *ghtest.State) { r.HeadRepoID, r.HeadRepo = 1001, "acme/widgets" },
		"a repository that is gone":   func(r *Run, _ *ghtest.State) { r.HeadRepoID, r.HeadRepo = 0, "" },
		"no commit":                   func(r *Run, _ *ghtest.State) { r.HeadSHA = "" },
		"a branch for a commit":       func(r *Run, _ *ghtest.State) { r.HeadSHA = "main" },
		"a push after the run":        func(_ *Run, s *ghtest.State) { s.Pulls[1].Head.SHA = ghtest.SHA("pushed") },
		"a pull request that closed":  func(_ *Run, s *ghtest.State) { s.Pulls[1].State = "closed" },
		"a number only":               func(r *Run, _ *ghtest.State) { r.HeadSHA, r.Pulls = ghtest.SHA("old"), []int{7, 8} },
		"a closed one that is named":  func(r *Run, s *ghtest.State) { *r = ownRun(); s.Pulls[0].State = "closed" },
		"a hint of a foreign request": func(r *Run, s *ghtest.State) { s.Pulls[1].State = "closed"; r.Pulls = []int{7} },
	} {
		f := newFake(t, "workflow")
		run := forkRun()
		f.Update(func(s *ghtest.State) { change(&run, s) })
		if p, err := f.FindPull(ctx, run); !errors.Is(err, ErrNoPull) {
			t.Errorf("%s: #%d %v", name, p.Number, err)
		}
	}
}

func TestTwoPullRequestsOfOneHeadAreTooMany(t *testing.T) {
	for _, branch := range []string{"main", ""} {
		f := newFake(t, "workflow")
		f.Update(func(s *ghtest.State) {
			p := s.Pulls[1]
			p.Number, p.Base.Ref = 12, "release"
			s.Pulls = append(s.Pulls, p)
		})
		run := forkRun()
		run.HeadBranch, run.Pulls = branch, []int{8}
		if branch == "" {
			run.Pulls = nil
		}
		p, err := f.FindPull(ctx, run)
		if !errors.Is(err, ErrManyPulls) || !strings.Contains(err.Error(), "#8") || !strings.Contains(err.Error(), "#12") {
			t.Errorf("branch %q: #%d %v", branch, p.Number, err)
		}
	}
}

func TestSearchingEndsInTheErrorOfGitHub(t *testing.T) {
	f := newFake(t, "workflow")
	f.Fail("GET /repos/{owner}/{repo}/pulls", ghtest.BadGateway().Repeat(ghtest.Always))
	if _, err := f.FindPull(ctx, forkRun()); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNoPull) {
		t.Errorf("FindPull: %v", err)
	}
}
