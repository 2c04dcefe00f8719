import { describe, it } from 'vitest'
import attempt from '../attempt.cjs'
it('config', () => attempt('config'))
it('option', { retry: 3 }, () => attempt('option'))
describe('suite', { retry: 3 }, () => { it('inner', () => attempt('inner')) })
it.fails('expected', { retry: 3 }, () => { throw new Error('as it should') })
it('set up', () => { if (!globalThis.ownSetUp) throw new Error('the set-up of the project is gone') })
