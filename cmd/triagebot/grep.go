package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// sources are the files that a framework's tests are made of.
func sources(framework string) []string {
	switch framework {
	case gotest.Name:
		return []string{"*.go"}
	case pytest.Name:
		return []string{"*.py", "*.toml", "*.ini", "*.cfg"}
	}
	return []string{"*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx", "*.vue", "*.svelte"}
}

// installed are where other people's code lies, for git not to look there.
var installed = []string{":(exclude,glob)**/node_modules/**", ":(exclude,glob)**/.venv/**", ":(exclude,glob)**/venv/**", ":(exclude,glob)**/vendor/**"}

// trees are the directories of head and base. What only one side's code reads
// decides that side's tests all the same.
func (s *session) trees() []string {
	return []string{s.ws.Tree(triage.Head).Dir, s.ws.Tree(triage.Base).Dir}
}

// grep looks with "git grep" in some files of a tree, tracked or not, and tells
// whether anything was found. What git prints goes to sink.
func (s *session) grep(ctx context.Context, su *suite, tree string, args, files []string, sink io.Writer) (bool, error) {
	argv := slices.Concat([]string{"git", "grep", "-I", "-E", "--untracked"}, args, []string{"--"}, files, installed)
	r, err := proc.Run(ctx, proc.Spec{Dir: tree, Argv: argv, Env: su.env, Timeout: reachTimeout, Sink: sink})
	if err != nil {
		return false, err
	}
	if r.Exit > 1 || r.TimedOut {
		return false, errors.New("git grep was too slow, or failed: " + lastLine(string(r.Output)))
	}
	return r.Exit == 0, nil
}

// maxTextOf bounds a file that is read whole, in bytes.
const maxTextOf = 1 << 20

// textOf is the text of a file of a tree, "" of one that cannot be read, is no regular
// file, or is too large.
func textOf(files fs.FS, name string) string {
	st, err := fs.Stat(files, name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxTextOf {
		return ""
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return ""
	}
	return string(text)
}
