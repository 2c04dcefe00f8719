'use strict';
// Tells triagebot what each test of a jest run did.
const { relative, write } = require('./fence.cjs');

const STATES = { passed: 'pass', failed: 'fail', pending: 'skip', skipped: 'skip', todo: 'skip', disabled: 'skip' };

/** jest hands over texts: the stack, which begins with the message. */
const errorOf = (text) => ({ name: '', message: String(text).slice(0, 8000), stack: String(text).slice(0, 8000) });

module.exports = class {
  onTestFileStart(test) {
    write({ type: 'file', file: relative(test.path) });
  }

  onTestCaseStart(test, info) {
    write({ type: 'start', file: relative(test.path), names: [...info.ancestorTitles, info.title] });
  }

  onTestFileResult(test, result) {
    const file = relative(test.path);
    for (const t of result.testResults) {
      write({
        type: 'test', file, names: [...t.ancestorTitles, t.title], state: STATES[t.status], ms: t.duration || 0,
        errors: (t.failureMessages || []).map(errorOf),
      });
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
