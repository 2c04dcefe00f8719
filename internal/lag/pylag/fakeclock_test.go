package pylag_test

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// lateWork is a project whose work takes no time of its own.
const lateWork = `import asyncio, threading, time

class Job:
    def __init__(self): self.done = threading.Event(); self.seen = None
    def start(self): threading.Thread(target=self._run, daemon=True).start()
    def _run(self):
        self.seen = time.time()
        self.done.set()

async def work(done):
    await asyncio.sleep(0)
    done.set()
`

// frozenTests stop a clock by LIBRARY while real work goes on. The correct ones wait for
// the work; the racy one looks at once.
const frozenTests = `import asyncio, time
import LIBRARY
from work import Job, work

def test_thread():
    with FREEZE:
        job = Job(); job.start()
        assert job.done.wait(30)
        assert job.seen and time.time() == 1577836800.0

def test_task():
    async def go():
        with FREEZE:
            done = asyncio.Event()
            task = asyncio.create_task(work(done))
            await done.wait()
            assert time.time() == 1577836800.0
            await task
    asyncio.run(go())

def test_task_begun_before():
    async def go():
        done = asyncio.Event()
        task = asyncio.create_task(work(done))
        await asyncio.sleep(0)
        with FREEZE:
            await done.wait()
            assert time.time() == 1577836800.0
        await task
    asyncio.run(go())

def test_racy():
    real = time.sleep
    with FREEZE:
        job = Job(); job.start()
        real(0.005)
        assert job.seen
`

// A clock that a library stops ends no delay and is not moved by one, and real
// threads are late under it as under the real one.
func TestFrozenClocks(t *testing.T) {
	for library, freeze := range map[string]string{
		"freezegun":    `freezegun.freeze_time("2020-01-01")`,
		"time_machine": `time_machine.travel("2020-01-01T00:00Z", tick=False)`,
	} {
		t.Run(library, func(t *testing.T) {
			if path, why := lookPython("pytest, " + library); path == "" {
				t.Skip(why)
			}
			tests := strings.NewReplacer("LIBRARY", library, "FREEZE", freeze).Replace(frozenTests)
			l := labOf(t, treeOf(t, map[string]string{"work.py": lateWork, "test_f.py": tests, "conftest.py": ""}))
			plan := l.Plan("worker-100")
			for _, test := range []string{"test_thread", "test_task", "test_task_begun_before"} {
				tr := l.Try(l.Target("test_f.py", test), plan)
				if tr.Outcome != triage.Pass {
					t.Errorf("%s: %+v after %v", test, tr.Failure, tr.Decisions)
				}
				if test == "test_thread" && (tr.DecisionCount == 0 || tr.DurationMS < 100) {
					t.Errorf("the thread is not late: %v in %.0f ms", tr.Decisions, tr.DurationMS)
				}
			}
			if tr := l.Try(l.Target("test_f.py", "test_racy"), plan); !tr.Outcome.Red() {
				t.Errorf("the race is not shown: %v", tr.Decisions)
			}
		})
	}
}
