package jstest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// locks are the lock files and what installs from them.
var locks = []struct{ file, command string }{
	{"pnpm-lock.yaml", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn install --immutable"},
	{"bun.lock", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm ci"},
	{"npm-shrinkwrap.json", "npm ci"},
}

// yarnClassic begins the lock file of yarn 1, which has another word for --immutable.
var yarnClassic = []byte("# yarn lockfile v1")

// install is the command for the nearest lock file, else of the package manager
// that a package.json names.
func install(root fs.FS, dir string) string {
	named := "npm install"
	for at := path.Clean("./" + dir); ; at = path.Dir(at) {
		for _, l := range locks {
			if _, err := fs.Stat(root, path.Join(at, l.file)); err != nil {
				continue
			}
			if l.file == "yarn.lock" && isYarnClassic(root, path.Join(at, l.file)) {
				return "yarn install --frozen-lockfile"
			}
			return l.command
		}
		m, _ := readManifest(root, at)
		switch manager, _, _ := strings.Cut(m.Manager, "@"); manager {
		case "pnpm", "yarn", "bun":
			named = manager + " install"
		}
		if at == "." || at == "/" || at == ".." {
			return named
		}
	}
}

func isYarnClassic(root fs.FS, file string) bool {
	f, err := root.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 200)
	n, _ := f.Read(head) // an unreadable one is no reason for another word
	return bytes.Contains(head[:n], yarnClassic)
}

// notInstalled says what to do about a package that no node_modules has.
func notInstalled(dir, tree, name string) string {
	rel, err := filepath.Rel(tree, dir)
	if err != nil || !filepath.IsLocal(rel) {
		rel = "."
	}
	command := install(os.DirFS(tree), filepath.ToSlash(rel))
	for at := dir; strings.HasPrefix(at, tree); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".pnp.cjs")); err == nil {
			return fmt.Sprintf("%s is to be loaded by yarn's Plug'n'Play (.pnp.cjs), and trials need a node_modules: make \"env YARN_NODE_LINKER=node-modules yarn install\" the suite's set-up command", name)
		}
		if at == tree {
			break
		}
	}
	return fmt.Sprintf("%s is not installed: run the project's install command (%s) in each tree", name, command)
}
