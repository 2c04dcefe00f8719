import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced, Micro, Backoff } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('honest', () => {
  it('h2 race with timeout', async () => { const p = new Placement(new Registry(), true); const w = await Promise.race([p.place('x').then(() => 'ok'), sleep(250).then(() => 'timeout')]); expect(w).toBe('ok') })
})
