'use strict';
const test = require('node:test');
const assert = require('node:assert');
const vm = require('node:vm');
const { rewrite } = require('../../runtime/rewrite.cjs');
const { Plan } = require('../../runtime/plan.cjs');
const { Engine } = require('../../runtime/engine.cjs');

const plan = (o = {}) => new Plan(JSON.stringify({ version: 1, kinds: ['wake', 'start'], min_ms: 5, max_ms: 5, ...o }));
const place = { file: 'src/a.js', full: '/x/src/a.js', test: false };

/** The ids that a rewritten source holds, each once, in the order of the text. */
const ids = (code, p = plan(), type = 'module', at = place) => [...new Set([...rewrite(code, at, p, type).matchAll(/"(src\/a\.js:[^"]*?)\\u0000/g)].map((m) => m[1]))];

test('ids are file, function, kind and ordinal', () => {
  assert.deepEqual(ids('class A { async m() { await x(); await y() } }\nconst f = async () => { await z() }\nawait q()'),
    ['src/a.js:A.m:wake:1', 'src/a.js:A.m:wake:2', 'src/a.js:f:wake:1', 'src/a.js:<module>:wake:1']);
});

test('an unnamed function counts with the one it stands in', () => {
  assert.deepEqual(ids('function f() { g(async () => { await x() }); setTimeout(h, 1); setTimeout(h, 2) }'),
    ['src/a.js:f:wake:1', 'src/a.js:f:start:1', 'src/a.js:f:start:2']);
});

test('intervals have sites behind all others, listeners none', () => {
  assert.deepEqual(ids('function f() { setInterval(g, 1); setTimeout(h, 2); child.on("close", () => 0); fs.stat(p, () => 0) }'),
    ['src/a.js:f:start:2', 'src/a.js:f:start:1', 'src/a.js:f:wake:1']);
  assert.deepEqual(ids('child.on("exit", () => 0); child.on("close", done); child.on(name, () => 0); x.setInterval(g, 1)'), []);
});

test('for await has a site behind all others', () => {
  assert.deepEqual(ids('async function f() { for await (const x of g()) await h(x); await y() }'), ['src/a.js:f:wake:3', 'src/a.js:f:wake:1', 'src/a.js:f:wake:2']);
  assert.deepEqual(ids('function f() { for (const x of g()) h(x) }'), []);
});

test('a name that esbuild keeps is the name', () => {
  assert.deepEqual(ids('const a=__name(async()=>{await x()},"f")'), ['src/a.js:f:wake:1']);
});

test('ids do not depend on what a plan picks', () => {
  const only = plan({ decisions: [{ site: 'src/a.js:f:wake:2', ms: 1, hit: 0 }] });
  assert.deepEqual(ids('async function f() { await a(); await b(); await c() }', only), ['src/a.js:f:wake:2']);
});

test('a plan that names a function rewrites its sites only', () => {
  const code = 'class A { async m() { await a(); setTimeout(b, 1) } async n() { await c() } }\nasync function m() { await d() }';
  assert.deepEqual(ids(code, plan({ sites: ['src/a.js:A.m'] })), ['src/a.js:A.m:wake:1', 'src/a.js:A.m:start:1']);
  assert.deepEqual(ids(code, plan({ sites: ['src/:m'] })), ['src/a.js:m:wake:1']);
});

test('a callback has a site, and one by its name is numbered behind what had sites before', () => {
  assert.deepEqual(ids('function f() { readFile(p, (e) => g(e)) }'), ['src/a.js:f:wake:1']);
  assert.deepEqual(ids('async function f() { fs.readFile(p, done); fs.rename(a, b, function (e) {}); fs.fstat(n, (e) => 0); await x() }'),
    ['src/a.js:f:wake:3', 'src/a.js:f:wake:1', 'src/a.js:f:wake:4', 'src/a.js:f:wake:2']);
  for (const code of ['readFile(p, this.done)', 'readFile(p, done.bind(null, 1))', 'require("fs").readFile(p, done)', '(0, fs_1.readFile)(p, done)']) {
    assert.deepEqual(ids(code), ['src/a.js:<module>:wake:1'], code);
  }
  for (const code of ['readFile(p)', 'readFile(p, "utf8")', 'make().readFile(p, done)', 'fs[x].readFile(p, done)', 'readFile(...args, done)']) {
    assert.deepEqual(ids(code), [], code);
  }
});

