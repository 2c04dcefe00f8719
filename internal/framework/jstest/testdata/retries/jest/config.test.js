const attempt = require('../attempt.cjs')
it('config', () => attempt('config'))
