"""Delays asyncio tasks, never the thread that runs them.

Each task's coroutine is driven by a wrapper that awaits a sleep before the first
step (start) and after each resumption (wake). Between two awaits nothing is
moved: there a coroutine cannot be interrupted, so no other order is possible.

A sleep of ours is timed by a thread, not by the loop: a test may put a clock of
its own in the loop's place at any time, and ours neither ends by that one nor
moves it.
"""

import _thread
import asyncio
import sys
import time
import types

from . import plan as plans
from .places import OTHER, PROJECT, TEST

_sleep = asyncio.sleep
_loop_time = asyncio.BaseEventLoop.time
_SLEEP_CODE = asyncio.sleep.__code__


def install(engine):
    """Wrap the coroutines of all tasks that the standard loops make."""
    if not engine.plan.delays():
        return
    make = asyncio.BaseEventLoop.create_task

    def create_task(self, coro, *args, **kwargs):
        if engine.active and isinstance(coro, types.CoroutineType) and real_clock(engine, self):
            coro = _named(drive(engine, coro), coro)
        return make(self, coro, *args, **kwargs)

    asyncio.BaseEventLoop.create_task = create_task


def end(engine):
    """A test is over: say what loops it may have used that make their tasks in C."""
    if engine.plan.delays() and "uvloop" in sys.modules:
        engine.note("uvloop is loaded: tasks on its loops are not delayed")


def _named(wrapper, coro):
    wrapper.__name__, wrapper.__qualname__ = coro.__name__, coro.__qualname__
    return wrapper


async def drive(engine, coro):
    """Run a coroutine, with sleeps between its steps."""
    return await _Driven(_steps(engine, coro))


class _Driven:
    __slots__ = ("steps",)

    def __init__(self, steps):
        self.steps = steps

    def __await__(self):
        return self.steps


def _steps(engine, coro):
    """The steps of a coroutine as a generator. Whatever is thrown in while we sleep
    reaches the coroutine, as it would have reached it at its await."""
    value = error = None
    fresh = True
    try:
        while True:
            gate = engine.gate  # before the look at active: see Engine.end
            seconds = _delay(engine, coro, fresh)
            fresh = False
            if seconds:
                try:
                    yield from (_pause(gate, seconds) if seconds > 0 else _sleep(0)).__await__()
                except GeneratorExit:
                    raise
                except BaseException as e:
                    if error is None:
                        error = e
            try:
                if error is not None:
                    pending, error = error, None
                    awaited = coro.throw(pending)
                else:
                    awaited = coro.send(value)
            except StopIteration as e:
                return e.value
            try:
                value = yield awaited
            except GeneratorExit:
                raise
            except BaseException as e:
                value, error = None, e
    finally:
        coro.close()


async def _pause(gate, seconds):
    """Sleep in real time, at most until the test is over."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def finish():
        if not done.done():
            done.set_result(None)

    def wait():
        if gate.acquire(True, seconds):
            gate.release()
        try:
            loop.call_soon_threadsafe(finish)
        except RuntimeError:
            pass  # the loop is closed

    try:
        _thread.start_new_thread(wait, ())
    except RuntimeError:
        return  # no more threads, or the interpreter ends: that is not the test's fault
    await done


def _delay(engine, coro, fresh):
    """What to sleep before the next step, in seconds; below 0 to let others go first."""
    if not engine.active:
        return 0
    site, role = _site(engine, coro, fresh)
    if site is None or site.done or not real_clock(engine, asyncio.get_running_loop()):
        return 0
    return engine.decide(site, role)


def _site(engine, coro, fresh):
    """The site where the coroutine is about to go on, and its role.

    The role is that of the outermost function of the project or the tests: a
    test awaits what it calls itself. The site is the innermost of that side.
    """
    places = engine.places
    role = inner = above = None
    while coro is not None:
        frame = _frame(coro)
        if frame is None:
            break
        place = places.of(frame.f_code)
        if place.sort != OTHER:
            if role is None:
                role = plans.TEST if place.sort == TEST else plans.WORKER
            if role == plans.TEST or place.sort == PROJECT:
                inner = place, frame
        elif frame.f_code is _SLEEP_CODE and above == TEST:
            return None, role  # a test that sleeps has said how late it is
        above = place.sort
        coro = _awaited(coro)
    if inner is None:
        return None, plans.WORKER
    if fresh:
        return (inner[0].start if role == plans.WORKER else None), role
    return places.await_site(*inner), role


def _frame(coro):
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame = getattr(coro, name, None)
        if frame is not None:
            return frame
    return None


def _awaited(coro):
    for name in ("cr_await", "gi_yieldfrom", "ag_await"):
        inner = getattr(coro, name, None)
        if inner is not None:
            return inner
    return None


def real_clock(engine, loop):
    """Whether the loop's clock is the real one. Work that is late in real time only would be late
    by nothing, or by any time, on another."""
    if getattr(loop.time, "__func__", None) is _loop_time and time.monotonic is engine.monotonic:
        return True
    engine.note("an event loop with a clock of its own: its tasks are not delayed")
    return False
