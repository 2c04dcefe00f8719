package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxManifest bounds what is read of a package.json, in bytes: the largest are
// some ten kilobytes.
const maxManifest = 4 << 20

// lockFiles are the lock files of package managers, the surest sign first: a
// project that moved from npm often keeps the old file.
var lockFiles = []struct {
	name    string
	install []string
}{
	{"pnpm-lock.yaml", []string{"pnpm", "install", "--frozen-lockfile"}},
	{"yarn.lock", []string{"yarn", "install", "--immutable"}},
	{"bun.lock", []string{"bun", "install", "--frozen-lockfile"}},
	{"bun.lockb", []string{"bun", "install", "--frozen-lockfile"}},
	{"npm-shrinkwrap.json", []string{"npm", "ci"}},
	{"package-lock.json", []string{"npm", "ci"}},
}

// yarnClassic begins the lock file of yarn 1, which has another name for --immutable.
var yarnClassic = []byte("# yarn lockfile v1")

// jsProject is a directory whose packages are installed together.
type jsProject struct {
	// dir is relative to the root with forward slashes, "." for the root.
	dir string
	// lock is the lock file's name in dir, empty for none.
	lock string
}

func (p jsProject) named() string {
	if p.lock == "" {
		return path.Join(p.dir, manifestName)
	}
	return path.Join(p.dir, p.lock)
}

// jsProjects are those whose packages the code in dir can import, the nearest
// first: each directory from dir to the root with a lock file, without any the
// nearest one with a manifest. One that asks for no package is left out.
func jsProjects(root, dir string) []jsProject {
	var found, plain []jsProject
	for at := path.Clean("./" + dir); ; at = path.Dir(at) {
		m, err := readManifest(root, at)
		switch lock := lockIn(root, at); {
		case errors.Is(err, os.ErrNotExist), err == nil && !m.asks() && !isPnpmWorkspace(root, at):
		case lock != "": // with a manifest that cannot be read too: its package manager says why
			found = append(found, jsProject{at, lock})
		case err == nil:
			plain = append(plain, jsProject{at, ""})
		}
		if at == "." || at == ".." || at == "/" {
			break
		}
	}
	if len(found) == 0 && len(plain) > 0 {
		return plain[:1]
	}
	return found
}

// isPnpmWorkspace tells whether a directory is the root of a workspace whose packages
// are not told in its manifest, which may then ask for nothing itself.
func isPnpmWorkspace(root, dir string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), "pnpm-workspace.yaml"))
	return err == nil
}

// lockIn is the name of the lock file in a directory, empty for none.
func lockIn(root, dir string) string {
	for _, l := range lockFiles {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), l.name)); err == nil {
			return l.name
		}
	}
	return ""
}

// nearestLock is the directory of the nearest lock file, at dir or above it, empty for none.
func nearestLock(root, dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if lockIn(root, at) != "" {
			return at
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}

// installCommand installs what the lock file of the tree says, and changes no
// file that git knows.
func (p jsProject) installCommand(tree string) []string {
	if p.lock == "" {
		return []string{"npm", "install", "--no-package-lock", "--no-audit", "--no-fund"}
	}
	if p.lock == "yarn.lock" {
		b, err := readBounded(filepath.Join(tree, filepath.FromSlash(p.dir), p.lock), 4<<10)
		if err == nil && bytes.Contains(b, yarnClassic) {
			return []string{"yarn", "install", "--frozen-lockfile"}
		}
	}
	for _, l := range lockFiles {
		if l.name == p.lock {
			return l.install
		}
	}
	panic("no such lock file: " + p.lock)
}

// sameLock reports whether the tree's project asks for the packages that the
// checkout's does.
func (w *Workspace) sameLock(tree string, p jsProject) (bool, error) {
	if p.lock != "" && lockIn(w.top, p.dir) != p.lock { // without one, an install may have left one in the checkout
		return false, nil
	}
	if p.lock == "" {
		ours, err := readManifest(w.top, p.dir)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		theirs, err := readManifest(tree, p.dir)
		return err == nil && ours.equal(theirs), err
	}
	ours, err := fileDigest(filepath.Join(w.top, filepath.FromSlash(p.dir), p.lock))
	if err != nil {
		return false, err
	}
	theirs, err := fileDigest(filepath.Join(tree, filepath.FromSlash(p.dir), p.lock))
	return err == nil && ours == theirs, err
}

// manifest is what a package.json asks to be installed.
type manifest struct {
	Deps       map[string]string `json:"dependencies"`
	DevDeps    map[string]string `json:"devDependencies"`
	Optional   map[string]string `json:"optionalDependencies"`
	Workspaces json.RawMessage   `json:"workspaces"`
}

func (m manifest) asks() bool {
	return len(m.Deps)+len(m.DevDeps)+len(m.Optional)+len(m.Workspaces) > 0
}

// all are the packages that it asks for, by name.
func (m manifest) all() map[string]string {
	all := map[string]string{}
	for _, deps := range []map[string]string{m.Optional, m.DevDeps, m.Deps} {
		maps.Copy(all, deps)
	}
	return all
}

func (m manifest) equal(o manifest) bool {
	return maps.Equal(m.Deps, o.Deps) && maps.Equal(m.DevDeps, o.DevDeps) && maps.Equal(m.Optional, o.Optional) && slices.Equal(m.Workspaces, o.Workspaces)
}

func readManifest(root, dir string) (manifest, error) {
	name := filepath.Join(root, filepath.FromSlash(dir), manifestName)
	b, err := readBounded(name, maxManifest)
	if err != nil {
		return manifest{}, err
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return manifest{}, fmt.Errorf("decoding %s: %w", path.Join(dir, manifestName), err)
	}
	return m, nil
}

func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

func fileDigest(name string) ([sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// noticeStale warns when npm's note of what it installed is not what the lock
// file says: the copies are then as stale as the checkout.
func (w *Workspace) noticeStale(side triage.Side, p jsProject) {
	if side != triage.Head || p.lock != "package-lock.json" {
		return
	}
	dir := filepath.Join(w.top, filepath.FromSlash(p.dir))
	wanted, err := lockedVersions(filepath.Join(dir, p.lock))
	if err != nil {
		return // npm itself tells what is wrong with it
	}
	there, err := lockedVersions(filepath.Join(dir, modulesName, ".package-lock.json"))
	if err != nil {
		return // not installed by npm 7 or newer
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if want := wanted[name]; want != there[name] {
			w.warn("%s of the checkout is not what %s says (%s is %s, not %s): run npm ci", path.Join(p.dir, modulesName), p.named(), name, there[name], orNone(want))
			return
		}
	}
}

func orNone(version string) string {
	if version == "" {
		return "left out"
	}
	return version
}

// lockedVersions are the versions of an npm lock file by path.
func lockedVersions(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var l struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	if err := json.NewDecoder(f).Decode(&l); err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for name, p := range l.Packages {
		if name != "" && p.Version != "" {
			versions[name] = p.Version
		}
	}
	return versions, nil
}
