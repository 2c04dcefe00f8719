'use strict';
// Tells triagebot what each test of a jest run did.
const vm = require('vm');
const { relative, write } = require('./fence.cjs');

const STATES = { passed: 'pass', failed: 'fail', pending: 'skip', skipped: 'skip', todo: 'skip', disabled: 'skip' };

// What jest.retryTimes(n) writes, jest's runner reads from the global object of the
// test's environment. It is 0 in every one, so that the first attempt counts. The
// environment is the first context made after jest tells that a file starts; the
// contexts that tests make stay as they are. The trials run in one process.
const once = new vm.Script("Object.defineProperty(globalThis, Symbol.for('RETRY_TIMES'), { get: () => 0, set() {}, configurable: true })");
const createContext = vm.createContext;
let starting = false;
vm.createContext = (...given) => {
  const context = createContext(...given);
  if (!starting) return context;
  starting = false;
  try {
    once.runInContext(context);
  } catch {} // an environment that refuses keeps its retries: see first
  return context;
};

/** jest hands over texts: the stack, which begins with the message. */
const errorOf = (text) => ({ name: '', message: String(text).slice(0, 8000), stack: String(text).slice(0, 8000) });

/** A test's first attempt. An environment that is no context of vm may have made more. */
function first(t) {
  const reasons = t.retryReasons || [];
  if (t.invocations > 1) return { state: 'fail', errors: [errorOf(reasons[0] || 'Error: the first attempt failed, and jest tells no error of it')] };
  return { state: STATES[t.status], errors: (t.failureMessages || []).map(errorOf) };
}

module.exports = class {
  onTestFileStart(test) {
    starting = true;
    write({ type: 'file', file: relative(test.path) });
  }

  onTestCaseStart(test, info) {
    starting = false; // the environment was no context of vm
    write({ type: 'start', file: relative(test.path), names: [...info.ancestorTitles, info.title] });
  }

  onTestFileResult(test, result) {
    const file = relative(test.path);
    for (const t of result.testResults) {
      write({ type: 'test', file, names: [...t.ancestorTitles, t.title], ms: t.duration || 0, ...first(t) });
    }
    if (result.testExecError) {
      const { message, stack } = result.testExecError;
      write({ type: 'broken', file, phase: 'build', errors: [errorOf(stack || message || result.failureMessage)] });
    } else if (result.failureMessage && result.testResults.length === 0) {
      write({ type: 'broken', file, phase: 'build', errors: [errorOf(result.failureMessage)] });
    }
    for (const line of result.console || []) process.stdout.write(`${line.message}\n`);
  }

  onRunComplete(contexts, results) {
    if (results.runExecError) write({ type: 'stray', errors: [errorOf(results.runExecError.stack || results.runExecError.message)] });
    write({ type: 'end' });
  }

  getLastError() {}
};
