package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// What tests print reaches the log between fences only, and a comment as text.
func TestActionMakesHostileOutputHarmless(t *testing.T) {
	l := newLab(t, "testdata/hostile.txtar")
	l.red()
	s := l.act("INPUT_REPORTS=test.json") // the lab looks for commands outside of fences
	s.want(exitOK, "verdict=yours")
	body := l.comments(7, 1)[0].Body
	if n := strings.Count(body, "<!--"); n != 3 {
		t.Errorf("%d hidden comments, want our three", n)
	}
	for page, text := range map[string]string{"comment": body, "summary": s.summary} {
		for _, live := range []string{"\u202e", "\x1b", "<script", "\n/triage", "\n::", "</details><"} {
			if strings.Contains(withoutFences(text), live) {
				t.Errorf("the %s holds %q", page, live)
			}
		}
		if strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("the %s holds control characters", page)
		}
	}
	again := l.act("INPUT_REPORTS=test.json")
	again.want(exitOK)
	l.comments(7, 1)
}

// withoutFences leaves out what stands between fences, where text is only text.
func withoutFences(page string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(page) {
		switch trimmed := strings.TrimSpace(line); {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		case fence != "" && trimmed == fence:
			fence = ""
		case fence == "":
			out.WriteString(line)
		}
	}
	return out.String()
}

