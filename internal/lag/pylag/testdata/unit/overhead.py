"""Prints what one call of a project function costs on a worker thread, in nanoseconds.

    overhead.py off|idle|on    off: no plan; idle: a plan, outside a test; on: in a test, every site spent
"""

import json
import os
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.environ.get("TRIAGEBOT_LAG_RUNTIME") or os.path.join(HERE, "..", "..", "runtime"), HERE]
os.environ["TRIAGEBOT_TREE"] = HERE
CALLS = 200000

mode = sys.argv[1]
if mode != "off":
    plan = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
    json.dump({"version": 1, "role": "worker", "kinds": ["double", "return", "call", "start", "wake", "signal"], "min_ms": 0.001, "hits": 1}, plan)
    plan.close()
    os.environ["TRIAGEBOT_LAG_PLAN"] = plan.name

import zzlag  # noqa: E402
from shop import core  # noqa: E402

engine = zzlag.install()
if mode == "on":
    engine.begin()
took = []


def run():
    work = core.work
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(CALLS):
            work(1)
        took.append(time.perf_counter() - began)


t = threading.Thread(target=run)
t.start()
t.join()
print("%.0f" % (min(took) / CALLS * 1e9))
