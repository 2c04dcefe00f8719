// Sends a reporter the events of vitest 2.1.9, as they were seen of a file with a
// describe, a test each that passes, fails, passes when tried again and is left out, and a hook that throws.
const { default: Reporter } = await import(process.argv[2]);
const file = { type: 'suite', name: 'src/a.test.ts', filepath: `${process.cwd()}/src/a.test.ts`, result: { state: 'fail' } };
const suite = { type: 'suite', name: 'outer', file, result: { state: 'fail', errors: [{ name: 'Error', message: 'hook' }] } };
const test = (name, within, result) => ({ type: 'test', name, file, suite: within, result });
file.file = file;
suite.tasks = [
  test('passes', suite, { state: 'pass', duration: 3 }),
  test('fails', suite, { state: 'fail', duration: 4, errors: [{ name: 'AssertionError', message: 'no' }] }),
  test('retried', suite, { state: 'pass', duration: 5, retryCount: 1, errors: [{ name: 'Error', message: 'first' }] }),
  test('left out', suite, undefined),
];
file.tasks = [suite, test('on top', undefined, { state: 'pass' })];
const bare = { type: 'suite', name: 'src/b.test.ts', filepath: `${process.cwd()}/src/b.test.ts`, tasks: [], result: { state: 'fail', errors: [{ name: 'SyntaxError', message: 'import' }] } };

for (const version of ['2.1.9', '3.2.4']) {
  const reporter = new Reporter();
  reporter.onInit({ version, state: { idMap: new Map([['1', suite.tasks[0]], ['2', suite]]) } });
  reporter.onCollected([file]);
  reporter.onTaskUpdate([['1', { state: 'run' }], ['2', { state: 'run' }], ['3', { state: 'run' }], ['1', { state: 'pass' }]]);
  reporter.onFinished([file, bare], []);
}
