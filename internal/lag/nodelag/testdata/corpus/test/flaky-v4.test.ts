import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('flaky', () => {
  it('v4 writer after close', async () => {
    const d = tmp(); const j = new Journal(d); j.write('a', '1'); await j.close(); await sleep(10)
    expect(readdirSync(d)).toEqual(['a']); rmSync(d, { recursive: true })
  })
})
