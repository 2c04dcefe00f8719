'use strict';
// Tells triagebot what each test of a mocha run did.
const { relative, error, write } = require('./fence.cjs');

/** The titles from the outermost describe to the test. */
const names = (t) => t.titlePath().filter(Boolean);

/** Makes a test's first attempt its only one, whatever its file asks for by this.retries(n). */
function once(t) {
  t.retries = (n) => (n === undefined ? 0 : t);
}

write({ type: 'loaded' }); // what ends the process from here on is the project's

module.exports = class {
  constructor(runner) {
    const record = (type, t, more) => write({ type, file: relative(t.file || (t.parent && t.parent.file)), names: names(t), ...more });
    runner.on('test', (t) => {
      once(t);
      record('start', t);
    });
    runner.on('pass', (t) => record('test', t, { state: 'pass', ms: t.duration || 0 }));
    runner.on('pending', (t) => record('test', t, { state: 'skip' }));
    runner.on('fail', (t, e) => {
      if (t.type !== 'hook') return record('test', t, { state: 'fail', ms: t.duration || 0, errors: [error(e)] });
      const own = t.ctx && t.ctx.currentTest; // an "each" hook breaks the test it stands around
      if (own && /each/.test(t.title)) record('test', own, { state: 'fail', phase: 'setup', errors: [error(e)] });
      else record('broken', t.parent, { phase: 'setup', errors: [error(e)] });
    });
    runner.once('end', () => write({ type: 'end' }));
  }

  done(failures, exit) {
    exit(failures);
  }
};
