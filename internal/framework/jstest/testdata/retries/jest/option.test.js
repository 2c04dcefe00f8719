const attempt = require('../attempt.cjs')
jest.retryTimes(3, { logErrorsBeforeRetry: true, retryImmediately: true })
it('option', () => attempt('option'))
