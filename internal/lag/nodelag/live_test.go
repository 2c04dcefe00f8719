package nodelag

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/lag"
)

// write lays files down, by their path in the tree.
func write(t *testing.T, tree string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lines are the sites of a log with the numbers of their lines.
func lines(t *testing.T, log string) map[string]int {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sites, err := lag.ReadSites(f)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, s := range sites {
		found[s.ID] = s.Line
	}
	return found
}

// Each file does nothing but call back: no await makes it worth a look.
func TestCallbacksAreLate(t *testing.T) {
	t.Parallel()
	bin := node(t)
	for _, c := range []struct {
		name, code string
		want       map[string]int
	}{
		{"inline.cjs", "const fs = require('fs')\nfs.readFile(__filename, (e, d) => process.exit(e || !d.length ? 1 : 0))\n", map[string]int{"inline.cjs:<module>:wake:1": 2}},
		{"named.cjs", "const { stat } = require('fs')\nfunction done(e, s) {\n  if (e || !s.isFile()) throw e\n}\nstat(__filename, done)\n", map[string]int{"named.cjs:<module>:wake:1": 5}},
		{"method.mjs", "import fs, { unlink } from 'node:fs'\nclass A {\n  constructor() { this.end = (e) => process.exit(e.code === 'ENOENT' ? 0 : 1) }\n  go() {\n    unlink('./missing', this.end)\n  }\n}\nnew A().go()\n", map[string]int{"method.mjs:A.go:wake:1": 5}},
		{"child.cjs", "require('child_process').execFile(process.execPath, ['--version'], (e, out) => process.exit(closed || out[0] !== 'v' ? 1 : 0)).on('close', () => { closed = true })\nlet closed = false\n", map[string]int{}},
		{"close.mjs", "import { spawn } from 'node:child_process'\nconst child = spawn(process.execPath, ['--version'])\nlet out = ''\nchild.stdout.on('data', (d) => { out += d })\nchild.on('close', (code) => process.exit(code === 0 && out[0] === 'v' ? 0 : 1))\n", map[string]int{}},
		{"each.mjs", "import fs from 'node:fs'\nlet n = 0\nasync function size() {\n  for await (const part of fs.createReadStream(process.argv[1], { highWaterMark: 16 })) n += part.length\n  process.exit(n === fs.statSync(process.argv[1]).size ? 0 : 1)\n}\nsize()\n", map[string]int{"each.mjs:size:wake:1": 4}},
		{"own.cjs", "const seen = []\nconst store = { lookup: (k, f) => setImmediate(() => seen.push(f(k))) }\nconst twice = (k) => 2 * k\nstore.lookup(1, twice)\nstore.lookup(2, (k) => 3 * k)\nsetTimeout(() => process.exit(seen.join() === '2,6' ? 0 : 1), 50)\n", map[string]int{}},
		{"mocked.cjs", "const fs = require('fs')\nfs.stat = (p, f) => setImmediate(() => process.exit(f() === 7 ? 0 : 1))\nfs.stat('x', () => 7)\n", map[string]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, map[string]string{c.name: c.code})
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, c.name)
			if d := cmp.Diff(c.want, lines(t, log)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTicksOfAnIntervalAreLate(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	write(t, tree, map[string]string{"a.cjs": "let n = 0\nfunction go() {\n  const h = setInterval(() => { if (++n === 3) clearInterval(h) }, 1)\n}\ngo()\nprocess.on('exit', () => console.log(n))\n"})
	env, log := lagged(t, tree, `{"version":1,"name":"x","kinds":["start"],"min_ms":5,"max_ms":5}`)
	if got := run(t, bin, tree, env, "a.cjs"); got != "3\n" {
		t.Errorf("the interval ticked %q times", got)
	}
	if d := cmp.Diff(map[string]int{"a.cjs:go:start:1": 3}, lines(t, log)); d != "" {
		t.Error(d)
	}
}

// Two reads that end in one order without a delay end in the other with one.
func TestALateCallbackTurnsARaceRed(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	write(t, tree, map[string]string{
		"store.cjs": "const fs = require('fs')\nexports.rows = []\nexports.load = function load() {\n  fs.readFile(__filename, done)\n}\nfunction done() { exports.rows.push(1) }\n",
		"race.test.cjs": "const assert = require('assert')\nconst test = require('node:test')\nconst store = require('./store.cjs')\n" +
			"test('loads', async () => {\n  store.load()\n  await new Promise((r) => setTimeout(r, 50))\n  assert.equal(store.rows.length, process.env.TRIAGEBOT_LAG_PLAN ? 0 : 1)\n})\n",
	})
	run(t, bin, tree, nil, "--test", "race.test.cjs")
	env, log := lagged(t, tree, `{"version":1,"name":"x","kinds":["wake"],"role":"worker","min_ms":400,"max_ms":400}`)
	run(t, bin, tree, env, "--test", "race.test.cjs")
	if d := cmp.Diff(map[string]int{"store.cjs:load:wake:1": 4}, lines(t, log)); d != "" {
		t.Error(d)
	}
}

// acorn reads no decorators, which a loader may leave in for Node to refuse; the
// trial's output says that the file was left out.
func TestASourceThatCannotBeParsedIsTold(t *testing.T) {
	t.Parallel()
	bin, tree := node(t), t.TempDir()
	write(t, tree, map[string]string{
		"a.cjs":    "try { require('./b.cjs') } catch {}\ntry { require('./b.cjs') } catch {}\n",
		"b.cjs":    "class A {\n  @own async f() { await g() }\n}\n",
		"fine.cjs": "module.exports = 1\n",
	})
	env, _ := lagged(t, tree, plan)
	want := "triagebot lag: b.cjs is not delayed: it cannot be parsed: Unexpected character '@' (2:2)\n"
	if got := run(t, bin, tree, env, "a.cjs"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := run(t, bin, tree, nil, "a.cjs"); got != "" {
		t.Errorf("without a plan it says %q", got)
	}
}

// A test may look at what a program of the project writes there, so what a test
// starts says nothing.
func TestOnlyTheRunnersOwnProcessesTell(t *testing.T) {
	t.Parallel()
	bin := node(t)
	const (
		starts = "const { spawnSync } = require('child_process')\nconst { status, stderr } = spawnSync(process.execPath, ['cli.cjs'])\nif (status !== 0 || String(stderr) !== '') throw new Error(stderr)\n"
		loads  = "try { require('./b.cjs') } catch {}\n"
		told   = "triagebot lag: b.cjs is not delayed"
	)
	worker := filepath.Join("node_modules", "jest-worker", "build", "workers", "processChild.js")
	for _, c := range []struct {
		name, code string
		args       []string
		want       int
	}{
		{"a program that a program starts", starts, []string{"a.cjs"}, 0},
		{"one that it starts in a test", starts, []string{"--test", "a.cjs"}, 0},
		{"node:test", loads + starts, []string{"--test", "a.cjs"}, 1},
		{"a thread", "new (require('worker_threads').Worker)('./cli.cjs')\n", []string{"a.cjs"}, 1},
		{"a runner's worker", "require('child_process').fork(" + strconv.Quote("./"+filepath.ToSlash(worker)) + ")\n", []string{"a.cjs"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, map[string]string{"a.cjs": c.code, "cli.cjs": loads, "b.cjs": "class A {\n  @own async f() { await g() }\n}\n",
				worker: "process.chdir(__dirname + '/../../../..')\nrequire('../../../../cli.cjs')\n" + starts})
			env, _ := lagged(t, tree, plan)
			if out := run(t, bin, tree, env, c.args...); strings.Count(out, told) != c.want {
				t.Errorf("told %d times, want %d:\n%s", strings.Count(out, told), c.want, out)
			}
		})
	}
}

// The entry of a worker thread is loaded by Node itself, whatever the pool.
func TestWorkerThreadsAreLagged(t *testing.T) {
	t.Parallel()
	bin := node(t)
	const body = "async function f() { await new Promise((r) => setImmediate(r)) }\nf()\n"
	for _, c := range []struct{ name, start string }{
		{"a.mjs", "new (require('worker_threads').Worker)('./a.mjs')"},
		{"a.cjs", "new (require('worker_threads').Worker)('./a.cjs')"},
		{"a.mjs", "new (require('worker_threads').Worker)('import(\"./a.mjs\")', { eval: true, workerData: null })"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, map[string]string{c.name: body, "main.cjs": c.start})
			env, log := lagged(t, tree, plan)
			run(t, bin, tree, env, "main.cjs")
			if d := cmp.Diff(map[string]int{c.name + ":f:wake:1": 1}, lines(t, log)); d != "" {
				t.Error(d)
			}
		})
	}
}
