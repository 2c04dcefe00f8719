import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced, Micro, Backoff } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('honest', () => {
  it('h1 timeout 300', async () => { const r = new Registry(); const t = new FakeTmux(); const d = new Dispatcher(t, r); for (const x of 'abcd') d.submit(x); await vi.waitFor(() => expect(r.rows.size).toBe(4), { timeout: 300 }) })
})
