package sample

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func layout(t *testing.T, shape Shape, remove []string, archive string) Layout {
	t.Helper()
	l, _, err := Parse(txtar.Parse([]byte(archive)), shape, remove)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func build(t *testing.T, l Layout) Repo {
	t.Helper()
	r, err := Build(t.TempDir(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func show(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

const small = "-- base/a.txt --\none\n-- base/b.txt --\ntwo\n-- head/a.txt --\nchanged\n"

func TestBuildPlainHasHeadOnTopOfBase(t *testing.T) {
	r := build(t, layout(t, "", []string{"b.txt"}, small))
	if got := show(t, r.Dir, "rev-parse", "HEAD", "HEAD~1"); got != r.Head+"\n"+r.Base {
		t.Errorf("history is %q, want head %s on base %s", got, r.Head, r.Base)
	}
	if got := show(t, r.Dir, "diff", "--name-status", r.Base, r.Head); got != "M\ta.txt\nD\tb.txt" {
		t.Errorf("head changes %q", got)
	}
	if got := show(t, r.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("worktree is not clean: %q", got)
	}
}

func TestBuildGivesTheSameCommitsEverywhere(t *testing.T) {
	l := layout(t, "", nil, small)
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	a := build(t, l)
	t.Setenv("HOME", t.TempDir())
	b := build(t, l)
	if a.Head != b.Head || a.Base != b.Base {
		t.Errorf("two builds differ: %+v and %+v", a, b)
	}
}

func TestBuildMergeHasMainAsFirstParent(t *testing.T) {
	r := build(t, layout(t, Merge, nil, small+"-- main/c.txt --\nlater\n"))
	parents := strings.Fields(show(t, r.Dir, "rev-list", "--parents", "-n1", r.Head))
	if len(parents) != 3 || parents[1] != r.Base {
		t.Errorf("head and parents are %v, want the first parent %s", parents, r.Base)
	}
	if got := show(t, r.Dir, "merge-base", parents[1], parents[2]); got == r.Base {
		t.Error("base is the fork point too: the sample cannot tell the two rules apart")
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "c.txt")); err != nil {
		t.Error(err)
	}
}

func TestBuildShallowDoesNotHaveBase(t *testing.T) {
	r := build(t, layout(t, Shallow, nil, small))
	if got := show(t, r.Dir, "rev-parse", "--is-shallow-repository", "HEAD"); got != "true\n"+r.Head {
		t.Errorf("clone is %q", got)
	}
	c := exec.Command("git", "cat-file", "-e", r.Base)
	c.Dir = r.Dir
	if c.Run() == nil {
		t.Error("the clone has base already")
	}
	show(t, r.Dir, "fetch", "--quiet", "--depth=1", "origin", r.Base)
}

func TestBuildDirtyLeavesTheChangeUncommitted(t *testing.T) {
	r := build(t, layout(t, Dirty, nil, small+"-- dirty/a.txt --\nnot yet committed\n"))
	if got := show(t, r.Dir, "status", "--porcelain"); got != "M a.txt" {
		t.Errorf("status is %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		shape   Shape
		remove  []string
		archive string
		want    string
	}{
		"an unknown shape":           {"round", nil, small, "unknown shape"},
		"no base":                    {"", nil, "-- head/a --\n", "no file under base/"},
		"a head without a change":    {"", nil, "-- base/a --\n", "changes nothing"},
		"main without a merge":       {"", nil, small + "-- main/a --\n", "main/"},
		"a merge without main":       {Merge, nil, small, "main/"},
		"dirty files in a clean one": {"", nil, small + "-- dirty/a --\n", "dirty/"},
		"a path that climbs out":     {"", nil, small + "-- base/../../x --\n", "leaves its root"},
		"a file twice":               {"", nil, small + "-- base/a.txt --\n", "twice"},
		"a deletion of nothing":      {"", []string{"zzz"}, small, "does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse(txtar.Parse([]byte(c.archive)), c.shape, c.remove)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestBuildTellsWhatGitSaid(t *testing.T) {
	l := layout(t, "", nil, "-- base/a --\nsame\n-- head/a --\nsame\n")
	if _, err := Build(t.TempDir(), l); err == nil || !strings.Contains(err.Error(), "git commit") {
		t.Errorf("error is %v, want the failing git command", err)
	}
}
