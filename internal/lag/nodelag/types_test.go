package nodelag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TypeScript that Node itself runs is lagged however it is loaded.
func TestTypesThatNodeStripsAreLagged(t *testing.T) {
	t.Parallel()
	bin := node(t)
	if strings.TrimSpace(run(t, bin, ".", nil, "-p", "!!process.features.typescript")) != "true" {
		t.Skip("this node does not run TypeScript by itself")
	}
	const body = "interface A { n: number }\nasync function f(a?: A): Promise<void> {\n  await new Promise<void>((r) => setImmediate(r))\n}\nf()\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		want  map[string]int
	}{
		{"a module", map[string]string{"a.mts": body}, []string{"a.mts"}, map[string]int{"a.mts:f:wake:1": 3}},
		{"CommonJS", map[string]string{"a.cts": body}, []string{"a.cts"}, map[string]int{"a.cts:f:wake:1": 3}},
		{"told by its syntax", map[string]string{"a.ts": body + "export {}\n"}, []string{"a.ts"}, map[string]int{"a.ts:f:wake:1": 3}},
		{"told by nothing", map[string]string{"a.ts": body}, []string{"a.ts"}, map[string]int{"a.ts:f:wake:1": 3}},
		{"imported", map[string]string{"main.mjs": "import './a.ts'\nimport './b.cts'\n", "a.ts": body + "export {}\n", "b.cts": body}, []string{"main.mjs"}, map[string]int{"a.ts:f:wake:1": 3, "b.cts:f:wake:1": 3}},
		{"required", map[string]string{"main.cjs": "require('./a.mts')\nrequire('./b.cts')\n", "a.mts": body, "b.cts": body}, []string{"main.cjs"}, map[string]int{"a.mts:f:wake:1": 3, "b.cts:f:wake:1": 3}},
		{"in a worker thread", map[string]string{"main.cjs": "new (require('worker_threads').Worker)('./a.mts')\n", "a.mts": body}, []string{"main.cjs"}, map[string]int{"a.mts:f:wake:1": 3}},
		{"node:test", map[string]string{"a.mts": body + "export {}\n", "a.test.mts": "import test from 'node:test'\ntest('a', async (): Promise<void> => { await import('./a.mts') })\n"}, []string{"--test", "a.test.mts"}, map[string]int{"a.mts:f:wake:1": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, c.files)
			env, log := lagged(t, tree, plan)
			if out := run(t, bin, tree, env, c.args...); strings.Contains(out, "stripTypeScriptTypes") {
				t.Errorf("the project is told of what it does not call:\n%s", out)
			}
			if d := cmp.Diff(c.want, lines(t, log)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEnumsThatNodeTransformsAreLagged(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	const flag = "--experimental-transform-types"
	if !strings.Contains(run(t, bin, ".", nil, "-p", "[...process.allowedNodeEnvironmentFlags].join()"), flag) {
		t.Skip("this node has no " + flag)
	}
	write(t, tree, map[string]string{"a.mts": "enum E {\n  A,\n}\nasync function f(e: E) {\n  await new Promise((r) => setImmediate(r, e))\n}\nf(E.A)\n"})
	env, log := lagged(t, tree, plan)
	run(t, bin, tree, env, flag, "a.mts")
	if d := cmp.Diff(map[string]int{"a.mts:f:wake:1": 5}, lines(t, log)); d != "" {
		t.Error(d)
	}
}
