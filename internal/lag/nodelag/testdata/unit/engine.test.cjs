'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Plan, fnv, mix, fraction } = require('../../runtime/plan.cjs');
const { Engine } = require('../../runtime/engine.cjs');
const { Places, preloaded } = require('../../runtime/places.cjs');

const make = (o) => new Plan(JSON.stringify({ version: 1, ...o }));
const key = (id, kind = 'wake', isTest = 0) => [id, kind, 3, isTest, 'await x()'].join('\0');

/** An engine that logs into a file, and what the log holds. */
function logged(t, o) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'zzlag-')), 'log');
  const fd = fs.openSync(file, 'a');
  t.after(() => { fs.closeSync(fd); fs.rmSync(path.dirname(file), { recursive: true }); });
  const engine = new Engine(make(o), fd);
  return { engine, hooks: engine.hooks(), log: () => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)) };
}

/** What rewritten code does for "await f()". */
const lagged = async (h, f, k) => (h.w(h.t(), await h.x(f(), k, globalThis), k, globalThis) ? h.d() : h.v());
const turn = () => new Promise((r) => setImmediate(r));

test('the hash and the mixer are those of the other engines', () => {
  assert.equal(fnv('a'), 0xaf63dc4c8601ec8cn); // published FNV-1a vector
  assert.equal(fnv(''), 0xcbf29ce484222325n);
  assert.ok(fraction(mix(1n, 2n)) >= 0 && fraction(mix(1n, 2n)) < 1);
});

test('a seed of 64 bits is read whole', () => {
  assert.equal(new Plan('{"version":1,"seed":18446744073709551615}').seed, 18446744073709551615n);
});

test('another version is refused', () => assert.throws(() => new Plan('{"version":2}'), /version 2/));

test('functions are named without kind and ordinal', () => {
  const id = 'src/a.ts:Store.put:wake:2';
  for (const [site, want] of [
    [id, true], ['src/a.ts:Store.put', true], ['src/:Store.put', true], ['src/a.ts:put', false], ['a.ts:Store.put', false], ['./:Store.put', false],
  ]) {
    assert.equal(make({ kinds: ['wake'], sites: [site] }).picks(id, 'wake', false), want, site);
    assert.ok(!make({ kinds: ['start'], sites: [site] }).picks(id, 'wake', false), site);
  }
  assert.ok(make({ kinds: ['start'], sites: ['./:run'] }).picks('a.js:run:start:1', 'start', false));
});

test('picks by kind, role, site and the side of the code', () => {
  const p = make({ kinds: ['wake'], role: 'worker' });
  assert.ok(p.picks('a', 'wake', false));
  assert.ok(!p.picks('a', 'start', false));
  assert.ok(!p.picks('a', 'wake', true));
  const t = make({ kinds: ['wake'], role: 'test', test_sites: true });
  assert.ok(t.picks('a', 'wake', true));
  assert.ok(!t.picks('a', 'wake', false));
  assert.ok(!make({ kinds: ['wake'], sites: ['b'] }).picks('a', 'wake', false));
});

test('a share of the sites is picked by the seed', () => {
  const count = (seed) => Array.from({ length: 1000 }, (_, i) => i).filter((i) => make({ kinds: ['wake'], seed, probability: 0.3 }).picks(`s${i}`, 'wake', false)).length;
  for (const seed of [1, 2]) assert.ok(Math.abs(count(seed) - 300) < 60, `${count(seed)}`);
});

test('a promise settled in its own macrotask is not delayed', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 5, max_ms: 5 });
  assert.equal(await lagged(hooks, () => Promise.resolve(1), key('a')), 1);
  assert.equal(log().length, 0);
});

test('a step of "for await" is late only when it crossed into a later macrotask', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 5, max_ms: 5 });
  const delayed = [];
  const over = async function* () { yield 1; await turn(); yield 2; yield 3; };
  let step;
  for await (const x of (step = hooks.a(over())).y) {
    if (!hooks.n(step, key('a'), globalThis)) continue;
    delayed.push(x);
    await hooks.d();
  }
  assert.deepEqual(delayed, [2]);
  assert.equal(log().length, 1);
});

test('a promise settled later is, at most as often as the plan has hits', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 5, max_ms: 5, hits: 2 });
  for (let i = 0; i < 4; i++) assert.equal(await lagged(hooks, () => turn().then(() => i), key('a')), i);
  assert.deepEqual(log(), [
    { site: 'a', kind: 'wake', role: 'worker', hit: 1, ms: 5, line: 3, text: 'await x()', test: false },
    { site: 'a', kind: 'wake', role: 'worker', hit: 2, ms: 5 },
  ]);
});