test('callbacks that are listeners in disguise are not late, and the sites of others stay what they were', () => {
  assert.deepEqual(ids('function f() { exec(c, (e) => 0); cp.execFile(c, done); pipeline(a, b, (e) => 0); fs.stat(p, (e) => 0); fs.rm(p, done) }'),
    ['src/a.js:f:wake:2', 'src/a.js:f:wake:3']);
});

test('awaits that await inside, imports and those of vite have no site', () => {
  assert.deepEqual(ids('await f(await g())'), ['src/a.js:<module>:wake:1']);
  assert.deepEqual(ids('await import("x"); const a = await __vi_import__("y")'), []);
});

test('clocks: sleeps, time-outs and deadlines, and no others', () => {
  const p = plan({ kinds: [], stretch: { timeouts: 10, sleeps: 10 } });
  const inTest = { ...place, test: true };
  const kinds = (code, at = inTest) => ids(code, p, 'module', at).map((id) => id.split(':').slice(1).join(':'));
  assert.deepEqual(kinds('async function f() { await sleep(20) }'), ['f:sleep:1']);
  assert.deepEqual(kinds('async function f() { await new Promise((r) => setTimeout(r, 20)) }'), ['f:sleep:1']);
  assert.deepEqual(kinds('async function f() { await (0, timers.setTimeout)(20) }'), ['f:sleep:1']);
  assert.deepEqual(kinds('async function f() { await setTimeout(2 * 20) }'), ['f:sleep:1']);
  assert.deepEqual(kinds('function f() { (0, timers.setTimeout)(g, 20) }'), []);
  assert.deepEqual(kinds('async function f() { await sleep(20) }', place), []);
  assert.deepEqual(kinds('async function f() { while (x) await sleep(20) }'), []);
  assert.deepEqual(kinds('async function f() { while (x) await new Promise((r) => setTimeout(r, 20)) }'), []);
  assert.deepEqual(kinds('function f() { return Promise.race([g(), new Promise((r) => setTimeout(r, 20))]) }', place), ['f:timeout:1']);
  assert.deepEqual(kinds('const sleep = (ms) => new Promise((r) => setTimeout(r, ms))'), []);
  assert.deepEqual(kinds('function f() { return Promise.race([g(), sleep(250)]) }'), ['f:timeout:1']);
  assert.deepEqual(kinds('function f() { setTimeout(() => reject(new Error("x")), 99) }'), ['f:timeout:1']);
  assert.deepEqual(kinds('function f() { setTimeout(() => { n++ }, 30) }'), []);
  assert.deepEqual(kinds('waitFor(() => x, { timeout: 300 })'), ['<module>:timeout:1']);
  assert.deepEqual(kinds('function f() { const at = Date.now() + ttl; while (Date.now() - t0 < 50) ; }'), ['f:timeout:1', 'f:timeout:2']);
  assert.deepEqual(kinds('AbortSignal.timeout(50)'), ['<module>:timeout:1']);
});

test('a source without anything to do, or that does not parse, stays what it was', () => {
  for (const code of ['const a = 1', 'await (', 'async function f() { await x() }']) {
    assert.equal(rewrite(code, place, plan({ kinds: [] }), 'module'), code);
  }
});

test('a source that does not parse is told, one with nothing to do is not', () => {
  const notes = [];
  for (const code of ['await (', 'this is not it', 'await x()']) rewrite(code, place, plan(), 'module', (n) => notes.push(n));
  assert.deepEqual(notes, ['src/a.js is not delayed: it cannot be parsed: Unexpected token (1:7)']);
});

test('lines stay where they were', () => {
  const code = 'async function f() {\n  await a()\n  return b().then(c,\n    d)\n}';
  assert.equal(rewrite(code, place, plan(), 'module').split('\n').length, code.split('\n').length);
});

