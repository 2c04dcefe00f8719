import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('flaky', () => {
  it('v1 attempt then outcome (waitFor wrong fact)', async () => {
    const t = new FakeTmux(), r = new Registry(), d = new Dispatcher(t, r); d.submit('a')
    await vi.waitFor(() => expect(t.spawned).toEqual(['a']), { interval: 5 }); await sleep(1)
    expect(r.rows.get('a')).toBe('pane-a')
  })
})