test('the delay is at least what was asked', async (t) => {
  const { hooks } = logged(t, { kinds: ['wake'], min_ms: 30, max_ms: 30 });
  const began = performance.now();
  await lagged(hooks, turn, key('a'));
  assert.ok(performance.now() - began >= 29);
});

test('the budget bounds the delays together', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 4, max_ms: 4, budget_ms: 9, hits: 9 });
  for (let i = 0; i < 5; i++) await lagged(hooks, turn, key('a'));
  assert.equal(log().length, 2);
});

test('decisions are replayed: one hit, every hit, and only the role', async (t) => {
  const { hooks, log } = logged(t, { decisions: [{ site: 'a', hit: 2, ms: 3 }, { site: 'b', hit: 0, ms: 2, role: 'worker' }, { site: 'c', hit: 0, ms: 2, role: 'test' }] });
  for (let i = 0; i < 3; i++) for (const s of 'abc') await lagged(hooks, turn, key(s));
  assert.deepEqual(log().map((r) => [r.site, r.hit, r.ms]), [['b', 1, 2], ['a', 2, 3], ['b', 2, 2], ['b', 3, 2]]);
});

test('giving up the processor is logged as such', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], yield: true, role: 'any' });
  await lagged(hooks, turn, key('a'));
  assert.equal(log()[0].yield, true);
  assert.equal(log()[0].ms, 0);
});

test('fake timers: no delay, but for the work of the operating system', async (t) => {
  const { engine, hooks, log } = logged(t, { kinds: ['wake', 'start'], min_ms: 5, max_ms: 5 });
  const real = globalThis.setTimeout;
  const fake = Object.assign((...a) => real(...a), { clock: {} });
  globalThis.setTimeout = fake;
  t.after(() => { globalThis.setTimeout = real; });
  await lagged(hooks, turn, key('a'));
  assert.equal(hooks.T(fake, key('t', 'start'), globalThis), fake);
  assert.equal(hooks.k(10, key('k', 'timeout'), globalThis), 10);
  assert.equal(log().length, 0);
  const io = { readFile: () => Promise.resolve('x') };
  engine.markIO(io, ['readFile', 'missing']);
  assert.equal(await lagged(hooks, io.readFile, key('io')), 'x');
  assert.deepEqual(log().map((r) => r.site), ['io']);
});

test('node:test timers are seen to be fake', (t) => {
  const { faked } = require('../../runtime/engine.cjs');
  assert.ok(!faked(globalThis));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  assert.ok(faked(globalThis));
});

test('a late timer keeps its arguments and can be cleared', async (t) => {
  const { hooks } = logged(t, { kinds: ['start'], min_ms: 20, max_ms: 20, hits: 9 });
  const began = performance.now();
  const got = await new Promise((r) => hooks.T(setTimeout, key('a', 'start'), globalThis)(r, 1, 'arg'));
  assert.equal(got, 'arg');
  assert.ok(performance.now() - began >= 19);
  let ran = false;
  const h = hooks.T(setImmediate, key('b', 'start'), globalThis)(() => { ran = true; });
  await turn();
  hooks.C(clearImmediate)(h);
  await new Promise((r) => setTimeout(r, 40));
  assert.ok(!ran);
});

test('a double of a timer function is called with what it was given', (t) => {
  const { hooks, log } = logged(t, { kinds: ['start'], min_ms: 5, max_ms: 5, hits: 9 });
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const real = globalThis[name];
    t.after(() => { globalThis[name] = real; });
    let got = [];
    const f = () => got.push('ran');
    globalThis[name] = (...args) => {
      got.push(...args);
      args[0](); // at once, before there is a handle
      return 1;
    };
    assert.equal(hooks.T(globalThis[name], key(name, 'start'), globalThis)(f, 50), 1);
    assert.deepEqual(got, [f, 50, 'ran'], name);
    globalThis[name] = real;
  }
  assert.equal(log().length, 0);
});

test('a late tick of an interval is followed by a whole interval', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['start'], min_ms: 60, max_ms: 60, hits: 1 });
  const at = [];
  const began = performance.now();
  await new Promise((r) => {
    const h = hooks.T(setInterval, key('a', 'start'), globalThis)(function (arg) {
      assert.equal(this, h);
      at.push(performance.now() - began);
      if (at.push(arg) === 4) r(clearInterval(h));
    }, 20, 'arg');
  });
  assert.ok(at[0] >= 78 && at[2] - at[0] >= 18, `${at}`);
  assert.deepEqual([at[1], at[3]], ['arg', 'arg']);
  assert.equal(log().length, 1);
});

test('a tick that is late when its interval is cleared does not come', async (t) => {
  const { hooks } = logged(t, { kinds: ['start'], min_ms: 40, max_ms: 40 });
  let ran = false;
  const h = hooks.T(setInterval, key('a', 'start'), globalThis)(() => { ran = true; }, 1);
  await new Promise((r) => setTimeout(r, 20));
  clearInterval(h);
  await new Promise((r) => setTimeout(r, 60));
  assert.ok(!ran);
});

