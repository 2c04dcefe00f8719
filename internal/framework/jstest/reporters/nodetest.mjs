// Tells triagebot what each test of a node:test run did.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const { relative, error, write } = createRequire(import.meta.url)('./fence.cjs');

const FILTERED = /does not match pattern/;

export default async function* report(source) {
  const stacks = new Map(); // file -> names down to the test that runs
  const printed = new Map(); // file -> the end of its standard error
  for await (const { type, data } of source) {
    const file = data && relative(data.file);
    if (type === 'test:start') {
      const names = [...(stacks.get(file) || []).slice(0, data.nesting), data.name];
      stacks.set(file, names);
      if (!isFile(data)) write({ type: 'start', file, names });
    } else if (type === 'test:pass' || type === 'test:fail') {
      const names = [...(stacks.get(file) || []).slice(0, data.nesting), data.name];
      tell(type, data, file, names, printed.get(file));
    } else if (type === 'test:stdout' || type === 'test:stderr') {
      if (type === 'test:stderr') printed.set(file, ((printed.get(file) || '') + data.message).slice(-8000));
      yield data.message;
    }
  }
  write({ type: 'end' });
}

/**
 * Node reports a file as a test when it cannot be run at all. Its name is a path: in full, or since Node 22 as it
 * was given; one without a slash is told from a test of that name by the place, the file's first letter.
 */
const isFile = (data) => data.nesting === 0 && (data.name === data.file || /[\\/]/.test(data.name) && String(data.file).endsWith(data.name)
  || data.line === 1 && data.column === 1 && resolve(data.name) === data.file);

/** The error that ended a file's process, as Node printed it. */
function fatal(printed) {
  const m = /^(\w*Error)(?: \[\w+\])?: (.*)$/m.exec(printed || '');
  return m && { name: m[1], message: m[2], stack: printed.slice(m.index) };
}

function tell(type, data, file, names, printed) {
  const e = data.details && data.details.error;
  const kind = e && e.failureType;
  const cause = e && e.cause && typeof e.cause === 'object' ? e.cause : e;
  if (isFile(data)) {
    const thrown = fatal(printed); // without one the process ended on its own, in the middle of a test
    if (type === 'test:fail') write({ type: 'broken', file, phase: thrown ? 'build' : 'exit', errors: [thrown || error(cause)] });
    return;
  }
  if (kind === 'subtestsFailed' || FILTERED.test(String(data.skip))) return write({ type: 'over', file, names });
  if (data.details && data.details.type === 'suite') {
    if (type === 'test:fail') write({ type: 'broken', file, names, phase: 'setup', errors: [error(cause)] });
    return write({ type: 'over', file, names });
  }
  const skipped = data.skip !== undefined || data.todo !== undefined;
  write({
    type: 'test', file, names, state: skipped ? 'skip' : type === 'test:pass' ? 'pass' : 'fail',
    phase: kind === 'hookFailed' ? 'setup' : 'test', ms: (data.details && data.details.duration_ms) || 0,
    errors: e && !skipped ? [kind === 'testTimeoutFailure' ? error(e) : error(cause)] : [],
  });
}