// Each source evaluates to a promise of its value.
const SAMES = [
  ['a value', '(async () => (await 5) + 1)()', 6],
  ['brackets', '(async () => await (((1, 2))))()', 2],
  ['precedence', '(async () => await 1 + await 2 * 3)()', 7],
  ['a nested await', '(async () => await id(await id(3)))()', 3],
  ['an optional call', '(async () => { const o = null; return await o?.f() })()', undefined],
  ['no semicolons', '(async () => {\n  let a = id\n  await a(1)\n  if (a) await a(2)\n  else await a(3)\n  return a(4)\n})()', 4],
  ['a conditional statement', '(async () => { let n = 0\n await id(1) ? n = 1 : n = 2\n return n })()', 1],
  ['then with both arms', 'Promise.reject(1).then(null, (e) => e + 1)', 2],
  ['a rejection', '(async () => { try { await Promise.reject(4) } catch (e) { return e } })()', 4],
  ['a template', '(async () => `${await id("x")}`)()', 'x'],
  ['a generator', '(async () => { async function* g() { yield await id(1); yield await id(2) } let s = 0; for await (const x of g()) s += x; return s })()', 3],
  ['timers with arguments', 'new Promise((r) => setTimeout(r, 1, "late"))', 'late'],
  ['a cleared immediate', 'new Promise((r) => { const h = setImmediate(() => r("ran")); clearImmediate(h); setTimeout(r, 20, "cleared") })', 'cleared'],
  ['for await over promises', '(async () => { let s = 0; for await (const x of [id(1), 2]) s += x; return s })()', 3],
  ['for await over what steps late', '(async () => { let s = ""; for await (const x of (async function* () { for (let i = 0; i < 3; i++) { await new Promise(setImmediate); yield i } })()) { if (x === 1) continue; s += x } return s })()', '02'],
  ['for await that is left', '(async () => { let s = 0; const it = { [Symbol.asyncIterator]() { return this }, async next() { return { value: 1, done: false } }, async return() { s += 10; return {} } }; a: for await (const x of it) for await (const y of it) { s += x + y; break a } return s })()', 22],
  ['for await over nothing to go over', '(async () => { try { for await (const x of 5) ; } catch (e) { return e.name } })()', 'TypeError'],
  ['a throw in for await', '(async () => { try { for await (const x of (async function* () { yield 1; throw 7 })()) ; } catch (e) { return e } })()', 7],
  ['an interval that is cleared', 'new Promise((r) => { let n = 0; const h = setInterval((by) => { n += by; if (n === 6) { clearInterval(h); setTimeout(() => r(n), 20) } }, 1, 2) })', 6],
  ['an interval that is cleared before it ticks', 'new Promise((r) => { let n = 0; const h = setInterval(() => { n++ }, 15); setTimeout(() => { clearInterval(h); setTimeout(() => r(n), 20) }, 5) })', 0],
  ['a listener that takes itself off', '(() => { const x = new Emitter(); let n = 0; x.on("close", function h() { n++; x.off("close", h) }); x.emit("close"); x.emit("close"); return n })()', 1],
  ['a listener for a close of the project', '(() => { const o = { on(e, f) { return f.call(this, 4) } }; return o.on("close", function (n) { return this === o && n }) })()', 4],
  ['a local setTimeout', '(() => { const setTimeout = (a) => a; return setTimeout(7) })()', 7],
  ['a callback of a function of the project', '(() => { const store = { lookup(k, f) { return f(k) } }; const id1 = (k) => k + 1; return store.lookup(1, id1) + store.lookup(3, (k) => k) })()', 5],
  ['a class where a callback may stand', '(() => { class A {}; const lookup = (k, f) => f; return lookup(1, A) === A })()', true],
  ['a callee that is read twice', '(() => { const o = { a: null }; return o.a?.readFile(1, id) })()', undefined],
  ['this in a callback', '(() => { const o = { then(f) { return f.call(this, 1) } }; return o.then(function () { return this === o }) })()', true],
];
for (const [name, code, want] of SAMES) {
  test(`means the same: ${name}`, async () => {
    const engine = new Engine(plan({ min_ms: 3, max_ms: 3 }), -1);
    globalThis.__zzlag = engine.hooks();
    globalThis.id = async (v) => v;
    globalThis.Emitter = require('node:events');
    const out = rewrite(code, place, plan(), 'script');
    assert.equal(await vm.runInThisContext(code), want);
    assert.equal(await vm.runInThisContext(out), want);
  });
}