// zipOf packs entries of any kind.
func zipOf(t *testing.T, entries ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, h := range entries {
		content := []byte(h.Comment)
		h.Comment = ""
		f, err := w.CreateHeader(&h)
		must(t, err)
		_, err = f.Write(content)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// entry is a file of an archive; its content rides in the comment.
func entry(name, content string, mode os.FileMode) zip.FileHeader {
	h := zip.FileHeader{Name: name, Comment: content, Method: zip.Deflate}
	h.SetMode(mode)
	return h
}

// Forged artifacts over HTTP: exit 2, an annotation, and no comment.
func TestActionRefusesForgedArtifacts(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	l.act("INPUT_REPORTS=test.json", "INPUT_COMMENT=off").want(exitOK)
	b, err := os.ReadFile(filepath.Join(l.repo, defaultOut, reportFile))
	must(t, err)
	good := string(b)
	l.event("workflow_run", l.server.State().RunEvent(42))
	l.env["GITHUB_WORKSPACE"] = t.TempDir()
	for name, forge := range map[string]func(*ghtest.Artifact){
		"a zip bomb": func(a *ghtest.Artifact) {
			a.Zip = zipOf(t, entry(reportFile, strings.Repeat("\x00", 64<<20), 0o644))
		},
		"a path out of it": func(a *ghtest.Artifact) { a.Zip = zipOf(t, entry("../../report.json", good, 0o644)) },
		"an absolute path": func(a *ghtest.Artifact) { a.Zip = zipOf(t, entry("/etc/report.json", good, 0o644)) },
		"a symbolic link": func(a *ghtest.Artifact) {
			a.Zip = zipOf(t, entry(reportFile, "/proc/self/environ", os.ModeSymlink|0o777))
		},
		"a name twice": func(a *ghtest.Artifact) {
			a.Zip = zipOf(t, entry(reportFile, good, 0o644), entry(reportFile, good, 0o644))
		},
		"no zip":          func(a *ghtest.Artifact) { a.Zip = []byte("PK\x03\x04 but no more") },
		"more than 5 MiB": func(a *ghtest.Artifact) { a.Files = map[string]string{reportFile: padded(good, 6<<20)} },
		"deep nesting":    func(a *ghtest.Artifact) { a.Files = map[string]string{reportFile: strings.Repeat(`{"a":`, 200000)} },
		"another run": func(a *ghtest.Artifact) {
			a.Run, a.Files = 42, map[string]string{reportFile: good}
			a.HeadSHA = ghtest.SHA("other")
		},
		"another fork": func(a *ghtest.Artifact) { a.Files = map[string]string{reportFile: good}; a.HeadRepo = 2002 },
		"another commit": func(a *ghtest.Artifact) {
			a.Files = map[string]string{reportFile: strings.ReplaceAll(good, l.merge, ghtest.SHA("root"))}
		},
		"another project": func(a *ghtest.Artifact) {
			a.Files = map[string]string{reportFile: strings.ReplaceAll(good, "acme/widgets", "evil/repo")}
		},
		"a newer version": func(a *ghtest.Artifact) {
			a.Files = map[string]string{reportFile: strings.ReplaceAll(good, "report/v1", "report/v2")}
		},
		"a key that we do not know": func(a *ghtest.Artifact) {
			a.Files = map[string]string{reportFile: strings.Replace(good, `"tool"`, `"pull": 8, "tool"`, 1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := ghtest.Artifact{ID: 77, Run: 42, Name: "triagebot-report-evil"}
			forge(&a)
			l.server.Update(func(st *ghtest.State) { st.Artifacts = []ghtest.Artifact{a} })
			s := l.act()
			s.t = t
			s.want(exitError, "verdict=none", "comment-url=")
			s.says("error", "reading the reports")
			if n := len(l.server.Comments(7)); n != 0 {
				t.Errorf("%d comments", n)
			}
		})
	}
	l.server.Update(func(st *ghtest.State) {
		st.Artifacts = []ghtest.Artifact{{ID: 78, Run: 42, Name: "triagebot-report", Files: map[string]string{reportFile: good}}}
	})
	l.act().want(exitOK, "verdict=yours") // the same report, unforged
	l.comments(7, 1)
}

// padded makes a report long without making it invalid, and hard to compress.
func padded(report string, size int) string {
	var b strings.Builder
	b.WriteString(report)
	x := uint32(1)
	for b.Len() < size {
		x = x*1664525 + 1013904223
		b.WriteByte(" \n\t\r"[x>>30])
	}
	return b.String()
}

// The places where a token could be found, as the pull request's code would look.
// It prints little: what a run prints is kept in part only.
const hunter = `#!/bin/sh
look() { grep -aq '%s' && echo "FOUND in $1"; }
all=0
env | look env
for p in /proc/[0-9]*; do
  cat $p/environ 2>/dev/null | tr '\0' '\n' | look environ
  cat $p/cmdline 2>/dev/null | look cmdline
done
for f in %s; do cat $f 2>/dev/null | look $f; done
find "%s" -type f -size -64k -exec cat {} + 2>/dev/null | look "a file"
git config --list 2>/dev/null | look "git config"
git remote -v 2>/dev/null | look "git remote"
cat .git "$(git rev-parse --git-common-dir)/config" 2>/dev/null | look "the settings of git"
%s && echo "OPEN socket"
su -c id 2>/dev/null </dev/null && echo "ROOT by su"
sudo -n id 2>/dev/null && echo "ROOT by sudo"
grep -q 'NoNewPrivs:.1' /proc/self/status && echo "HUNT without new rights"
for f in / %s; do test -w $f && echo "WRITABLE $f"; done
echo "HUNT as $(id -u) $(id -G)"
echo "HUNT end"
exit 1
`

// nonce keeps the token of one run of the tests apart from whatever else is on the machine.
var nonce = fmt.Sprintf("%016x", rand.Uint64())

var secret = "ghs_" + nonce + "SECRET"

// hunt prepares a lab in which tokens lie in all the usual places.
func hunt(t *testing.T) *lab {
	l := newLab(t, appArchive)
	l.env["INPUT_TOKEN"] = secret
	for name, v := range map[string]string{
		"GITHUB_TOKEN": secret, "ACTIONS_RUNTIME_TOKEN": secret, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": secret, "INPUT_APP-KEY": "",
		"MY_PASSWORD": secret, "RUNNER_TOKEN": secret, "DOCKER_HOST": "unix://" + filepath.Join(l.dir, "run/docker.sock"),
	} {
		l.env[name] = v
	}
	l.sh("git -C repo config http.https://github.com/.extraheader 'AUTHORIZATION: basic " + secret + "'; git -C repo remote set-url origin https://x:" + secret + "@github.com/acme/widgets")
	places := []string{
		filepath.Join(l.repo, ".git/config"), l.env["GITHUB_EVENT_PATH"], filepath.Join(l.env["RUNNER_TEMP"], "git-credentials.config"),
		filepath.Join(l.env["HOME"], ".netrc"), filepath.Join(l.env["HOME"], ".docker/config.json"),
	}
	event, err := os.ReadFile(l.env["GITHUB_EVENT_PATH"])
	must(t, err)
	must(t, os.WriteFile(l.env["GITHUB_EVENT_PATH"], append([]byte(`{"secret": "`+secret+`",`), bytes.TrimPrefix(bytes.TrimSpace(event), []byte("{"))...), 0o644))
	for _, p := range places[2:] {
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(secret), 0o644))
	}
	must(t, os.MkdirAll(filepath.Join(l.dir, "run"), 0o755))
	socket := filepath.Join(l.dir, "run/docker.sock")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	must(t, os.Chmod(socket, 0o666))
	writable := []string{l.env["GITHUB_OUTPUT"], l.env["GITHUB_STEP_SUMMARY"], l.repo}
	must(t, os.WriteFile(filepath.Join(l.dir, "hunter"), fmt.Appendf(nil, hunter, "ghs_"+nonce[:8]+"[0-9a-f]*SECRET", strings.Join(places, " "), l.dir, "test -w "+socket, strings.Join(writable, " ")), 0o755))
	l.sh("cp hunter repo/hunter; cd repo; git add -A; git commit -q -m hunter")
	l.env["INPUT_COMMAND"] = "./hunter"
	l.env["INPUT_COMMENT"] = commentOff
	l.env["INPUT_BASE"] = "HEAD^"
	l.env["INPUT_MAX-TRIALS"] = "2"
	return l
}

// found is all that the hunter brought back: the log and the record.
func found(t *testing.T, l *lab, s step) string {
	t.Helper()
	if s.code != exitOK {
		t.Fatalf("exit code %d; the log:\n%s", s.code, s.log)
	}
	b, err := os.ReadFile(filepath.Join(l.repo, defaultOut, reportFile))
	must(t, err)
	text := strings.ReplaceAll(s.log, "::add-mask::"+secret, "") + string(b) + s.summary
	if !strings.Contains(text, "HUNT end") {
		t.Fatalf("the hunter did not run to its end; the log:\n%s", s.log)
	}
	return text
}

// As root, as in the container: the tests are another user, and find nothing.
func TestTestsOfAnotherUserFindNoToken(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changing the user needs root, which the action has in its container")
	}
	l := hunt(t)
	text := found(t, l, l.act("INPUT_TEST-USER=auto"))
	for _, bad := range []string{secret, "FOUND", "OPEN", "ROOT", "WRITABLE"} {
		if strings.Contains(text, bad) {
			t.Errorf("the tests found %q:\n%s", bad, text)
		}
	}
	for _, want := range []string{"HUNT as 65534 65534", "HUNT without new rights"} {
		if _, err := user.Lookup(testUser); err != nil && !strings.Contains(text, want) {
			t.Errorf("the hunter does not say %q:\n%s", want, text)
		}
	}
	st, err := os.Stat(filepath.Join(l.repo, ".git/config"))
	must(t, err)
	if st.Mode().Perm() != 0o644 {
		t.Errorf("the checkout's settings have the mode %v afterwards", st.Mode())
	}

	// The hunter can find: as root it does.
	open := l.act("INPUT_TEST-USER=none")
	open.says("warning", "persist-credentials")
	text = found(t, l, open)
	for _, want := range []string{"FOUND in environ", "FOUND in " + filepath.Join(l.repo, ".git/config"), "FOUND in a file", "FOUND in the settings of git", "OPEN", "ROOT", "WRITABLE", "HUNT as 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the hunter did not find %q where nothing is hidden", want)
		}
	}
}