test('a callback that comes at once is not late, one that comes later is', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 5, max_ms: 5 });
  let now = 0;
  hooks.c(() => { now++; }, key('a'), globalThis)();
  assert.equal(now, 1);
  const f = hooks.c(function (a, b) { return a + b; }, key('a'), globalThis);
  await turn();
  assert.equal(await f(1, 2), 3);
  assert.equal(log().length, 1);
});

test('the callback of a function of Node is late, any other is not touched', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 30, max_ms: 30 });
  const own = { readFile() {} };
  const { exec, execFile } = require('node:child_process');
  const f = () => 1;
  assert.equal(hooks.b(f, key('a'), own.readFile), f);
  for (const other of [exec, execFile, require('node:stream').pipeline]) assert.equal(hooks.b(f, key('a'), other), f);
  assert.equal(hooks.b('utf8', key('a'), fs.readFile), 'utf8');
  const began = performance.now();
  const [error, data] = await new Promise((r) => { fs.readFile(__filename, 'utf8', hooks.b((...a) => r(a), key('a'), fs.readFile)); });
  assert.ok(performance.now() - began >= 29);
  assert.equal(error, null);
  assert.ok(data.startsWith("'use strict'"));
  assert.equal(log().length, 1);
});

test('what a late callback throws is an uncaught exception', async (t) => {
  const { hooks } = logged(t, { kinds: ['wake'], min_ms: 2, max_ms: 2 });
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  t.after(() => listeners.forEach((l) => process.on('uncaughtException', l)));
  const got = new Promise((r) => process.once('uncaughtException', (e, origin) => r([e.message, origin])));
  fs.stat(__filename, hooks.b(() => { throw new Error('x'); }, key('a'), fs.stat));
  assert.deepEqual(await got, ['x', 'uncaughtException']);
});

test('a callback of real work is late under fake timers', async (t) => {
  const { hooks, log } = logged(t, { kinds: ['wake'], min_ms: 2, max_ms: 2 });
  const real = globalThis.setTimeout;
  globalThis.setTimeout = Object.assign((...a) => real(...a), { clock: {} });
  t.after(() => { globalThis.setTimeout = real; });
  await new Promise((r) => { fs.stat(__filename, hooks.b(r, key('a'), fs.stat)); });
  assert.equal(log().length, 1);
});

test('a stretch is bounded and told once', (t) => {
  const { hooks, log } = logged(t, { stretch: { timeouts: 50, cap_ms: 1000 } });
  assert.equal(hooks.k(10, key('a', 'timeout'), globalThis), 500);
  assert.equal(hooks.k(300, key('a', 'timeout'), globalThis), 1300);
  assert.equal(hooks.k('5s', key('a', 'timeout'), globalThis), '5s');
  assert.deepEqual(log().map((r) => r.stretched), ['a']);
});

test('whose code a file is', () => {
  const p = new Places('/r');
  const kind = (f) => { const x = p.of(f); return x === null ? 'none' : x.test ? 'test' : 'project'; };
  for (const [file, want] of [
    ['/r/src/a.ts', 'project'], ['file:///r/src/a.mjs', 'project'], ['/r/src/a.ts?v=1', 'project'], ['file:///r/src/a.mjs?v=1#2', 'project'], ['file:///r/src%23/a.mjs', 'project'], ['/r/#1/a.js', 'project'], ['/r/src/latest.js', 'project'],
    ['/r/src/a.test.ts', 'test'], ['/r/test/fakes.ts', 'test'], ['/r/a_test.js', 'test'], ['/r/src/__mocks__/b.js', 'test'],
    ['/r/node_modules/x/a.js', 'none'], ['/other/a.js', 'none'], ['node:fs', 'none'], ['', 'none'], [undefined, 'none'],
    ['/r/vitest.config.ts', 'none'], ['/r/jest.setup.js', 'none'],
  ]) assert.equal(kind(file), want, file);
});

test('what Node is told to load first is nobody\'s', () => {
  assert.deepEqual(preloaded(['--import', './a.mjs', '--require=/r/b', '-r', 'tsx/cjs', '--loader=file:///r/c.mjs', '--test', '--import=data:text/javascript,1', 'x.js']),
    [path.resolve('a.mjs'), '/r/b', '/r/c.mjs']);
  const p = new Places('/r', ['/r/b', '/r/c.mjs']);
  assert.equal(p.of('/r/b.cjs'), null);
  assert.equal(p.of('file:///r/c.mjs'), null);
  assert.equal(p.of('/r/b/x.js').file, 'b/x.js');
  assert.equal(p.of('/r/bc.js').file, 'bc.js');
});
