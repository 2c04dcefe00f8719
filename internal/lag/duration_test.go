package lag

import (
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestDurationIsReadFromALineThatHasOne(t *testing.T) {
	for _, tc := range []struct {
		file, text string
		want       float64 // 0 for none that can be read
	}{
		{"a.go", "case <-time.After(200 * time.Millisecond):", 200},
		{"a.go", "case <-time.After(time.Millisecond*200):", 200},
		{"a.go", "ctx, cancel := context.WithTimeout(ctx, 2*time.Second)", 2000},
		{"a.go", "time.Sleep(time.Second)", 1000},
		{"a.go", "time.Sleep(1.5 * time.Minute)", 90_000},
		{"a.go", "time.Sleep(0 * time.Second)", 0},
		{"a.go", "require.Eventually(t, ok, 2*time.Second, 10*time.Millisecond)", 0},
		{"a.go", "case <-time.After(patience):", 0},
		{"a.py", "time.sleep(0.05)", 50},
		{"a.py", "done.wait(timeout=0.3)", 300},
		{"a.py", "assert done.wait(2)", 2000},
		{"a.py", "await asyncio.wait_for(job(), 0.25)", 250},
		{"a.py", "async with asyncio.timeout(.5):", 500},
		{"a.py", "worker.join(1.0)", 1000},
		{"a.py", "await asyncio.sleep(pause)", 0},
		{"a.py", "await asyncio.sleep(0)", 0},
		{"a.js", "setTimeout(() => resolve(), 50);", 50},
		{"a.ts", "await sleep(1_000);", 1000},
		{"a.ts", "await vi.waitFor(() => check(), { timeout: 300 });", 300},
		{"a.mjs", "await delay(20)", 20},
		{"a.mjs", "setTimeout(done, patience)", 0},
	} {
		got, ok := durationMS(triage.Site{File: tc.file, Text: tc.text})
		if got != tc.want && ok || ok != (tc.want > 0) {
			t.Errorf("%s: %q: %g ms, %v; want %g", tc.file, tc.text, got, ok, tc.want)
		}
	}
}
