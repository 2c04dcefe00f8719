package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

const (
	modulesName  = "node_modules"
	manifestName = "package.json"
)

// InstallModules gives each tree the node_modules of a JavaScript project, for
// callers whose project declares no set-up of its own. dir is the project's
// directory below the root, with forward slashes, empty for the root itself; it
// may be called for several, and again.
//
// What the user's checkout has installed is copied, without a network, where the
// tree's lock file is the same as the checkout's (without any: where the manifest
// asks for the same packages). Otherwise the package manager's install command is
// run in that tree; a failure makes that side unbuildable and is no error. A link
// out of the checkout in place of node_modules is shared, as the checkout shares
// it. The checkout is only read. A nil env is a clean one.
//
// A package in node_modules that is a copy of a directory of the project is given
// that directory's files of the tree, where the copy is nothing but those files;
// where it is not, and the directory differs, the install command is run.
//
// Packages that are patched or generated after an install, and are no part of the
// lock file, are the checkout's on both sides; a project that changes those
// declares its set-up.
func (w *Workspace) InstallModules(ctx context.Context, dir string, env []string) error {
	if env == nil {
		env = proc.CleanEnv(os.Environ())
	}
	for i := range w.trees {
		t := &w.trees[i]
		start := time.Now()
		for _, p := range jsProjects(t.Dir, dir) {
			if t.Unbuildable != "" {
				break
			}
			problem, err := w.installProject(ctx, t, p, env)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			if problem != "" {
				t.Unbuildable, t.Rev.Unbuildable = problem, problem
				w.warn("set-up of %s failed: %s", t.Side, problem)
			}
		}
		t.Setup += time.Since(start)
	}
	return nil
}

// installProject copies or installs one project's packages; problem says why the
// side cannot be used.
func (w *Workspace) installProject(ctx context.Context, t *Tree, p jsProject, env []string) (problem string, err error) {
	if _, err := os.Stat(filepath.Join(t.Dir, filepath.FromSlash(p.dir), modulesName)); err == nil {
		return "", nil // committed, or here from an earlier call
	}
	same, err := w.sameLock(t.Dir, p)
	if err != nil {
		return "", fmt.Errorf("comparing %s: %w", path.Join(p.dir, p.lock), err)
	}
	if same {
		homes, err := w.moduleHomes(ctx, t.Dir, p.dir)
		if err != nil {
			return "", err
		}
		if len(homes) > 0 {
			lays, anew, err := w.localPackages(ctx, t, p, homes)
			if err != nil {
				return "", fmt.Errorf("comparing what node_modules has of the project: %w", err)
			}
			if anew != "" {
				w.opt.Logf("installing the packages of %s: %s", t.Side, anew)
				return w.runInstall(ctx, t, p, anew, env)
			}
			w.noticeStale(t.Side, p)
			if err := w.copyModules(ctx, t, homes); err != nil {
				return "", err
			}
			return "", t.layLocal(lays)
		}
	}
	return w.runInstall(ctx, t, p, "", env)
}

// runInstall runs the package manager in the tree; why tells what the checkout's
// packages are not good for, empty when they are others.
func (w *Workspace) runInstall(ctx context.Context, t *Tree, p jsProject, why string, env []string) (problem string, err error) {
	argv := p.installCommand(t.Dir)
	limit := w.setupLimit()
	w.opt.Logf("set-up of %s: %s", t.Side, strings.Join(argv, " "))
	r, err := proc.Run(ctx, proc.Spec{Dir: filepath.Join(t.Dir, filepath.FromSlash(p.dir)), Argv: argv, Env: env, Timeout: limit})
	if errors.Is(err, exec.ErrNotFound) {
		switch {
		case why != "":
		case p.lock == "":
			why = fmt.Sprintf("%s of %s asks for packages that the checkout does not have installed", p.named(), t.Side)
		default:
			why = fmt.Sprintf("%s of %s is not the one that the checkout has installed", p.named(), t.Side)
		}
		return fmt.Sprintf("%s, and %s is not in the PATH: install %s, or declare the project's own set-up command (--setup)", why, argv[0], argv[0]), nil
	}
	if errors.Is(err, os.ErrPermission) || err == nil {
		problem := setupProblem(argv, limit, r, err)
		if problem != "" && why != "" {
			problem += " (it was run because " + why + ")"
		}
		return problem, nil
	}
	return "", err
}

// copyModules copies the node_modules directories of the checkout into the tree.
func (w *Workspace) copyModules(ctx context.Context, t *Tree, homes []string) error {
	w.opt.Logf("copying node_modules to %s", t.Side)
	began := time.Now()
	c := &copier{top: w.top, tree: t.Dir, say: func(files, bytes int64) {
		w.opt.Logf("copying node_modules to %s: %d files, %d MB", t.Side, files, bytes>>20)
	}}
	if err := c.run(ctx, homes); err != nil {
		if isDiskFull(err) {
			return diskFull("copying node_modules: " + err.Error())
		}
		return fmt.Errorf("copying node_modules: %w", err)
	}
	for _, shared := range c.shared {
		if t.Side == triage.Head {
			w.warn("%s is a link out of the checkout: both trees share what it leads to", shared)
		}
	}
	w.opt.Logf("copied node_modules to %s: %d files, %d MB in %.1f s", t.Side, c.files.Load(), c.bytes.Load()>>20, time.Since(began).Seconds())
	return nil
}

// moduleHomes lists the node_modules that the checkout has for the project at
// dir and for the packages below it, relative to the root. A package with a lock
// file of its own is another project, and one that the tree does not have, or has
// behind a link, is left out.
func (w *Workspace) moduleHomes(ctx context.Context, tree, dir string) ([]string, error) {
	files, err := w.git.in(filepath.Join(w.top, filepath.FromSlash(dir))).list(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(glob)**/"+manifestName)
	if err != nil {
		return nil, err
	}
	var homes []string
	seen := map[string]bool{}
	for _, f := range files {
		at := path.Join(dir, path.Dir(f))
		if seen[at] || strings.Contains("/"+at+"/", "/"+modulesName+"/") || nearestLock(w.top, at) != nearestLock(w.top, dir) {
			continue
		}
		seen[at] = true
		home := filepath.Join(filepath.FromSlash(at), modulesName)
		place := filepath.Join(tree, filepath.FromSlash(at))
		if !holdsModules(filepath.Join(w.top, home)) {
			continue
		}
		if real, err := filepath.EvalSymlinks(place); err != nil || real != place {
			continue
		}
		homes = append(homes, home)
	}
	return homes, nil
}

// holdsModules tells whether a node_modules has something besides caches, which
// tools make there even where nothing is installed, as with yarn's Plug'n'Play.
func holdsModules(home string) bool {
	entries, err := os.ReadDir(home)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !slices.Contains(moduleCaches, e.Name())
	})
}
