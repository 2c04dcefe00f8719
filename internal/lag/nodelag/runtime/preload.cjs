'use strict';
// Dispatch lag for Node 20 and up: moves time where the code under test hands
// work over. A process loads this file with NODE_OPTIONS=--require; it finds the
// path of its plan in TRIAGEBOT_LAG_PLAN and that of its log in
// TRIAGEBOT_LAG_LOG, and TRIAGEBOT_TREE is the root that sites are named below.
// Without a plan nothing is installed: no hook, no patch, and acorn is not loaded.
//
//   plan.cjs     what to delay: the plan, its sites and doses
//   engine.cjs   carries a delay out, within the plan's budget, and logs it
//   places.cjs   whose code is it
//   callbacks.cjs Node's functions whose callbacks may be late
//   rewrite.cjs  puts the calls of the hooks into a source (acorn.cjs parses it)
//   compile.cjs  catches the ways by which sources are compiled
//   modules.cjs  the same for what Node's own loaders load
//   types.cjs    takes the types out of TypeScript that Node itself runs
//   loader.mjs   their part on the loader thread, before 22.15

const fs = require('fs');

/** Reads the plan. One that cannot be carried out ends the process: a trial
 * that silently ran without its lag would be counted as one with it. */
function load(path) {
  const { Plan } = require('./plan.cjs');
  try {
    return new Plan(fs.readFileSync(path, 'utf8'));
  } catch (e) {
    fs.writeSync(2, `triagebot lag: plan ${path}: ${e.message}\n`);
    process.exit(2);
  }
}

function open(path) {
  try {
    return path ? fs.openSync(path, 'a', 0o644) : -1;
  } catch (e) {
    fs.writeSync(2, `triagebot lag: log ${path}: ${e.message}\n`);
    process.exit(2);
  }
}

const noted = new Set();
const { writeSync } = fs; // before a test can replace it

// Holds the number of the process that a trial started.
const FIRST = 'TRIAGEBOT_LAG_FIRST';
// What vitest, jest and mocha start to run tests in.
const RUNNER = /[\\/]node_modules[\\/](tinypool[\\/].*[\\/]process|vitest[\\/]dist[\\/]workers[\\/](forks|vmForks)|jest-worker[\\/].*[\\/]processChild|mocha[\\/]lib[\\/]cli[\\/]cli)\.js$/;

/**
 * Whether this is the process that the trial started, a thread of it, or one that its
 * runner runs tests in. What a test starts says nothing: it may look at the standard error.
 */
function speaks() {
  const { env, pid, ppid, argv } = process;
  if (env[FIRST] === undefined) env[FIRST] = String(pid);
  if (env[FIRST] === String(pid)) return true;
  return env[FIRST] === String(ppid) && (env.NODE_TEST_CONTEXT !== undefined || RUNNER.test(argv[1]));
}

/** Says something of this process, once, on the standard error of the trial. */
function note(text) {
  if (noted.has(text)) return;
  noted.add(text);
  try {
    writeSync(2, `triagebot lag: ${text.replace(/\s+/g, ' ')}\n`);
  } catch { /* it is closed */ }
}

const IO = ['readFile', 'writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'unlink', 'rename', 'stat', 'lstat', 'readdir', 'access', 'open', 'copyFile'];

function install() {
  const plan = load(process.env.TRIAGEBOT_LAG_PLAN);
  const log = open(process.env.TRIAGEBOT_LAG_LOG); // at once: that it is there shows that the runtime was
  if (!plan.acts()) return null;
  const { Engine, idle } = require('./engine.cjs');
  const { Places, preloaded } = require('./places.cjs');
  const { rewrite } = require('./rewrite.cjs');
  const options = (process.env.NODE_OPTIONS || '').split(/\s+/);
  const places = new Places(process.env.TRIAGEBOT_TREE || process.cwd(), preloaded([...process.execArgv, ...options]));
  const say = speaks() ? note : () => {};
  const transform = (code, filename, type) => {
    const place = places.of(filename);
    return place ? rewrite(code, place, plan, type, say) : code;
  };
  const { install, show } = require('./compile.cjs');
  const { isMainThread, parentPort } = require('worker_threads');
  if (!isMainThread && parentPort === null) { // a thread of loaders: what they do is not the project's work
    show(globalThis, idle);
    return transform;
  }
  const engine = new Engine(plan, log);
  engine.markIO(fs.promises, IO);
  require('./callbacks.cjs').remember();
  install(transform, engine.hooks());
  return transform;
}

module.exports = { transform: process.env.TRIAGEBOT_LAG_PLAN ? install() : null };
