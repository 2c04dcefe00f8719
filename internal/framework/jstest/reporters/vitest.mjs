// Tells triagebot what each test of a vitest run did (vitest 3 and 4).
import { createRequire } from 'node:module';

const { relative, error, write } = createRequire(import.meta.url)('./fence.cjs');

/** The names from the outermost describe to the test, or to a describe. */
function names(test) {
  const found = [test.name];
  for (let p = test.parent; p && p.type === 'suite'; p = p.parent) found.unshift(p.name);
  return found;
}

/** Errors of a describe or of a file stand beside the tests that they kept from running. */
function tellBroken(module) {
  const tell = (task, phase, names) => {
    for (const e of task.errors()) write({ type: 'broken', file: relative(module.moduleId), names, phase, errors: [error(e)] });
  };
  tell(module, [...module.children.allTests()].length === 0 ? 'build' : 'setup', []);
  for (const suite of module.children.allSuites()) tell(suite, 'setup', names(suite));
}

const STATES = { passed: 'pass', failed: 'fail', skipped: 'skip' };

export default class {
  onTestModuleCollected(module) {
    write({ type: 'file', file: relative(module.moduleId) });
  }

  onTestCaseReady(test) {
    write({ type: 'start', file: relative(test.module.moduleId), names: names(test) });
  }

  onTestCaseResult(test) {
    const result = test.result();
    const diagnostic = test.diagnostic();
    write({
      type: 'test', file: relative(test.module.moduleId), names: names(test),
      state: STATES[result.state], ms: diagnostic ? diagnostic.duration : 0, errors: (result.errors || []).map(error),
    });
  }

  onUserConsoleLog(log) {
    (log.type === 'stderr' ? process.stderr : process.stdout).write(log.content);
  }

  onTestRunEnd(modules, unhandled) {
    modules.forEach(tellBroken);
    for (const e of unhandled) write({ type: 'stray', errors: [error(e)] });
    for (const e of unhandled) process.stderr.write(`${(e && e.stack) || e}\n`);
    write({ type: 'end' });
  }
}
