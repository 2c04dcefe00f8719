"""Carries a delay out, within the plan's budget, and logs it as it happens."""

import _thread
import json
import os
import sys
import time

from . import plan as plans

# A log of one process is bounded; the reader's own bounds are wider.
MAX_RECORDS = 20000

_sleep = time.sleep
_dumps = json.dumps
_write = os.write


def load(plan_path, log_path):
    """Read the plan and open the log. A plan that cannot be carried out ends the process:
    a trial that silently ran without its lag would be counted as one with it."""
    try:
        with open(plan_path, encoding="utf-8") as f:
            plan = plans.Plan(json.load(f))
        fd = -1
        if log_path:
            fd = os.open(log_path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
    except (OSError, ValueError, TypeError, AttributeError) as e:
        os.write(2, ("triagebot lag: plan %s: %s\n" % (plan_path, e)).encode())
        os._exit(2)
    return Engine(plan, fd)


class Engine:
    """The plan in force in this process."""

    def __init__(self, plan, fd):
        self.plan = plan
        self.active = False
        self.test_thread = _thread.get_ident()
        self.monotonic = time.monotonic  # the clock that event loops should have; a test may replace it
        self._fd = fd
        self._err = _duplicate(2)
        self._records = 0
        self._spent = 0.0
        self._noted = set()
        self._sites = {}
        self._lock = _thread.allocate_lock()
        self._new_gate()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            self.note("free-threaded build: delays are as asked, but nothing here was measured on one")

    def _new_gate(self):
        # Sleepers wait for this lock, which is free only once the test is over.
        self.gate = _thread.allocate_lock()
        self.gate.acquire()

    def _forked(self):
        self._lock = _thread.allocate_lock()
        self._new_gate()

    def begin(self):
        """A test begins on this thread."""
        self.test_thread = _thread.get_ident()
        if self.plan.per_test:
            with self._lock:
                for site in list(self._sites.values()):
                    site.renew()
        self.active = True

    def end(self):
        """The test is over: no more delays, and whoever sleeps goes on at once."""
        self.active = False
        gate = self.gate
        self._new_gate()
        gate.release()

    def site(self, id, kind, line, text, test):
        """The site of this id; two places may share one."""
        s = self._sites.get(id)
        return s or self._sites.setdefault(id, plans.Site(self.plan, id, kind, line, text, test))

    def decide(self, site, role):
        """What this pass is worth in seconds, logged and paid for; -1 to give up the processor, 0 for nothing."""
        with self._lock:
            d = site.decide(role)
            if d is None:
                return 0
            hit, ms, give_up = d
            if not give_up:
                if self._spent + ms > self.plan.budget:
                    return 0
                self._spent += ms
            record = {"site": site.id, "kind": site.kind, "role": plans.ROLES[role], "hit": hit, "ms": ms}
            if give_up:
                record["yield"] = True
            self._log(record, site)
        return -1 if give_up else ms / 1000

    def wait(self, site, role):
        """Delay this thread. A thread that runs an event loop is never blocked."""
        gate = self.gate  # before the look at active: see end
        if site.done or not self.active or in_loop():
            return
        seconds = self.decide(site, role)
        if seconds > 0:
            if gate.acquire(True, seconds):
                gate.release()
        elif seconds < 0:
            _sleep(0)

    def stretched(self, id, line, text, test):
        """Log that this clock was stretched, once."""
        with self._lock:
            site = self._sites.get(id)
            if site is None:
                site = self._sites[id] = plans.Site(self.plan, id, id.rsplit(":", 2)[1], line, text, test)
                self._log({"stretched": id}, site)

    def _log(self, record, site):
        self._records += 1
        if self._fd < 0 or self._records > MAX_RECORDS:
            return
        if not site.told:
            site.told = True
            record["line"], record["text"], record["test"] = site.line, site.text, site.test
        try:
            _write(self._fd, (_dumps(record) + "\n").encode("ascii"))
        except OSError:
            self._fd = -1

    def note(self, text):
        """Say something of this process, once, on the standard error as it was at the start."""
        if text in self._noted:
            return
        self._noted.add(text)
        try:
            _write(self._err, ("triagebot lag: %s\n" % text).encode("utf-8", "replace"))
        except OSError:
            pass


def _duplicate(fd):
    try:
        return os.dup(fd)
    except OSError:
        return fd


def in_loop():
    """Whether this thread is running an event loop."""
    asyncio = sys.modules.get("asyncio.events")
    return asyncio is not None and asyncio._get_running_loop() is not None
