package nodelag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a project's own loader turns TypeScript into has sites, and the loader itself
// has none, although it awaits and stands in the tree.
const (
	typed = "import { at } from './b.ts'\nasync function f(n: number): Promise<void> {\n  await new Promise<void>((r) => setImmediate(r))\n}\nf(at as number)\n"
	other = "export const at: number = 1\nexport const g = async (): Promise<void> => {\n  await new Promise<void>((r) => setImmediate(r))\n}\nawait g()\n"

	strip = "const strip = (s) => s.replace(/: (Promise<void>|number)/g, '').replace(/<void>/g, '').replace(/ as number/g, '')\n"
	turn  = "const turn = () => new Promise((r) => setImmediate(r))\n"
	// A hook that reads what stands in the file itself, and one that asks the next for it.
	reads = strip + turn + "import { readFile } from 'node:fs/promises'\nexport async function initialize() { await turn(); await turn() }\n" +
		"export async function load(url, context, next) {\n  if (!url.endsWith('.ts')) return next(url, context)\n  await turn()\n" +
		"  return { format: 'module', source: strip(await readFile(new URL(url), 'utf8')), shortCircuit: true }\n}\n"
	asks = strip + turn + "export async function load(url, context, next) {\n  if (!url.endsWith('.ts')) return next(url, context)\n" +
		"  const r = await next(url, { ...context, format: 'module' })\n  await turn()\n  return { ...r, format: 'module', source: strip(String(r.source)) }\n}\n"
	inThread = strip + "import { registerHooks } from 'node:module'\nimport { readFileSync } from 'node:fs'\nawait new Promise((r) => setImmediate(r))\nregisterHooks({ load(url, context, next) {\n" +
		"  if (!url.endsWith('.ts')) return next(url, context)\n  return { format: 'module', source: strip(readFileSync(new URL(url), 'utf8')), shortCircuit: true }\n} })\n"
	register = "import { register } from 'node:module'\nregister('./loader.mjs', import.meta.url)\n"
)

var typedSites = map[string]int{"a.ts:f:wake:1": 3, "b.ts:g:wake:1": 3, "b.ts:<module>:wake:1": 5}

func TestSourcesOfAProjectsLoaderAreLagged(t *testing.T) {
	t.Parallel()
	bin := node(t)
	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		needs string
	}{
		{name: "register, reads", files: map[string]string{"loader.mjs": reads, "reg.mjs": register}, args: []string{"--import", "./reg.mjs", "a.ts"}},
		{name: "register, asks", files: map[string]string{"loader.mjs": asks, "reg.mjs": register}, args: []string{"--import=./reg.mjs", "a.ts"}},
		{name: "register by the program", files: map[string]string{"loader.mjs": asks, "main.mjs": register + "await import('./a.ts')\n"}, args: []string{"main.mjs"}},
		{name: "two loaders", files: map[string]string{"loader.mjs": reads, "reg.mjs": register + "register('data:text/javascript,export const load = (u, c, n) => n(u, c)')\n"}, args: []string{"--import", "./reg.mjs", "a.ts"}},
		{name: "loader on the command line", files: map[string]string{"loader.mjs": reads}, args: []string{"--loader", "./loader.mjs", "a.ts"}},
		{name: "registerHooks", files: map[string]string{"reg.mjs": inThread}, args: []string{"--import", "./reg.mjs", "a.ts"}, needs: "registerHooks"},
		{name: "a worker thread", files: map[string]string{"loader.mjs": reads, "reg.mjs": register, "main.cjs": "new (require('worker_threads').Worker)('./a.ts')\n"}, args: []string{"--import", "./reg.mjs", "main.cjs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.needs != "" && strings.TrimSpace(run(t, bin, ".", nil, "-p", "typeof require('module')."+c.needs)) != "function" {
				t.Skip("this node has no module." + c.needs)
			}
			tree := t.TempDir()
			write(t, tree, c.files)
			write(t, tree, map[string]string{"a.ts": typed, "b.ts": other, "package.json": `{"type":"module"}`})
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, c.args...)
			got := lines(t, log)
			delete(got, "main.mjs:<module>:wake:1") // the program's own
			if d := cmp.Diff(typedSites, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The loaders that projects use, as far as they are there.
func TestLoadersOfTheFieldAreLagged(t *testing.T) {
	t.Parallel()
	bin := node(t)
	for _, c := range []struct {
		needs string
		args  []string
		files map[string]string
	}{
		{needs: "esbuild", args: []string{"--import", "./reg.mjs", "a.ts"}, files: map[string]string{
			"reg.mjs": register,
			"loader.mjs": "import { transform } from 'esbuild'\nimport { readFile } from 'node:fs/promises'\nexport async function load(url, context, next) {\n" +
				"  if (!url.endsWith('.ts')) return next(url, context)\n  const r = await transform(await readFile(new URL(url), 'utf8'), { loader: 'ts', sourcemap: 'inline', sourcefile: url })\n" +
				"  return { format: 'module', source: r.code, shortCircuit: true }\n}\n",
		}},
		{needs: "tsx", args: []string{"--import", "tsx", "a.ts"}},
		{needs: "@swc-node/register", args: []string{"--import", "@swc-node/register/esm-register", "a.ts"}},
		{needs: "ts-node", args: []string{"--loader", "ts-node/esm/transpile-only", "a.ts"}},
	} {
		t.Run(c.needs, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			modulesWith(t, tree, c.needs)
			write(t, tree, c.files)
			write(t, tree, map[string]string{
				"a.ts": typed, "b.ts": other, "package.json": `{"type":"module"}`,
				"tsconfig.json": `{"compilerOptions":{"module":"esnext","target":"es2022","moduleResolution":"bundler","allowImportingTsExtensions":true,"noEmit":true,"sourceMap":true}}`,
			})
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, c.args...)
			if d := cmp.Diff(typedSites, lines(t, log)); d != "" {
				t.Error(d)
			}
		})
	}
}

// modulesWith links the node_modules for tests into the tree, where these packages are in them.
func modulesWith(t *testing.T, tree string, packages ...string) {
	t.Helper()
	modules := os.Getenv("TRIAGEBOT_TEST_NODE_MODULES")
	for _, p := range packages {
		if _, err := os.Stat(filepath.Join(modules, p)); modules == "" || err != nil {
			t.Skip("TRIAGEBOT_TEST_NODE_MODULES does not name a node_modules with " + p)
		}
	}
	if err := os.Symlink(modules, filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
}
