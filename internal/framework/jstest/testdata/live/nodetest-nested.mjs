import test from 'node:test'
test('parent', async (t) => {
  await t.test('child [1]', () => {})
  await t.test('other', () => { throw new Error('not asked for') })
})
