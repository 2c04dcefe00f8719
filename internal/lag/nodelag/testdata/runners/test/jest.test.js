const assert = require('assert');
const { Registry } = require('../src/registry.cjs');
it('registers', async () => {
  const reg = new Registry();
  reg.register('a', 1);
  await new Promise((resolve) => setTimeout(resolve, 4));
  assert.equal(reg.rows.get('a'), 1);
});
