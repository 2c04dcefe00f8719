"""Dispatch lag for CPython 3.9 and up: moves time where the code under test hands work over.

A test process finds the path of its plan in TRIAGEBOT_LAG_PLAN and that of its
log in TRIAGEBOT_LAG_LOG; TRIAGEBOT_TREE is the root that sites are named below.
Without a plan nothing is installed: no hook, no patch, no thread.

    plan.py     what to delay: the plan, its sites and doses
    engine.py   carries a delay out, within the plan's budget, and logs it
    places.py   whose code is it, and which site is this call
    threads.py  a profile function on threads that are not the test's, or that are
    tasks.py    a wrapper that drives asyncio tasks
    clocks.py   stretches sleeps and time-outs
    plugin.py   tells when a test begins and ends (a pytest plugin)

The standard library is all it needs. Whatever it needs of time and threads is
taken at import, before a test can replace it.
"""

import os

_installed = None


def install(child=False):
    """Install what the plan asks for, once a process, and return the engine; None without a plan.

    In a child process there is no test: every thread is a worker, and lag is on
    from the start.
    """
    global _installed
    path = os.environ.get("TRIAGEBOT_LAG_PLAN")
    if not path or _installed is not None:
        return _installed
    from . import clocks, engine, tasks, threads

    _installed = engine.load(path, os.environ.get("TRIAGEBOT_LAG_LOG"))
    threads.install(_installed)
    tasks.install(_installed)
    clocks.install(_installed)
    if child:
        threads.adopt(_installed)
        _installed.active = True
    return _installed
