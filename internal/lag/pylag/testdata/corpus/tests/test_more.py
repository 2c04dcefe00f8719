"""Racy tests, each with its correct twin (_ok)."""

import asyncio
import os
import time

from shop import more
from tests.fakes import until


def read(directory, name):
    try:
        with open(os.path.join(directory, name)) as f:
            return f.read()
    except FileNotFoundError:
        return None


def test_timer_fixed_sleep():
    d = more.Debounce()
    d.poke("a")
    time.sleep(0.05)
    assert d.rows == ["a"]


def test_timer_ok():
    d = more.Debounce()
    d.poke("a")
    assert d.flushed.wait(30)
    assert d.rows == ["a"]


def test_child_attempt(tmp_path):
    p = more.spawn_python(str(tmp_path))
    until(lambda: read(tmp_path, "ready") or p.poll() is not None, timeout=30, step=0.0002)
    time.sleep(0.002)
    assert read(tmp_path, "state") == "running"


def test_child_ok(tmp_path):
    p = more.spawn_python(str(tmp_path))
    assert p.wait(60) == 0
    assert read(tmp_path, "state") == "running"


def test_fork_attempt(tmp_path):
    more.spawn_fork(str(tmp_path))
    until(lambda: read(tmp_path, "ready"), timeout=30, step=0.0002)
    time.sleep(0.002)
    assert read(tmp_path, "state") == "running"


def test_fork_ok(tmp_path):
    p = more.spawn_fork(str(tmp_path))
    p.join(60)
    assert read(tmp_path, "state") == "running"


def test_executor_fixed_sleep():
    async def go():
        s = more.Saver()
        await s.save("a")
        await asyncio.sleep(0.02)
        assert s.rows == ["a"]

    asyncio.run(go())


def test_executor_ok():
    async def go():
        s = more.Saver()
        await s.save("a")
        await s.saving
        assert s.rows == ["a"]

    asyncio.run(go())


def test_lost_notify():
    g = more.Gate()
    g.open_later()
    with g.connect():
        assert g.cond.wait(1)


def test_lost_notify_ok():
    g = more.Gate()
    g.open_later()
    with g.connect():
        assert g.cond.wait_for(lambda: g.opened, 30)


def test_order_of_two():
    p = more.Pair()
    p.run()
    until(lambda: len(p.rows) == 2)
    assert p.rows == ["first", "second"]


def test_order_of_two_ok():
    p = more.Pair()
    p.run()
    until(lambda: len(p.rows) == 2)
    assert sorted(p.rows) == ["first", "second"]
