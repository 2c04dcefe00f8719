"""Stretches the clocks that the code under test waits by.

Three sorts of clocks, and only where project or test code uses them directly:
sleeps of the test outside loops, the time-outs of waiting calls, and loops that compare a
monotonic clock with a deadline. In a loop a sleep is the interval of a poll and
is left alone, as is a time-out below POLL.
"""

import asyncio
import concurrent.futures
import functools
import os
import queue
import subprocess
import sys
import threading
import time

from . import plan as plans
from . import tasks
from .places import OTHER, TEST

# A time-out below this, in seconds, inside a loop is the interval of a poll.
POLL = 0.2

# The file with the function that runs a step of a task.
_TASK_STEP = os.path.join("asyncio", "events.py")

# Waiting calls: owner, name, position of the time-out (with self).
_WAITS = [
    (threading.Event, "wait", 1),
    (threading.Condition, "wait", 1),
    (threading.Condition, "wait_for", 2),
    (threading.Thread, "join", 1),
    (threading.Barrier, "wait", 1),
    (queue.Queue, "get", 2),
    (queue.Queue, "put", 3),
    (concurrent.futures.Future, "result", 1),
    (concurrent.futures.Future, "exception", 1),
    (concurrent.futures, "wait", 1),
    (concurrent.futures, "as_completed", 1),
    (subprocess.Popen, "wait", 1),
    (subprocess.Popen, "communicate", 2),
    (asyncio, "wait_for", 1),
    (asyncio, "wait", 99),
]
if hasattr(asyncio, "timeout"):
    _WAITS.append((asyncio, "timeout", 0))


def install(engine):
    """Put stretched clocks in place of the real ones, as far as the plan stretches any."""
    if engine.plan.sleeps > 1:
        _patch(time, "sleep", _stretched(engine, time.sleep, plans.SLEEP, 0, "seconds"))
        _patch(asyncio, "sleep", _stretched(engine, asyncio.sleep, plans.SLEEP, 0, "delay", True))
    if engine.plan.timeouts > 1:
        for owner, name, position in _WAITS:
            _patch(owner, name, _stretched(engine, getattr(owner, name), plans.TIMEOUT, position, "timeout", owner is asyncio))
        for name in ("monotonic", "perf_counter", "time"):
            _patch(time, name, Slowed(engine, getattr(time, name)))
        engine.monotonic = time.monotonic


def _patch(owner, name, new):
    setattr(owner, name, new)


def _stretched(engine, real, kind, position, keyword, loops=False):
    """The waiting call with its time made longer; one of a loop only while the loop's clock is the real one."""

    @functools.wraps(real)
    def call(*args, **kwargs):
        if engine.active and (not loops or _on_real_clock(engine)):
            if keyword in kwargs:
                kwargs[keyword] = longer(engine, kind, kwargs[keyword], sys._getframe(1))
            elif len(args) > position:
                args = list(args)
                args[position] = longer(engine, kind, args[position], sys._getframe(1))
        return real(*args, **kwargs)

    return call


def _on_real_clock(engine):
    loop = asyncio._get_running_loop()
    return loop is None or tasks.real_clock(engine, loop)


def longer(engine, kind, seconds, frame):
    """The stretched time, when the caller's clock is one that the plan stretches."""
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return seconds
    place = engine.places.of(frame.f_code)
    if place.sort == OTHER:
        return seconds
    if kind == plans.SLEEP and not on_test_side(engine, frame):
        return seconds
    at = frame.f_lasti
    if place.in_loop(at) and (kind == plans.SLEEP or seconds < POLL):
        return seconds
    id = place.id(kind, place.ordinal(at))
    if engine.plan.clocks and id not in engine.plan.clocks:
        return seconds
    _tell(engine, place, id, frame)
    factor = engine.plan.sleeps if kind == plans.SLEEP else engine.plan.timeouts
    return seconds + _more(engine, seconds, factor)


def on_test_side(engine, frame):
    """Whether the test itself waits here: this is its thread, and the outermost function of the
    project or the tests below it, or below its task's step, is in test code.

    A sleep of a worker stands for the time that its work takes, and is no wait.
    """
    if threading.get_ident() != engine.test_thread:
        return False
    sort = OTHER
    while frame is not None and not frame.f_code.co_filename.endswith(_TASK_STEP):
        place = engine.places.of(frame.f_code)
        if place.sort != OTHER:
            sort = place.sort
        frame = frame.f_back
    return sort == TEST


def _more(engine, seconds, factor):
    more = seconds * (factor - 1)
    return min(more, engine.plan.cap / 1000) if engine.plan.cap else more


def _tell(engine, place, id, frame):
    line = frame.f_lineno
    engine.stretched(id, line, place.text(line), place.sort == TEST)


class Slowed:
    """A clock that runs slower within one run of a function that polls it.

    The first reading in a function starts it; readings at other places of the
    function are behind by the stretch. So "end = now() + d; while now() < end"
    waits longer, and a function that reads the clock once is not touched.
    """

    # Functions being timed at once are few; what is older is forgotten.
    MOST = 256

    def __init__(self, engine, real):
        self.engine, self.real = engine, real
        self.started = {}
        self.__name__ = real.__name__

    def __call__(self):
        now = self.real()
        engine = self.engine
        if not engine.active:
            return now
        frame = sys._getframe(1)
        code = frame.f_code
        place = engine.places.of(code)
        if place.sort == OTHER:
            return now
        key = threading.get_ident(), id(code)
        first = self.started.get(key)
        if first is None or first[0] == frame.f_lasti or first[1] > now:
            if len(self.started) >= self.MOST:
                self.started.clear()
            self.started[key] = frame.f_lasti, now
            return now
        site = place.id(plans.TIMEOUT, 0)
        if engine.plan.clocks and site not in engine.plan.clocks:
            return now
        _tell(engine, place, site, frame)
        passed = now - first[1]
        factor = engine.plan.timeouts
        behind = passed * (1 - 1 / factor)
        if engine.plan.cap:
            behind = min(behind, engine.plan.cap / 1000)
        return now - behind
