import { describe, it, expect, vi, afterEach } from 'vitest'
import { mkdtempSync, rmSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'; import path from 'node:path'
import { once } from 'node:events'
import { Dispatcher, Registry, Placement, Journal, Lease, Store, Sessions, Poller, Deadline, Debounced, Micro, Backoff } from '../src/core'
import { FakeTmux, sleep } from './fakes'
afterEach(() => { vi.useRealTimers() })
const tmp = () => mkdtempSync(path.join(os.tmpdir(), 'dl-'))
describe('correct', () => {
  it('m2 fake clock backoff', async () => { vi.useFakeTimers(); const b = new Backoff(); let n = 0; const p = b.run(async () => ++n >= 3); await vi.advanceTimersByTimeAsync(2000); expect(b.tries).toBe(3); expect(await p).toBe(3) })
})
