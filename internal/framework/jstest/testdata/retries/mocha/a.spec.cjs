const attempt = require('../attempt.cjs')
it('config', () => attempt('config'))
it('option', function () { this.retries(3); attempt('option') })
describe('suite', function () {
  this.retries(3)
  it('inner', () => attempt('inner'))
})
describe('hook', () => {
  beforeEach(function () { this.currentTest.retries(3) })
  it('each', () => attempt('each'))
})
it('chained', () => attempt('chained')).retries(3)
