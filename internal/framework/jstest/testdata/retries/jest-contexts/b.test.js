const attempt = require('../attempt.cjs')
it('second', () => attempt('second'))
