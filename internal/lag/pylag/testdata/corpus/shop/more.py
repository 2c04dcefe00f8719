"""More ways of handing work over: timers, child processes, pools, conditions."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
import time


class Debounce:
    """Flushes a little after the last poke."""

    def __init__(self):
        self.flushed = threading.Event()
        self.rows = []

    def poke(self, row):
        t = threading.Timer(0.005, self._flush, args=(row,))
        t.daemon = True
        t.start()

    def _flush(self, row):
        self.rows.append(row)
        self.flushed.set()


def write(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.replace(path + ".new", path)


def record(directory):
    """What a child does: it says that it is ready, then writes its state."""
    write(os.path.join(directory, "ready"), "yes")
    publish(directory)


def publish(directory):
    write(os.path.join(directory, "state"), "running")


def spawn_python(directory):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = "import sys; sys.path.insert(0, sys.argv[1]); from shop.more import record; record(sys.argv[2])"
    return subprocess.Popen([sys.executable, "-c", code, root, directory])


def spawn_fork(directory):
    p = multiprocessing.get_context("fork").Process(target=record, args=(directory,))
    p.start()
    return p


class Saver:
    """save() hands the write to a thread and does not wait for it."""

    def __init__(self):
        self.rows = []

    async def save(self, row):
        self.saving = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, self._write, row))

    def _write(self, row):
        self.rows.append(row)


class Gate:
    """open() is told to those who wait at that moment, and remembered in opened."""

    def __init__(self):
        self.cond = threading.Condition()
        self.opened = False

    def open_later(self):
        threading.Thread(target=self._open, daemon=True).start()

    def _open(self):
        time.sleep(0.08)
        with self.cond:
            self.opened = True
            self.cond.notify_all()

    def connect(self):
        return self.cond


class Pair:
    """Two workers whose order nobody promises."""

    def __init__(self):
        self.rows = []

    def run(self):
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._first, self._second)]
        for t in self.threads:
            t.start()

    def _first(self):
        self._log("first")

    def _second(self):
        time.sleep(0.03)
        self._log("second")

    def _log(self, row):
        self.rows.append(row)
