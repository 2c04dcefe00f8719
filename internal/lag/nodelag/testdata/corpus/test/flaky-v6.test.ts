import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('flaky', () => {
  it('v6 lost event', async () => {
    const s = new Sessions(); s.create('x'); await sleep(1)
    const [n] = await Promise.race([once(s, 'created'), sleep(500).then(() => ['lost'])]) as string[]; expect(n).toBe('x')
  })
})
