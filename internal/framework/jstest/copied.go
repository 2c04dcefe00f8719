package jstest

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// copiedOutside is a package outside the tree that stands for a directory of the
// project and has other files than that directory has in this tree: a set-up that
// links node_modules of the checkout gives base what was copied there from head.
// at is a directory of a manifest; inside tells the tree's own paths.
func copiedOutside(at string, inside func(string) bool) string {
	m, _ := readManifest(os.DirFS(at), ".") // where there is none it asks for nothing
	for _, list := range []map[string]string{m.Deps, m.DevDeps, m.Optional} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			spec := list[name]
			rel := strings.TrimPrefix(strings.TrimPrefix(spec, "file:"), "portal:")
			if rel == spec && !strings.HasPrefix(spec, ".") {
				continue
			}
			link := filepath.Join(at, "node_modules", name)
			copied, err := filepath.EvalSymlinks(link)
			own := filepath.Join(at, filepath.FromSlash(rel))
			if err == nil && !inside(copied) && inside(own) && otherFiles(copied, own) {
				return link + " -> " + copied
			}
		}
	}
	return ""
}

// otherFiles reports whether a file of both directories is not the same. A
// manifest may be rewritten by a package manager.
func otherFiles(copied, own string) bool {
	other := false
	_ = filepath.WalkDir(copied, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not loaded either
		case e.IsDir() && e.Name() == "node_modules":
			return filepath.SkipDir
		case !e.Type().IsRegular() || e.Name() == "package.json":
			return nil
		}
		rel, err := filepath.Rel(copied, name)
		if err != nil {
			return nil
		}
		theirs, err := os.ReadFile(filepath.Join(own, rel))
		if err != nil {
			return nil // it is built, or of the other side only
		}
		if ours, err := os.ReadFile(name); err == nil && !bytes.Equal(ours, theirs) {
			other = true
			return filepath.SkipAll
		}
		return nil
	})
	return other
}
