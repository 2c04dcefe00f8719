package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asRoot skips a test that changes the user, as the action does in its container.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("changing the user needs root, which the action has in its container")
	}
}

// hunting makes a script the red command of a lab with a credential in its checkout.
func hunting(t *testing.T, script string) *lab {
	t.Helper()
	l := newLab(t, appArchive)
	l.sh("git -C repo config http.https://github.com/.extraheader 'AUTHORIZATION: basic " + secret + "'")
	must(t, os.WriteFile(filepath.Join(l.repo, "hunter"), []byte(script), 0o755))
	l.sh("cd repo; git add -A; git commit -q -m hunter")
	for name, v := range map[string]string{
		"INPUT_COMMAND": "./hunter", "INPUT_COMMENT": commentOff, "INPUT_BASE": "HEAD^", "INPUT_MAX-TRIALS": "2", "INPUT_TEST-USER": "auto",
	} {
		l.env[name] = v
	}
	return l
}

// Other checkouts of the job, and submodules, keep credentials of their own.
func TestTestsFindNoCredentialsOfSubmodulesAndOtherCheckouts(t *testing.T) {
	asRoot(t)
	l := hunting(t, fmt.Sprintf("#!/bin/sh\ntest -r \"$WORK/victim/.\" || echo FOUND victim shut\ngrep -arl 'ghs_%s[0-9a-f]*SECRET' \"$WORK\" 2>/dev/null | sed 's/^/FOUND in /'\necho HUNT end\nexit 1\n", nonce[:8]))
	l.env["WORK"], l.env["INPUT_PASS-ENV"] = l.dir, "WORK"
	places := []string{".git/modules/sub/config", ".git/modules/a/modules/b/config", "tools/.git/config", "vendor/tools/.git/modules/x/config", "tools/.git/worktrees/w/config.worktree"}
	for _, p := range places {
		path := filepath.Join(l.repo, p)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("[http]\n\textraheader = "+secret+"\n"), 0o644))
	}
	victim := filepath.Join(l.dir, "victim")
	must(t, os.Mkdir(victim, 0o755))
	must(t, os.Symlink(victim, filepath.Join(l.repo, ".git", "link"))) // as tests before may have left
	s := l.act()
	text := found(t, l, s)
	if strings.Contains(text, "FOUND") {
		t.Errorf("the tests found:\n%s", text)
	}
	for _, p := range places {
		if st, err := os.Stat(filepath.Join(l.repo, p)); err != nil || st.Mode().Perm() != 0o644 {
			t.Errorf("%s afterwards: %v, %v", p, st, err)
		}
	}
}

// A process that the tests leave behind waits for what is open again afterwards.
func TestNothingOfTheTestsOutlivesTheHiding(t *testing.T) {
	asRoot(t)
	// Out of the group and the session, and without the mark of its tree; then the
	// measuring process itself is killed, which would have found it.
	l := hunting(t, `#!/bin/sh
cat > "$TMPDIR/wait" <<'END'
touch "$2/waits"
n=0
while [ $n -lt 400000 ]; do
  [ ! -r "$1/.git/config" ] || { cat "$1/.git/config" > "$2/config"; exit; }
  n=$((n+1))
done
END
(setsid env -i sh "$TMPDIR/wait" "$WORK" "$LOOT" </dev/null >/dev/null 2>&1 &)
while [ ! -e "$LOOT/waits" ]; do sleep 0.01; done
p=$PPID
while [ "$p" -gt 1 ]; do
  q=$(awk '/^PPid/ { print $2 }' /proc/$p/status)
  kill -9 $p 2>/dev/null || break
  p=$q
done
sleep 5
`)
	loot := filepath.Join(l.dir, "loot")
	must(t, os.Mkdir(loot, 0o777))
	must(t, os.Chmod(loot, 0o777))
	l.env["WORK"], l.env["LOOT"], l.env["INPUT_PASS-ENV"] = l.repo, loot, "WORK,LOOT"
	s := l.act()
	s.want(exitError)
	s.says("error", "it was killed, and there is no report")
	if left := l.processes(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := os.Stat(filepath.Join(loot, "waits")); err != nil {
		t.Fatalf("nothing waited; the log:\n%s", s.log)
	}
	if b, err := os.ReadFile(filepath.Join(loot, "config")); err == nil {
		t.Errorf("a process of the tests read, afterwards:\n%s", b)
	}
}

// The composite action in a job with a container: root, and the program in the
// runner's folder, where credentials stand too.
func TestTheProgramMayBeInAFolderThatIsHidden(t *testing.T) {
	asRoot(t)
	l := hunting(t, "#!/bin/sh\nls \"$WORK/temp\" && cat \"$WORK/temp/git-credentials-1.config\"\necho HUNT end\nexit 1\n")
	l.env["WORK"], l.env["INPUT_PASS-ENV"] = l.dir, "WORK"
	must(t, os.WriteFile(filepath.Join(l.env["RUNNER_TEMP"], "git-credentials-1.config"), []byte(secret), 0o644))
	must(t, os.MkdirAll(filepath.Join(l.env["RUNNER_TEMP"], "triagebot"), 0o755))
	b, err := os.ReadFile(l.program())
	must(t, err)
	exe := filepath.Join(l.env["RUNNER_TEMP"], "triagebot", "triagebot")
	must(t, os.WriteFile(exe, b, 0o755))
	for _, mode := range []os.FileMode{0o755, 0o700} { // mktemp makes the latter
		must(t, os.Chmod(filepath.Dir(exe), mode))
		c, log := l.start()
		c.Path = exe
		if text := found(t, l, l.ended(c.Run(), c, log)); strings.Contains(text, secret) {
			t.Errorf("mode %v: the tests read the runner's folder:\n%s", mode, text)
		}
	}
}

// What belongs to the tests' own user cannot be shut to it.
func TestTheTestsAreNotTheOwnerOfTheCheckout(t *testing.T) {
	asRoot(t)
	l := hunting(t, "#!/bin/sh\nexit 1\n")
	l.sh("chown -R 4321:4321 repo")
	s := l.act("INPUT_TEST-USER=4321")
	s.want(exitError)
	s.says("error", "choose another user than 4321")
	l.act("INPUT_TEST-USER=4322").want(exitOK)
	if left, err := os.ReadDir(l.env["TMPDIR"]); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
