// Tells triagebot what each test of a vitest run did (vitest 3 and 4; 1 and 2 by their older events).
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

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

/** The outcome of a test's first attempt; vitest keeps its error when a later one passed. */
function first(state, retries, errors) {
  return retries > 0 && errors.length > 0 ? 'fail' : state;
}

/** Has every worker take the retries out of the tests of a file. A browser would not find what is not in the tree. */
function once(specifications) {
  const file = fileURLToPath(new URL('./vitest-once.mjs', import.meta.url));
  for (const { project } of specifications || []) {
    const config = project && project.config;
    if (!config || !Array.isArray(config.setupFiles) || config.setupFiles.includes(file) || (config.browser && config.browser.enabled)) continue;
    const allow = project.vite?.config?.server?.fs?.allow; // all that an environment of a client may read
    if (Array.isArray(allow) && !allow.includes(file)) allow.push(file);
    config.setupFiles = [file, ...config.setupFiles];
  }
}

const STATES = { passed: 'pass', failed: 'fail', skipped: 'skip' };

/** The names of a test or describe of vitest 1 and 2, where the file is the outermost describe or none. */
function oldNames(task) {
  const found = [];
  for (let t = task; t && t.name && t !== task.file; t = t.suite) found.unshift(t.name);
  return found;
}

/** What a file of vitest 1 and 2 has below it. */
function below(task) {
  return (task.tasks || []).flatMap((t) => [t, ...below(t)]);
}

function tellOld(file) {
  const path = relative(file.filepath);
  const tasks = below(file);
  const tests = tasks.filter((t) => t.type !== 'suite');
  const broken = (task, phase, names) => {
    const errors = (task.result && task.result.errors) || [];
    for (const e of errors) write({ type: 'broken', file: path, names, phase, errors: [error(e)] });
  };
  for (const t of tests) {
    const { state, duration = 0, errors = [], retryCount = 0 } = t.result || {};
    const ran = state === 'pass' || state === 'fail' ? state : 'skip';
    write({ type: 'test', file: path, names: oldNames(t), state: first(ran, retryCount, errors), ms: duration, errors: errors.map(error) });
  }
  broken(file, tests.length === 0 ? 'build' : 'setup', []);
  for (const t of tasks) if (t.type === 'suite') broken(t, 'setup', oldNames(t));
}

export default class {
  onInit(vitest) {
    const version = parseInt(vitest.version, 10);
    this.old = version < 3 ? vitest : undefined; // vitest 3 sends the older events too
  }

  onCollected(files) {
    if (this.old) for (const f of files) write({ type: 'file', file: relative(f.filepath) });
  }

  onTaskUpdate(packs) {
    for (const [id, result] of this.old ? packs : []) {
      const task = this.old.state.idMap.get(id);
      if (task && task.type !== 'suite' && result && result.state === 'run') write({ type: 'start', file: relative(task.file.filepath), names: oldNames(task) });
    }
  }

  onFinished(files, unhandled = []) {
    if (!this.old) return;
    files.forEach(tellOld);
    this.end(unhandled);
  }

  onTestRunStart(specifications) {
    once(specifications);
  }

  onTestModuleCollected(module) {
    write({ type: 'file', file: relative(module.moduleId) });
  }

  onTestCaseReady(test) {
    write({ type: 'start', file: relative(test.module.moduleId), names: names(test) });
  }

  onTestCaseResult(test) {
    const result = test.result();
    const diagnostic = test.diagnostic();
    const errors = result.errors || [];
    write({
      type: 'test', file: relative(test.module.moduleId), names: names(test),
      state: first(STATES[result.state], diagnostic ? diagnostic.retryCount : 0, errors),
      ms: diagnostic ? diagnostic.duration : 0, errors: errors.map(error),
    });
  }

  onUserConsoleLog(log) {
    (log.type === 'stderr' ? process.stderr : process.stdout).write(log.content);
  }

  onTestRunEnd(modules, unhandled) {
    modules.forEach(tellBroken);
    this.end(unhandled);
  }

  end(unhandled) {
    for (const e of unhandled) write({ type: 'stray', errors: [error(e)] });
    for (const e of unhandled) process.stderr.write(`${(e && e.stack) || e}\n`);
    write({ type: 'end' });
  }
}
