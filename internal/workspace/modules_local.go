package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packedPackage is a package in the checkout's node_modules that is no link but a
// copy of a directory of the project: what yarn 1 and npm's install-links make of
// "file:./libs/shop", and pnpm of an injected package. A lock file says nothing of
// what is in it.
type packedPackage struct {
	// at is the copy and of the directory, relative to the root; of has forward slashes.
	at, of string
}

// layout is what makes a copied package that of a tree: the files of it, relative to
// the package, that are to be as the tree's directory has them, or has them not.
type layout struct {
	packedPackage
	files []string
}

// localPackages compares the directories whose copies are in homes with those of
// the tree. It returns what has to be laid over the copies, or why the packages
// have to be installed in the tree: only a copy that is the directory as it is can
// be made without the package manager.
func (w *Workspace) localPackages(ctx context.Context, t *Tree, project jsProject, homes []string) (lays []layout, anew string, err error) {
	names, archives, err := w.localNames(ctx, project)
	if err != nil {
		return nil, "", err
	}
	for _, a := range archives {
		if !sameEntry(filepath.Join(w.top, filepath.FromSlash(a)), filepath.Join(t.Dir, filepath.FromSlash(a))) {
			return nil, fmt.Sprintf("%s is installed from a file that is another one on %s", a, t.Side), nil
		}
	}
	for _, p := range w.packed(t, homes, names) {
		d, err := w.compare(ctx, t, p.of)
		if err != nil {
			return nil, "", err
		}
		if d.same() {
			w.noticeStaleCopy(t.Side, p, d)
			continue
		}
		l, why := w.layOver(p, d, homes)
		if slices.ContainsFunc(lays, func(o layout) bool { return o.at == p.at }) {
			why = "more than one directory has that name"
		}
		if why != "" {
			return nil, fmt.Sprintf("%s is a copy of %s, which is not the same on %s, and %s", filepath.ToSlash(p.at), p.of, t.Side, why), nil
		}
		lays = append(lays, l)
	}
	return lays, "", nil
}

// localName is a directory that a package of some name may be a copy of.
type localName struct {
	dir string
	// sure is set when a manifest of the project asks for the directory.
	sure bool
}

// localNames are the directories of the repository by the names that packages of
// them have, and the archives in it that a manifest of the project asks for.
func (w *Workspace) localNames(ctx context.Context, project jsProject) (names map[string][]localName, archives []string, err error) {
	files, err := w.git.in(w.top).list(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(glob)**/"+manifestName)
	if err != nil {
		return nil, nil, err
	}
	names = map[string][]localName{}
	asked := map[string]bool{} // names that some manifest wants of the workspace
	for _, f := range files {
		dir := path.Dir(f)
		if inModules(f) {
			continue
		}
		if id := readIdentity(w.top, dir); id.Name != "" {
			names[id.Name] = append(names[id.Name], localName{dir: dir})
		}
		m, err := readManifest(w.top, dir)
		if err != nil || nearestLock(w.top, dir) != nearestLock(w.top, project.dir) {
			continue // nobody installs what cannot be read
		}
		for name, spec := range m.all() {
			at, ok := localPath(w.top, dir, spec)
			switch st, err := os.Stat(filepath.Join(w.top, filepath.FromSlash(at))); {
			case strings.HasPrefix(spec, "workspace:"):
				asked[name] = true
			case !ok || err != nil:
			case st.IsDir():
				names[name] = append(names[name], localName{at, true})
			default:
				archives = append(archives, at)
			}
		}
	}
	for name := range asked {
		for i := range names[name] {
			names[name][i].sure = true
		}
	}
	return names, archives, nil
}

// localPath is the place in the repository that a dependency names, relative to the root.
func localPath(top, dir, spec string) (at string, ok bool) {
	p := spec
	for _, prefix := range []string{"file:", "portal:", "link:"} {
		p = strings.TrimPrefix(p, prefix)
	}
	if p == spec && !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "../") && p != "." && p != ".." {
		return "", false
	}
	p = strings.TrimPrefix(p, "//")
	p, _, _ = strings.Cut(p, "#") // yarn's own notes
	p, _, _ = strings.Cut(p, "::")
	if filepath.IsAbs(filepath.FromSlash(p)) {
		rel, in := below(top, filepath.FromSlash(p))
		return filepath.ToSlash(rel), in
	}
	at = path.Join(dir, p)
	return at, filepath.IsLocal(filepath.FromSlash(at))
}

