"""Prints what one call of a function costs on a worker thread, in nanoseconds."""

import threading
import time

CALLS = 200000
took = []


def work(n):
    return n + 1


def run():
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(CALLS):
            work(1)
        took.append(time.perf_counter() - began)


t = threading.Thread(target=run)
t.start()
t.join()
print("%.1f" % (min(took) / CALLS * 1e9))
