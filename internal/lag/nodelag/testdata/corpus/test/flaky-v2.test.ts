import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('flaky', () => {
  it('v2 fixed sleep', async () => {
    const t = new FakeTmux(), r = new Registry(), d = new Dispatcher(t, r); d.submit('a'); await sleep(20)
    expect(d.log).toEqual(['dispatched:a'])
  })
})
