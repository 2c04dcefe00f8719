"""Project code that hands work to threads."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor


class Registry:
    def __init__(self):
        self.panes = {}

    def register(self, job, pane):
        self.panes[job] = pane


class Dispatcher:
    def __init__(self, tmux, registry):
        self.tmux, self.registry = tmux, registry
        self.jobs = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        job = self.jobs.get()
        self._one(job)
        self.jobs.task_done()

    def _one(self, job):
        pane = self.tmux.spawn(job)
        self.registry.register(job, pane)


class Machine:
    def __init__(self, on_start):
        self.on_start = on_start

    def _go(self):
        self.on_start("go")


def work(x):
    return x


def in_pool():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, 1).result()


def nap(seconds):
    time.sleep(seconds)
