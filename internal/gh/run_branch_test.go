package gh

import (
	"errors"
	"testing"
)

func TestRunsAreFoundByTheNameOfTheirBranch(t *testing.T) {
	f := newFake(t, "workflow")
	runs, err := f.RunsOn(ctx, "main", "", 10)
	if err != nil || len(runs) == 0 {
		t.Fatalf("%v, %d runs", err, len(runs))
	}
	foreign := false
	for i, r := range runs {
		if r.HeadBranch != "main" || r.Status != "completed" {
			t.Errorf("run %d is of %q, %s", r.ID, r.HeadBranch, r.Status)
		}
		if i > 0 && r.Created.After(runs[i-1].Created) {
			t.Error("not the newest first")
		}
		foreign = foreign || r.HeadRepoID != r.RepoID
	}
	if !foreign {
		t.Error("the fork's branch of the same name is not among them: whoever asks must see that it is foreign")
	}
	if one, err := f.RunsOn(ctx, "main", "ci.yml", 1); err != nil || len(one) != 1 || one[0].ID != runs[0].ID {
		t.Errorf("%v, %+v", err, one)
	}
	if none, err := f.RunsOn(ctx, "main", "no-such.yml", 10); err != nil || len(none) != 0 {
		t.Errorf("%v, %+v", err, none)
	}
	if _, err := f.RunsOn(ctx, "", "", 10); !errors.Is(err, ErrInvalid) {
		t.Errorf("no branch: %v", err)
	}
}
