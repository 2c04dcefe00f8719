package workspace

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// difference is how a directory of the tree differs from the checkout's. All
// names are relative to the directory.
type difference struct {
	// ours and theirs are the files of the checkout and of the tree.
	ours, theirs            map[string]bool
	changed, added, removed []string
}

func (d difference) same() bool { return len(d.changed)+len(d.added)+len(d.removed) == 0 }

func (w *Workspace) compare(ctx context.Context, t *Tree, dir string) (difference, error) {
	var d difference
	var err error
	if d.ours, err = w.filesOf(ctx, w.top, dir); err != nil {
		return d, err
	}
	if d.theirs, err = w.filesOf(ctx, t.Dir, dir); err != nil {
		return d, err
	}
	at := filepath.FromSlash(dir)
	for f := range d.theirs {
		switch {
		case !d.ours[f]:
			d.added = append(d.added, f)
		case !sameEntry(filepath.Join(w.top, at, f), filepath.Join(t.Dir, at, f)):
			d.changed = append(d.changed, f)
		}
	}
	for f := range d.ours {
		if !d.theirs[f] {
			d.removed = append(d.removed, f)
		}
	}
	return d, nil
}

// filesOf are the files of a directory that git does not ignore.
func (w *Workspace) filesOf(ctx context.Context, root, dir string) (map[string]bool, error) {
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if dir != "." {
		args = append(args, "--", ":(literal)"+dir)
	}
	files, err := w.git.in(root).list(ctx, args...)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, f := range files {
		rel, ok := strings.CutPrefix(f, dir+"/")
		if dir == "." {
			rel, ok = f, true
		}
		if !ok || inModules(rel) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(f))); err == nil {
			found[filepath.FromSlash(rel)] = true
		}
	}
	return found, nil
}

// unpacked are files that no package manager packs, whatever a manifest says.
var unpacked = []string{".gitignore", ".npmignore", ".npmrc", ".yarnrc", ".yarnrc.yml", ".gitattributes", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", ".DS_Store"}

// layOver is what makes the copy p that of the tree, or why only an install can.
func (w *Workspace) layOver(p packedPackage, d difference, homes []string) (layout, string) {
	l := layout{packedPackage: p}
	if home := homeOf(p.at, homes); home != "" && isLink(filepath.Join(w.top, home)) {
		return l, filepath.ToSlash(home) + " is shared by both trees"
	}
	for _, f := range slices.Concat(d.changed, d.added, d.removed) {
		if name := filepath.Base(f); name == manifestName || name == ".npmignore" || name == ".gitignore" {
			return l, filepath.ToSlash(f) + " tells what is installed of it"
		}
	}
	if w.isBuilt(p.of) {
		return l, "it is built when it is installed"
	}
	have, why := w.verbatim(p, d.ours)
	if why != "" {
		return l, why
	}
	for f := range d.ours {
		if !have[f] && !slices.Contains(unpacked, filepath.Base(f)) && len(d.added) > 0 {
			return l, "not all of its files are installed"
		}
	}
	l.files = slices.Clone(d.added)
	for _, f := range slices.Concat(d.changed, d.removed) {
		if have[f] {
			l.files = append(l.files, f)
		}
	}
	return l, ""
}

func homeOf(at string, homes []string) string {
	for _, h := range homes {
		if strings.HasPrefix(at, h+string(filepath.Separator)) {
			return h
		}
	}
	return ""
}

func isLink(name string) bool {
	st, err := os.Lstat(name)
	return err == nil && st.Mode()&os.ModeSymlink != 0
}

// isBuilt tells whether the package manager runs something when it packs or
// installs the directory.
func (w *Workspace) isBuilt(dir string) bool {
	if _, err := os.Stat(filepath.Join(w.top, filepath.FromSlash(dir), "binding.gyp")); err == nil {
		return true
	}
	scripts := readIdentity(w.top, dir).Scripts
	return slices.ContainsFunc([]string{"prepare", "prepack", "prepublish", "preinstall", "install", "postinstall"}, func(s string) bool {
		return scripts[s] != nil
	})
}

// noticeStaleCopy warns when a copy has other bytes than the directory that it was
// made of, whose files are the same in the checkout and in the tree.
func (w *Workspace) noticeStaleCopy(side triage.Side, p packedPackage, d difference) {
	if side != triage.Head {
		return
	}
	for _, f := range slices.Sorted(maps.Keys(d.ours)) {
		copied := filepath.Join(w.top, p.at, f)
		if st, err := os.Lstat(copied); err == nil && st.Mode().IsRegular() && f != manifestName &&
			!sameEntry(copied, filepath.Join(w.top, filepath.FromSlash(p.of), f)) {
			w.warn("%s of the checkout is not what %s has (%s differs): install it anew", filepath.ToSlash(p.at), p.of, filepath.ToSlash(f))
			return
		}
	}
}

// verbatim are the files of a copy, all of which must be those of the directory.
func (w *Workspace) verbatim(p packedPackage, ours map[string]bool) (have map[string]bool, why string) {
	have = map[string]bool{}
	root, source := filepath.Join(w.top, p.at), filepath.Join(w.top, filepath.FromSlash(p.of))
	err := filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == modulesName:
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if !ours[rel] || !e.Type().IsRegular() || !sameEntry(name, filepath.Join(source, rel)) {
			return fmt.Errorf("its %s is not a file of that directory", filepath.ToSlash(rel))
		}
		have[rel] = true
		return nil
	})
	if err != nil {
		return nil, err.Error()
	}
	return have, ""
}

// layLocal makes the copied packages those of the tree.
func (t *Tree) layLocal(lays []layout) error {
	for _, l := range lays {
		for _, f := range l.files {
			from, skipped, err := filepath.Join(t.Dir, filepath.FromSlash(l.of), f), "it is a link", error(nil) // which is not packed
			if !isLink(from) {
				skipped, err = mirror(from, filepath.Join(t.Dir, l.at, f))
			}
			if err == nil && skipped != "" {
				err = fmt.Errorf("%q: %s: declare the project's own set-up command (--setup)", f, skipped)
			}
			if err != nil {
				return fmt.Errorf("laying %s of %s: %w", l.of, t.Side, err)
			}
		}
	}
	return nil
}

// sameEntry reports whether two names are files of the same bytes, or links to the same name.
func sameEntry(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	switch {
	case errX != nil || errY != nil || x.Mode().Type() != y.Mode().Type():
		return false
	case x.Mode()&os.ModeSymlink != 0:
		return readlink(a) == readlink(b)
	case !x.Mode().IsRegular() || x.Size() != y.Size():
		return false
	}
	one, errX := os.ReadFile(a)
	two, errY := os.ReadFile(b)
	return errX == nil && errY == nil && bytes.Equal(one, two)
}
