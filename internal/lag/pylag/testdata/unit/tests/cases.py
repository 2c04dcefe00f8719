"""What the unit tests of the runtime run as if it were a test."""

import asyncio
import concurrent.futures
import os
import queue
import threading
import time
from unittest import mock

from shop import aio, core


class FakeTmux:
    def spawn(self, job):
        return "pane-" + job


def dispatch(tmux=None):
    d = core.Dispatcher(tmux or FakeTmux(), core.Registry())
    d.jobs.put("a")
    d.thread.join()


def dispatch_mock():
    dispatch(mock.Mock())


class Server(threading.Thread):
    def run(self):
        self.ran = True


def subclass():
    server = Server()
    server.start()
    server.join()
    Server().run()  # not a thread's beginning
    assert server.ran


def pool():
    assert core.in_pool() == 1


def callback():
    got = []
    t = threading.Thread(target=core.Machine(got.append)._go)
    t.start()
    t.join()
    assert got == ["go"]


def direct():
    r = core.Registry()
    r.register("a", "b")


def start():
    t = threading.Thread(target=core.work, args=(1,))
    t.start()
    while not t.is_alive():
        pass
    return t


def fork():
    pid = os.fork()
    if pid == 0:
        core.work(1)
        os._exit(0)
    os.waitpid(pid, 0)


def arun(coro):
    return asyncio.run(coro)


async def adispatch():
    d = aio.ADispatcher(aio.ARegistry())
    task = asyncio.create_task(d._run())
    await d.jobs.put("a")
    await d.jobs.join()
    await task
    assert d.registry.panes == {"a": "pane"}


async def asleep():
    await asyncio.sleep(0.001)


async def heartbeat(most):
    """The loop must come round at least every most seconds whatever is delayed."""
    loop = asyncio.get_running_loop()
    gaps, last = [], loop.time()

    def beat():
        nonlocal last
        gaps.append(loop.time() - last)
        last = loop.time()
        loop.call_later(0.01, beat)

    beat()
    await asyncio.create_task(aio.compute(1))
    core.work(1)
    await asyncio.sleep(0.05)
    gaps.sort()
    assert gaps[len(gaps) // 2] < most, gaps


async def cancel():
    task = asyncio.create_task(aio.forever())
    await asyncio.sleep(0.005)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    assert task.cancelled()


async def results():
    assert await asyncio.create_task(aio.compute(1)) == 2
    done = await asyncio.gather(*(aio.compute(x) for x in (1, -1, 3)), return_exceptions=True)
    assert done[0] == 2 and isinstance(done[1], ValueError) and done[2] == 4
    task = asyncio.create_task(aio.compute(5), name="five") if hasattr(asyncio, "create_task") else None
    assert task.get_name() == "five" and task.get_coro().__qualname__ == "compute"
    assert await task == 6


def own_clock():
    class Loop(asyncio.SelectorEventLoop):
        def time(self):
            return super().time()

    loop = Loop()
    try:
        assert loop.run_until_complete(aio.compute(1)) == 2
    finally:
        loop.close()


def sleep():
    time.sleep(0.01)


def poll():
    for _ in range(3):
        time.sleep(0.01)


def event_timeout():
    assert not threading.Event().wait(0.03)


def queue_timeout():
    try:
        queue.Queue().get(timeout=0.03)
    except queue.Empty:
        pass


def future_timeout():
    try:
        concurrent.futures.Future().result(0.03)
    except concurrent.futures.TimeoutError:
        pass


def async_timeout():
    async def go():
        await asyncio.wait_for(asyncio.Event().wait(), 0.03)

    try:
        asyncio.run(go())
    except asyncio.TimeoutError:
        pass


def deadline_loop(timeout=0.03):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        time.sleep(0.001)


def clock_is_true():
    began = time.monotonic()
    nap()
    assert elapsed(began) >= 0.05


def nap():
    time.sleep(0.05)


def elapsed(began):
    return time.monotonic() - began


class FakeTime:
    """A clock in the place of the time module's, which only its own sleep moves."""

    def __init__(self):
        self.now = 1000.0
        self.real = {name: getattr(time, name) for name in ("monotonic", "time", "perf_counter", "sleep")}

    def __enter__(self):
        time.monotonic = time.time = time.perf_counter = lambda: self.now
        time.sleep = self.sleep
        return self

    def __exit__(self, *_):
        for name, real in self.real.items():
            setattr(time, name, real)

    def sleep(self, seconds):
        self.now += seconds


def fake_time():
    """A worker that sleeps an hour by the test's clock."""
    real = time.perf_counter
    began = real()
    with FakeTime() as clock:
        t = threading.Thread(target=core.nap, args=(3600,))
        t.start()
        t.join()
        assert clock.now == 4600.0, clock.now
    return real() - began


async def fake_time_stops_the_loop():
    """The clock is replaced while a task may sleep on it, and while it goes on."""
    entered, go, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(aio.stages(entered, go, done))
    await asyncio.sleep(0)  # a delay of its beginning is under way
    with FakeTime() as clock:
        await entered.wait()
        go.set()
        await done.wait()
        assert clock.now == 1000.0, clock.now
    await task


def loop_time_of_an_instance():
    loop = asyncio.new_event_loop()
    loop.time = lambda: 5.0
    try:
        assert loop.run_until_complete(aio.compute(1)) == 2
    finally:
        loop.close()


class Skipping(asyncio.SelectorEventLoop):
    """Has a clock that jumps to the next timer, as loops for tests do."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0]._when)
        super()._run_once()


def skipping_loop():
    """How late it is by a loop's own clock after an hour's sleep and a time-out of a minute."""
    async def go():
        await asyncio.sleep(3600)
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 60)
        except asyncio.TimeoutError:
            pass
        return asyncio.get_running_loop().time()

    loop = Skipping()
    try:
        return loop.run_until_complete(go())
    finally:
        loop.close()
