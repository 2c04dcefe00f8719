// Sends a reporter what jest 30 tells of a file whose tests were tried again, as an
// environment of its own may have it done.
const Reporter = require(process.argv[2]);
const test = (title, more) => ({ ancestorTitles: ['outer'], title, status: 'passed', duration: 3, failureMessages: [], retryReasons: [], invocations: 1, ...more });
new Reporter().onTestFileResult({ path: `${process.cwd()}/a.test.js` }, {
  testResults: [
    test('once'),
    test('told', { invocations: 2, retryReasons: ['Error: first'] }),
    test('untold', { invocations: 3 }),
    test('red', { status: 'failed', failureMessages: ['Error: no'] }),
  ],
});
