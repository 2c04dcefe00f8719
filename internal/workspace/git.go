package workspace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
)

const (
	// localTime caps a git command that only reads or writes this machine: a
	// checkout of the largest public repositories takes a few minutes.
	localTime = 15 * time.Minute
	// remoteTime caps a fetch; a full history over a slow line takes its time.
	remoteTime = 30 * time.Minute
	// messageCap bounds what is kept of git's messages.
	messageCap = 64 << 10
)

// quiet keeps git from running anything that a repository or user configured
// and from starting work in the background.
var quiet = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"protocol.version=2",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
}

// repoVariables point git at a repository; a caller that is itself run by a git
// hook has them set, and they would win over our directory.
var repoVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	"GIT_QUARANTINE_PATH", "GIT_INTERNAL_SUPER_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_TRACE",
}

// git runs git commands in one directory.
type git struct {
	dir string
	// config are settings of this run, as KEY=VALUE.
	config []string
	env    []string
}

func newGit(dir string) *git {
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(repoVariables, name) {
			env = append(env, kv)
		}
	}
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LFS_SKIP_SMUDGE=1")
	return &git{dir: dir, config: slices.Clone(quiet), env: env}
}

// in is the same git in another directory.
func (g *git) in(dir string) *git {
	other := *g
	other.dir = dir
	return &other
}

// with adds environment variables.
func (g *git) with(env ...string) *git {
	other := *g
	other.env = append(slices.Clone(g.env), env...)
	return &other
}

// out runs a local command and returns what it printed.
func (g *git) out(ctx context.Context, args ...string) (string, error) {
	return g.run(ctx, localTime, args)
}

// line is out without the line's end.
func (g *git) line(ctx context.Context, args ...string) (string, error) {
	s, err := g.out(ctx, args...)
	return strings.TrimRight(s, "\n"), err
}

// list is out, cut at NUL bytes: the command has -z.
func (g *git) list(ctx context.Context, args ...string) ([]string, error) {
	s, err := g.out(ctx, args...)
	if err != nil || s == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(s, "\x00"), "\x00"), nil
}

func (g *git) run(ctx context.Context, limit time.Duration, args []string) (string, error) {
	argv := []string{"git"}
	for _, c := range g.config {
		argv = append(argv, "-c", c)
	}
	var stdout bytes.Buffer
	stderr := &boundedBuffer{most: messageCap}
	r, err := proc.Run(ctx, proc.Spec{
		Dir: g.dir, Argv: append(argv, args...), Env: g.env, Timeout: limit,
		OutputCap: messageCap, Sink: &stdout, Stderr: stderr,
	})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", &Error{ErrGitMissing, "git is not in the PATH", "install git 2.32 or later"}
	case err != nil:
		return "", err
	case r.Cancelled:
		return "", context.Cause(ctx)
	case r.TimedOut:
		return "", &gitError{args, -1, "no end within " + limit.String()}
	case r.Exit != 0:
		ge := &gitError{args, r.Exit, stderr.String()}
		// A checkout tells that a write failed, but not why.
		if ge.says("No space left on device", "Disk quota exceeded", "unable to write file") {
			return "", diskFull(ge.Error())
		}
		return "", ge
	}
	return stdout.String(), nil
}

func diskFull(problem string) error {
	return &Error{ErrDiskFull, problem, "make room, or put the trees on another disk"}
}

// boundedBuffer keeps the first bytes of a stream.
type boundedBuffer struct {
	bytes.Buffer
	most int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
