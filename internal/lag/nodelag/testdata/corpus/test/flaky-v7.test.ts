import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('flaky', () => {
  it('v7 fake timers with a real promise', async () => {
    const f = path.join(tmp(), 'f'); writeFileSync(f, 'hello'); vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const p = new Poller(f); p.start(); await vi.advanceTimersByTimeAsync(1000); vi.useRealTimers(); await sleep(15); p.stop(); expect(p.saved).toEqual(['h'])
  })
})
