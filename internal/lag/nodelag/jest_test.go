package nodelag

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// jest's own ways to compile: ES modules in a virtual machine, and the transforms of
// the field as far as they are there.
func TestModulesAndTransformsOfJestAreLagged(t *testing.T) {
	t.Parallel()
	bin := node(t)
	const (
		source = "export async function f(n: number): Promise<void> {\n  await new Promise<void>((r) => setImmediate(r))\n}\n"
		test   = "import { f } from './a.ts'\ntest('a', async () => { await f(1) })\n"
	)
	for _, c := range []struct {
		needs string
		files map[string]string
		args  []string
		want  map[string]int
	}{
		{"jest", map[string]string{
			"a.mjs":            "export async function f() {\n  await new Promise((r) => setImmediate(r))\n}\n",
			"a.test.mjs":       "import { f } from './a.mjs'\ntest('a', async () => { await f() })\n",
			"jest.config.json": `{"testMatch":["**/*.test.mjs"],"transform":{}}`,
		}, []string{"--experimental-vm-modules"}, map[string]int{"a.mjs:f:wake:1": 2}},
		{"@swc/jest", map[string]string{"a.ts": source, "a.test.ts": test, "jest.config.json": `{"transform":{"\\.ts$":["@swc/jest",{"jsc":{"target":"es2022"}}]}}`}, nil, map[string]int{"a.ts:f:wake:1": 2}},
		{"ts-jest", map[string]string{
			"a.ts": source, "a.test.ts": test, "jest.config.json": `{"transform":{"\\.ts$":["ts-jest",{"diagnostics":false}]}}`,
			"tsconfig.json": `{"compilerOptions":{"target":"es2022","module":"commonjs"}}`,
		}, nil, map[string]int{"a.ts:f:wake:1": 2}},
	} {
		t.Run(c.needs, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			modulesWith(t, tree, "jest", c.needs)
			write(t, tree, c.files)
			write(t, tree, map[string]string{"package.json": "{}"})
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, append(c.args, "node_modules/jest/bin/jest.js", "--cache=false", "--config=jest.config.json")...)
			if d := cmp.Diff(c.want, lines(t, log)); d != "" {
				t.Error(d)
			}
		})
	}
}