// As the runner's own user, as with the composite action: what the action itself
// holds cannot be read through /proc either.
func TestTestsOfTheSameUserDoNotReadOurMemory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	l := hunt(t)
	l.sh("rm -r temp/git-credentials.config home/.netrc home/.docker; git -C repo config --unset http.https://github.com/.extraheader; git -C repo remote set-url origin https://github.com/acme/widgets")
	l.event("pull_request", l.server.State().PullEvent("synchronize", 7))
	c, log := l.start("INPUT_TEST-USER=auto", "GOCACHE="+filepath.Join(l.env["HOME"], "go"))
	l.sh("chown -R 65534:65534 repo home tmp temp files")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	text := found(t, l, l.ended(c.Run(), c, log))
	if strings.Contains(text, secret) || strings.Contains(text, "FOUND") {
		t.Errorf("the tests found the token:\n%s", text)
	}
	if !strings.Contains(text, "HUNT as 65534") {
		t.Errorf("the hunter ran as another:\n%s", text)
	}
}

// Links in the workspace, which the pull request fills, lead the action nowhere.
func TestLinksInTheWorkspaceAreNotFollowed(t *testing.T) {
	l := newLab(t, appArchive)
	l.red()
	victim := filepath.Join(l.dir, "victim")
	must(t, os.MkdirAll(victim, 0o755))
	must(t, os.Symlink(victim, filepath.Join(l.repo, defaultOut)))
	s := l.act("INPUT_REPORTS=test.json")
	s.want(exitError)
	s.says("error", "is not a folder")
	must(t, os.Remove(filepath.Join(l.repo, defaultOut)))
	must(t, os.Mkdir(filepath.Join(l.repo, defaultOut), 0o755))
	must(t, os.Symlink(filepath.Join(l.repo, ".git/config"), filepath.Join(l.repo, defaultOut, reportFile)))
	l.act("INPUT_REPORTS=test.json").want(exitOK)
	if b, _ := os.ReadFile(filepath.Join(l.repo, ".git/config")); !strings.Contains(string(b), "[core]") {
		t.Error("the checkout's settings were overwritten")
	}
	if all, _ := os.ReadDir(victim); len(all) > 0 {
		t.Errorf("written elsewhere: %v", all)
	}
}

func TestReportsThatAreLinksToOurFilesAreNotHandedOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files are handed over to another user by root only")
	}
	l := newLab(t, appArchive)
	for name, target := range map[string]string{
		"a process's environment": "/proc/self/environ", "a file outside": filepath.Join(l.dir, "outside"), "the checkout's settings": ".git/config",
	} {
		must(t, os.WriteFile(filepath.Join(l.dir, "outside"), []byte(secret), 0o644))
		link := filepath.Join(l.repo, "link.json")
		_ = os.Remove(link)
		must(t, os.Symlink(target, link))
		s := l.act("INPUT_REPORTS=*.json", "INPUT_TEST-USER=auto")
		s.want(exitError)
		if !strings.Contains(s.log, "reading input reports") || strings.Contains(s.log, secret) {
			t.Errorf("%s: the log:\n%s", name, s.log)
		}
	}
	if out, err := exec.Command("sh", "-c", "ls "+l.env["TMPDIR"]).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("left behind: %s", out)
	}
}