// identity is how a package is called, and what is run for it.
type identity struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Scripts map[string]any `json:"scripts"`
}

// readIdentity is empty for a manifest that is not there or cannot be read.
func readIdentity(root, dir string) identity {
	var id identity
	if b, err := readBounded(filepath.Join(root, filepath.FromSlash(dir), manifestName), maxManifest); err == nil {
		_ = json.Unmarshal(b, &id) // what is of another kind is left empty
	}
	return id
}

func inModules(file string) bool { return strings.Contains("/"+file, "/"+modulesName+"/") }

// packed finds the copies of the project's directories in homes.
func (w *Workspace) packed(t *Tree, homes []string, names map[string][]localName) []packedPackage {
	var found []packedPackage
	seen := map[packedPackage]bool{}
	for _, home := range homes {
		if isLink(filepath.Join(w.top, home)) {
			if _, outside := (&copier{top: w.top}).aim(home, readlink(filepath.Join(w.top, home))); !outside {
				continue // it leads to another of the homes
			}
		}
		eachPackage(w.top, home, func(name, at string) {
			for _, n := range names[name] {
				p := packedPackage{at, n.dir}
				if !seen[p] && w.isCopy(t, p, n.sure) {
					seen[p] = true
					found = append(found, p)
				}
			}
		})
	}
	return found
}

func readlink(name string) string {
	target, _ := os.Readlink(name) // the caller knows that it is one
	return target
}

// isCopy tells a copy from a package of a registry that has the same name: a copy
// has the version that the directory has in the checkout, or when it is stale in
// the tree. Where no manifest asks for the directory, its own must be the same.
func (w *Workspace) isCopy(t *Tree, p packedPackage, sure bool) bool {
	for _, root := range []string{w.top, t.Dir} {
		if sure && readIdentity(w.top, filepath.ToSlash(p.at)).Version == readIdentity(root, p.of).Version ||
			p.of != "." && sameEntry(filepath.Join(w.top, p.at, manifestName), filepath.Join(root, filepath.FromSlash(p.of), manifestName)) {
			return true
		}
	}
	return false
}

// eachPackage visits the packages below one node_modules that are no links, also
// those in the package managers' own stores within it.
func eachPackage(top, home string, visit func(name, at string)) {
	entries, _ := os.ReadDir(filepath.Join(top, home)) // most packages have none
	for _, e := range entries {
		at := filepath.Join(home, e.Name())
		switch {
		case !e.IsDir():
		case strings.HasPrefix(e.Name(), "."):
			stored, _ := os.ReadDir(filepath.Join(top, at))
			for _, s := range stored {
				eachPackage(top, filepath.Join(at, s.Name(), modulesName), visit)
				inner := filepath.Join(at, s.Name(), "package") // yarn's store has no name there
				if id := readIdentity(top, filepath.ToSlash(inner)); id.Name != "" {
					visit(id.Name, inner)
				}
			}
		case strings.HasPrefix(e.Name(), "@"):
			scoped, _ := os.ReadDir(filepath.Join(top, at))
			for _, s := range scoped {
				if s.IsDir() {
					visit(e.Name()+"/"+s.Name(), filepath.Join(at, s.Name()))
					eachPackage(top, filepath.Join(at, s.Name(), modulesName), visit)
				}
			}
		default:
			visit(e.Name(), at)
			eachPackage(top, filepath.Join(at, modulesName), visit)
		}
	}
}
