import { describe, it, before } from 'node:test'
import fs from 'node:fs'
import assert from 'node:assert'
const names = JSON.parse(fs.readFileSync(new URL('./names.json', import.meta.url), 'utf8'))
describe('group [1]', () => { for (const name of names) it(name, () => {}) })
describe('reds', () => {
  it('asserts', () => { assert.strictEqual(1 + 1, 3) })
  it('throws', () => { throw new TypeError('bad value 17') })
  it('hangs', { timeout: 60 }, () => new Promise((r) => setTimeout(r, 2000)))
  it('dies', () => { process.exit(7) })
  it.skip('skips', () => {})
})
describe('hooked', () => { before(() => { throw new Error('no set-up') }); it('under', () => {}) })
