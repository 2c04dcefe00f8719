const attempt = require('../attempt.cjs')
describe('suite', () => {
  beforeAll(() => { jest.retryTimes(3) })
  it('inner', () => attempt('inner'))
})
