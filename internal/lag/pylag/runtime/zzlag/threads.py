"""A profile function that delays threads at the places where they hand work over.

Worker threads get it through threading.setprofile, the test's own thread, when
the plan concerns it, while a test runs. CPython does not profile the profile
function itself, so nothing here is seen by it.
"""

import os
import sys
import threading

from . import plan as plans
from .places import OTHER, PROJECT, TEST, Places

# Built-in methods that matter to other threads: what changes a container, and locks.
_BUILTIN = dict.fromkeys(
    ("append", "appendleft", "add", "update", "discard", "remove", "extend", "setdefault", "put", "release"), plans.SIGNAL
)
_BUILTIN["acquire"] = plans.WAKE


def install(engine):
    """Profile the threads that start from now on, if the plan concerns workers."""
    engine.places = Places(engine, os.environ.get("TRIAGEBOT_TREE") or os.getcwd())
    engine.test_hook = None
    hook = None
    if engine.plan.concerns(plans.WORKER):
        hook = make_hook(engine, plans.WORKER)
        threading.setprofile(hook)
    if hasattr(os, "register_at_fork"):  # in a forked child the test's thread goes on as a worker
        os.register_at_fork(after_in_child=lambda: sys.setprofile(hook) if engine.active else None)
    if engine.plan.concerns(plans.TEST):
        engine.test_hook = make_hook(engine, plans.TEST)


def adopt(engine):
    """Profile this very thread as a worker: the main thread of a child process."""
    if engine.plan.concerns(plans.WORKER):
        sys.setprofile(make_hook(engine, plans.WORKER))


def begin(engine):
    """A test begins on this thread."""
    if engine.test_hook is not None:
        if sys.getprofile() is None:
            sys.setprofile(engine.test_hook)
        else:
            engine.note("the test's thread has a profile function of its own: it is not delayed")


def end(engine):
    if engine.test_hook is not None and sys.getprofile() is engine.test_hook:
        sys.setprofile(None)


def make_hook(engine, role):
    """The profile function for threads of this role."""
    places = engine.places
    known, learn = places.known, places.learn
    test = role == plans.TEST

    def hook(frame, event, arg):
        if not engine.active:
            return
        code = frame.f_code
        if event == "call":
            place = known.get(id(code)) or learn(code)
            if place.sort == PROJECT:
                entry = place.entry
                if entry is not None and not entry.done:
                    engine.wait(entry, role)
            elif place.standard == plans.START:
                started(frame)
            elif place.start is not None and code.co_name == "run" and begins(frame):
                engine.wait(place.start, role)
        elif event == "return":
            place = known.get(id(code)) or learn(code)
            if place.standard is not None or place.sort == TEST or test and place.sort == PROJECT:
                returned(frame, place)
        elif event == "c_return":
            name = arg.__name__
            if name in _BUILTIN:
                c_returned(frame, known.get(id(code)) or learn(code), name)

    def started(frame):
        place = body(frame, places)
        if place is not None and place.start is not None:
            engine.wait(place.start, role)

    def returned(frame, place):
        caller = frame.f_back
        if caller is None or place.standard == plans.START:
            return
        at = known.get(id(caller.f_code)) or learn(caller.f_code)
        if at.sort == OTHER or at.sort == TEST and not test:
            return
        if place.sort == TEST:
            if at.sort != PROJECT:
                return
            kind = plans.DOUBLE
        elif place.sort == PROJECT:
            if at.sort != TEST:
                return
            kind = plans.STEP
        else:
            kind = place.standard
            if kind == plans.SIGNAL and place.code.co_name not in caller.f_code.co_names:
                kind = plans.RETURN  # called by another name: a callback that somebody handed in
        engine.wait(places.call_site(at, kind, caller), role)

    def c_returned(frame, place, name):
        if place.sort == PROJECT:
            kind = _BUILTIN[name] if name in frame.f_code.co_names else plans.RETURN
            engine.wait(places.call_site(place, kind, frame), role)

    return hook


def begins(frame):
    """Whether this is the run method of a thread, of a subclass of Thread in test code."""
    caller = frame.f_back
    return caller is not None and caller.f_code.co_name == "_bootstrap_inner" and caller.f_globals.get("__name__") == "threading"


def body(frame, places):
    """The place of the function that a thread or a pool's item is about to run."""
    self = frame.f_locals.get("self")
    for name in ("_target", "function", "fn", "task"):
        target = getattr(self, name, None)
        if isinstance(target, tuple):  # _WorkItem.task of CPython 3.14
            target = target[0] if target else None
        for _ in range(8):  # partials and decorators
            inner = getattr(target, "func", None) or getattr(target, "__wrapped__", None)
            if inner is None:
                break
            target = inner
        code = getattr(target, "__code__", None)
        if code is not None:
            return places.of(code)
    return None
