import assert from 'node:assert';
import test from 'node:test';
import { Registry } from '../src/registry.mjs';
test('registers', async () => {
  const reg = new Registry();
  reg.register('a', 1);
  await new Promise((resolve) => setTimeout(resolve, 4));
  assert.equal(reg.rows.get('a'), 1);
});
