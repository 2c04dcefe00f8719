package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestOpenAndCloseLeaveTheRepositoryAsItWas(t *testing.T) {
	r := linear(t, 3)
	o := r.options()
	o.Base = "HEAD~1"
	r.unchanged(func() {
		w, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if h, b := content(t, w, triage.Head, "f"), content(t, w, triage.Base, "f"); h != "c" || b != "b" {
			t.Errorf("head has %q, base has %q", h, b)
		}
		// What tests leave in the trees goes too, also where it resists.
		deep := filepath.Join(w.Tree(triage.Base).Dir, "mod", "cache")
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(deep, "x"), nil, 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(deep, 0o555); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := os.Lstat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the trees is still there: %v", err)
	}
}

func TestTreesStandAtTheSamePlaceOnEveryRun(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Dir = "HEAD~1", ""
	var dirs []string
	for range 2 {
		w, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, w.Tree(triage.Head).Dir)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if dirs[0] != dirs[1] || !strings.HasPrefix(dirs[0], os.Getenv("HOME")) {
		t.Errorf("trees stood at %q", dirs)
	}
}

func TestDirtyTreeIsMeasuredAsItIs(t *testing.T) {
	r := linear(t, 1)
	for path, text := range map[string]string{
		"gone": "x", "staged": "old", "mod é": "old", "to-link": "x", "file-to-dir": "x", "dir-to-file/x": "x", "kept": "k",
		"untracked-now": "u", ".gitignore": "*.log\n", "run.sh": "#!/bin/sh\n",
	} {
		r.write(path, text)
	}
	r.git("add", "--all")
	r.git("commit", "-q", "-m", "files")
	for path, text := range map[string]string{
		"staged": "new", "mod é": "new", "new dir/ü.txt": "n", "x.log": "ignored", "build/y.log": "ignored", "untracked-now": "u2",
	} {
		r.write(path, text)
	}
	r.git("add", "staged")
	r.git("rm", "-q", "--cached", "untracked-now")
	at := func(path string) string { return filepath.Join(r.dir, path) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Remove(at("gone")))
	must(os.Remove(at("to-link")))
	must(os.Symlink("kept", at("to-link")))
	must(os.Remove(at("file-to-dir")))
	r.write("file-to-dir/inside", "i")
	must(os.RemoveAll(at("dir-to-file")))
	r.write("dir-to-file", "f")
	must(os.Chmod(at("run.sh"), 0o755))

	r.unchanged(func() {
		w := r.open(r.options())
		rev := w.Tree(triage.Head).Rev
		if !rev.Dirty || rev.Ref != "working tree" || rev.SHA != w.Tree(triage.Base).Rev.SHA {
			t.Errorf("head is %+v, base %+v", rev, w.Tree(triage.Base).Rev)
		}
		if !hasWarning(w, "working tree as it is") {
			t.Errorf("not said: %q", w.Warnings())
		}
		want := map[string]string{
			"gone": "<none>", "staged": "new", "mod é": "new", "new dir/ü.txt": "n", "x.log": "<none>", "untracked-now": "u2",
			"to-link": "k", "file-to-dir/inside": "i", "dir-to-file": "f", "kept": "k",
		}
		got := map[string]string{}
		for path := range want {
			got[path] = content(t, w, triage.Head, path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("head tree (-want +got):\n%s", diff)
		}
		if st, err := os.Lstat(filepath.Join(w.Tree(triage.Head).Dir, "run.sh")); err != nil || st.Mode().Perm() != 0o755 {
			t.Errorf("run.sh is %v, %v", st, err)
		}
		if got := content(t, w, triage.Base, "staged"); got != "old" {
			t.Errorf("base has %q", got)
		}
		wantDiff := []string{"dir-to-file", "dir-to-file/x", "file-to-dir", "file-to-dir/inside", "gone", "mod é", "new dir/ü.txt", "run.sh", "staged", "to-link", "untracked-now"}
		if diff := cmp.Diff(wantDiff, w.Diff()); diff != "" {
			t.Errorf("diff (-want +got):\n%s", diff)
		}
		must(w.Close())
	})
}

func TestEditWithinTheClocksGrainIsSeen(t *testing.T) {
	r := linear(t, 2)
	r.write("f", "c") // as long as the "b" of the commit
	// The file is as old as the index: only its content shows the edit.
	index := filepath.Join(r.dir, ".git", "index")
	st, err := os.Stat(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(r.dir, "f"), st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	if !w.Tree(triage.Head).Rev.Dirty || content(t, w, triage.Head, "f") != "c" {
		t.Errorf("an edit as old as the index is not in the head tree: dirty %v", w.Tree(triage.Head).Rev.Dirty)
	}
}

func TestWhatTheRedRunLeftIsNoChange(t *testing.T) {
	r := linear(t, 2)
	r.write("out/ci.json", "{}")
	r.write("coverage.txt", "90")
	o := r.options()
	o.Ignore = []string{filepath.Join(r.dir, "out", "ci.json"), filepath.Join(r.dir, "coverage.txt")}
	r.wantError(o, ErrSameRevision, "head")

	o.Ignore, o.TrackedOnly = nil, true
	r.wantError(o, ErrSameRevision, "head")

	r.write("f", "an edit")
	o.Base = "HEAD~1"
	w := r.open(o)
	if !w.Tree(triage.Head).Rev.Dirty || content(t, w, triage.Head, "f") != "an edit" {
		t.Error("an edit of a tracked file is not in the head tree")
	}
	if _, err := os.Stat(filepath.Join(w.Tree(triage.Head).Dir, "coverage.txt")); err == nil || !hasWarning(w, "untracked") {
		t.Errorf("an untracked file is in the head tree, or its absence is not said: %v, %q", err, w.Warnings())
	}
}

func TestNamedHeadLeavesUncommittedChangesOutAndSaysSo(t *testing.T) {
	r := linear(t, 2)
	r.write("f", "dirty")
	o := r.options()
	o.Head, o.Base = "HEAD", "HEAD~1"
	w := r.open(o)
	if w.Tree(triage.Head).Rev.Dirty || content(t, w, triage.Head, "f") != "b" || !hasWarning(w, "uncommitted") {
		t.Errorf("head is %+v, warnings %q", w.Tree(triage.Head).Rev, w.Warnings())
	}
}

func TestPathsWithSpacesAndUnicode(t *testing.T) {
	r := newRepo(t, filepath.Join(t.TempDir(), "my répo 世界", "it's \"here\""))
	r.commit("a b/ü.go", "1")
	r.commit("a b/ü.go", "2")
	o := r.options()
	o.Repo, o.Base, o.Dir = filepath.Join(r.dir, "a b"), "HEAD~1", filepath.Join(t.TempDir(), "trees of é")
	r.unchanged(func() {
		w := r.open(o)
		if diff := cmp.Diff([]string{"a b/ü.go"}, w.Diff()); diff != "" || w.Prefix() != "a b" || content(t, w, triage.Head, "a b/ü.go") != "2" {
			t.Errorf("diff %q, prefix %q", w.Diff(), w.Prefix())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLinkedWorktreeOfTheUsersIsLeftAlone(t *testing.T) {
	r := linear(t, 2)
	linked := filepath.Join(t.TempDir(), "linked")
	r.git("worktree", "add", "-q", "--detach", linked)
	gone := filepath.Join(t.TempDir(), "unmounted")
	r.git("worktree", "add", "-q", "--detach", gone)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.Repo, o.Base = linked, "HEAD~1"
	r.unchanged(func() {
		w := r.open(o)
		if content(t, w, triage.Base, "f") != "a" {
			t.Error("base is wrong")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if list := r.git("worktree", "list"); !strings.Contains(list, linked) || !strings.Contains(list, gone) {
		t.Errorf("the user's worktrees are gone: %s", list)
	}
}

func TestPlacesThatAreNoWorkingTree(t *testing.T) {
	r := linear(t, 1)
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.git("clone", "-q", "--bare", r.dir, bare)
	file := filepath.Join(r.dir, "f")
	empty := filepath.Join(t.TempDir(), "empty")
	r.git("init", "-q", empty)
	for name, tc := range map[string]struct {
		repo string
		kind error
		says string
	}{
		"no repository":       {t.TempDir(), ErrNotRepository, "--repo"},
		"no such directory":   {filepath.Join(r.dir, "nope"), ErrNotRepository, "not a directory"},
		"a file":              {file, ErrNotRepository, "not a directory"},
		"bare repository":     {bare, ErrBareRepository, "working tree"},
		"inside .git":         {filepath.Join(r.dir, ".git"), ErrBareRepository, "working tree"},
		"without any commits": {empty, ErrUnknownRevision, "no commit yet"},
	} {
		t.Run(name, func(t *testing.T) {
			at := &repo{t, r.dir}
			o := at.options()
			o.Repo = tc.repo
			at.wantError(o, tc.kind, tc.says)
		})
	}
}

func TestMissingGitIsSaid(t *testing.T) {
	r := linear(t, 2)
	t.Setenv("PATH", t.TempDir())
	r.wantError(r.options(), ErrGitMissing, "install git")
}

func TestDirectoryThatIsNotOursIsNotTouched(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base = "HEAD~1"
	mine := filepath.Join(o.Dir, "head", "precious")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrForeignDir) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	o.Dir = filepath.Join(r.dir, "sub")
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrForeignDir) {
		t.Errorf("inside the repository: got %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory was made inside the repository: %v", err)
	}
}

func TestHooksAndFiltersDoNotRun(t *testing.T) {
	r := linear(t, 1)
	trace := filepath.Join(t.TempDir(), "trace")
	hook := "#!/bin/sh\necho hook >>'" + trace + "'\n"
	for _, name := range []string{"post-checkout", "post-merge", "reference-transaction", "post-index-change", "fsmonitor"} {
		path := filepath.Join(r.dir, ".git", "hooks", name)
		if err := os.WriteFile(path, []byte(hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write(".gitattributes", "*.bin filter=loud\n*.big filter=lfs\n")
	r.write("x.big", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
	r.commit("x.bin", "stored")
	r.commit("f", "2")
	for _, kind := range []string{"smudge", "clean"} {
		r.git("config", "filter.loud."+kind, "sh -c 'echo filter >>"+trace+"; cat'")
		r.git("config", "filter.lfs."+kind, "sh -c 'echo lfs >>"+trace+"; cat'")
	}
	r.git("config", "filter.lfs.required", "true")
	r.git("config", "core.fsmonitor", filepath.Join(r.dir, ".git", "hooks", "fsmonitor"))
	if err := os.RemoveAll(trace); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	if b, err := os.ReadFile(trace); err == nil {
		t.Errorf("these ran: %q", b)
	}
	if content(t, w, triage.Head, "x.bin") != "stored" || !hasWarning(w, "filter loud was not run") || !hasWarning(w, "1 files on head are Git LFS pointers") {
		t.Errorf("warnings are %q", w.Warnings())
	}
}

func TestSubmodulesComeFromTheCheckout(t *testing.T) {
	lib := newRepo(t, filepath.Join(t.TempDir(), "lib"))
	lib.commit("l", "1")
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.git("submodule", "--quiet", "add", "file://"+lib.dir, "third party/lib")
	r.commit("f", "1")
	lib.commit("l", "2")
	(&repo{t, filepath.Join(r.dir, "third party/lib")}).git("pull", "-q", "origin", "main")
	r.commit("f", "2")
	o := r.options()
	o.Base = "HEAD~1"
	r.unchanged(func() {
		w := r.open(o)
		if h, b := content(t, w, triage.Head, "third party/lib/l"), content(t, w, triage.Base, "third party/lib/l"); h != "2" || b != "1" {
			t.Errorf("submodule on head %q, on base %q; warnings %q", h, b, w.Warnings())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
	c := r.clone()
	o = c.options()
	o.Base = "HEAD~1"
	w := c.open(o)
	if !hasWarning(w, "1 submodules are empty on head (first: third party/lib)") {
		t.Errorf("warnings are %q", w.Warnings())
	}
}

func TestDirtySubmoduleStandsWhereTheCheckoutHasIt(t *testing.T) {
	lib := newRepo(t, filepath.Join(t.TempDir(), "lib"))
	lib.commit("l", "1")
	r := newRepo(t, filepath.Join(t.TempDir(), "repo"))
	r.git("submodule", "--quiet", "add", "file://"+lib.dir, "lib")
	r.commit("f", "1")
	sub := &repo{t, filepath.Join(r.dir, "lib")}
	sub.commit("l", "2")
	sub.write("l", "3")
	r.unchanged(func() {
		w := r.open(r.options())
		if h, b := content(t, w, triage.Head, "lib/l"), content(t, w, triage.Base, "lib/l"); h != "2" || b != "1" {
			t.Errorf("submodule on head %q, on base %q", h, b)
		}
		if !hasWarning(w, "inside submodule lib are not in the head tree") {
			t.Errorf("warnings are %q", w.Warnings())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHomeThatCannotBeWrittenIsDoneWithout(t *testing.T) {
	r := linear(t, 2)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("TMPDIR", t.TempDir())
	w := r.open(Options{Repo: r.dir, Base: "HEAD~1"})
	if dir := w.Tree(triage.Head).Dir; !strings.HasPrefix(dir, os.Getenv("TMPDIR")) {
		t.Errorf("head is at %s", dir)
	}
}

func TestSetupRunsInEachTree(t *testing.T) {
	r := linear(t, 2)
	for name, tc := range map[string]struct {
		script     string
		limit      time.Duration
		head, base string
	}{
		"both sides well":     {"echo done >setup.txt", 0, "", ""},
		"one side only":       {`grep -q b f || { echo "no b here"; exit 3; }`, 0, "", "exited with 3: no b here"},
		"both sides":          {"exit 1", 0, "exited with 1", "exited with 1"},
		"over its time":       {"exec sleep 100", 100 * time.Millisecond, "did not end within 100ms", "did not end within 100ms"},
		"ended by a signal":   {"kill -9 $$", 0, "was ended by SIGKILL", "was ended by SIGKILL"},
		"environment is ours": {`test -z "$SOME_TOKEN"`, 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOME_TOKEN", "x")
			at := &repo{t, r.dir}
			o := at.options()
			o.Base, o.SetupTimeout = "HEAD~1", tc.limit
			o.Setup = [][]string{{"true"}, {"sh", "-c", tc.script}}
			w := at.open(o)
			for side, want := range map[triage.Side]string{triage.Head: tc.head, triage.Base: tc.base} {
				tree := w.Tree(side)
				if (tree.Unbuildable == "") != (want == "") || !strings.Contains(tree.Unbuildable, want) || tree.Rev.Unbuildable != tree.Unbuildable || tree.Setup <= 0 {
					t.Errorf("%s: %+v, want %q", side, tree, want)
				}
			}
			if name == "both sides well" && content(t, w, triage.Base, "setup.txt") != "done\n" {
				t.Error("set-up did not run at the root of the tree")
			}
		})
	}
}

func TestLaterSetupDoesNotReviveASide(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Setup = "HEAD~1", [][]string{{"grep", "-q", "b", "f"}}
	w := r.open(o)
	spent := w.Tree(triage.Head).Setup
	if err := w.SetUp(t.Context(), [][]string{{"touch", "later"}}, nil); err != nil {
		t.Fatal(err)
	}
	if w.Tree(triage.Base).Unbuildable == "" || content(t, w, triage.Base, "later") != "<none>" {
		t.Errorf("base is %+v", w.Tree(triage.Base))
	}
	if w.Tree(triage.Head).Unbuildable != "" || content(t, w, triage.Head, "later") != "" || w.Tree(triage.Head).Setup <= spent {
		t.Errorf("head is %+v", w.Tree(triage.Head))
	}
}

func TestSetupThatIsNotThereMakesTheSideUnbuildable(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Setup = "HEAD~1", [][]string{{"no-such-program"}}
	w := r.open(o)
	if !strings.Contains(w.Tree(triage.Head).Unbuildable, "no-such-program") {
		t.Errorf("got %+v", w.Tree(triage.Head))
	}
}

func TestGitVariablesOfACallingHookAreIgnored(t *testing.T) {
	r := linear(t, 2)
	other := newRepo(t, filepath.Join(t.TempDir(), "other"))
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.dir, ".git", "index"))
	o := r.options()
	o.Base = "HEAD~1"
	if w := r.open(o); content(t, w, triage.Head, "f") != "b" {
		t.Error("another repository was opened")
	}
}

func TestDiskFullIsOneLineAndLeavesNothing(t *testing.T) {
	small := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("a small disk needs the right to mount: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", small).CombinedOutput(); err != nil {
			t.Errorf("unmounting: %s", out)
		}
	})
	r := linear(t, 2)
	o := r.options()
	o.Base, o.Dir = "HEAD~1", filepath.Join(small, "trees")
	r.write("big", strings.Repeat("0123456789abcdef", 1<<16))
	r.unchanged(func() { r.wantError(o, ErrDiskFull, "make room") })
	r.git("add", "big")
	r.git("commit", "-q", "-m", "big")
	r.unchanged(func() { r.wantError(o, ErrDiskFull, "make room") })
}

func TestCacheInsideTheCheckoutIsNotUsed(t *testing.T) {
	r := linear(t, 2)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(r.dir, ".cache"))
	t.Setenv("TMPDIR", t.TempDir())
	o := r.options()
	o.Base, o.Dir = "HEAD~1", ""
	r.unchanged(func() {
		w := r.open(o)
		if dir := w.Tree(triage.Head).Dir; !strings.HasPrefix(dir, os.Getenv("TMPDIR")) {
			t.Errorf("head is at %s", dir)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestIndexIsNotRefreshed(t *testing.T) {
	r := linear(t, 2)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(r.dir, "f"), later, later); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.Base = "HEAD~1"
	r.unchanged(func() {
		w := r.open(o)
		if w.Tree(triage.Head).Rev.Dirty {
			t.Errorf("a touched file is no change: %q", w.Warnings())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSparseCheckoutDoesNotThinTheTrees(t *testing.T) {
	r := linear(t, 1)
	r.commit("in/a", "1")
	r.commit("out/b", "1")
	r.git("sparse-checkout", "set", "in")
	o := r.options()
	o.Base = "HEAD~1"
	w := r.open(o)
	if w.Tree(triage.Head).Rev.Dirty || content(t, w, triage.Head, "out/b") != "1" {
		t.Errorf("head is %+v, out/b is %q", w.Tree(triage.Head).Rev, content(t, w, triage.Head, "out/b"))
	}
}

func TestCancelledOpenLeavesNothing(t *testing.T) {
	r := linear(t, 2)
	o := r.options()
	o.Base = "HEAD~1"
	ctx, cancel := context.WithCancel(t.Context())
	o.Setup = [][]string{{"sleep", "1000"}}
	o.Logf = func(format string, _ ...any) {
		if strings.HasPrefix(format, "set-up") {
			cancel()
		}
	}
	r.unchanged(func() {
		if _, err := Open(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	if _, err := os.Lstat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}
