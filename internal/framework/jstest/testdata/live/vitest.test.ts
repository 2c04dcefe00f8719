import { describe, it, beforeAll } from 'vitest'
import fs from 'node:fs'
import assert from 'node:assert'
const names = JSON.parse(fs.readFileSync(new URL('./names.json', import.meta.url), 'utf8'))
describe('group [1]', () => { for (const name of names) it(name, () => {}) })
describe('reds', () => {
  it('asserts', () => { assert.strictEqual(1 + 1, 3) })
  it('throws', () => { throw new TypeError('bad value 17') })
  it('hangs', () => new Promise(() => {}), 60)
  it('dies', () => { process.exit(7) })
  it.skip('skips', () => {})
})
describe('hooked', () => { beforeAll(() => { throw new Error('no set-up') }); it('under', () => {}) })
