"""Tells the engine when a test begins and ends. Loaded by pytest as a plugin; without a plan it does nothing."""

import os

import pytest

import zzlag
from zzlag import tasks, threads

_engine = zzlag.install()
_running = False  # a pytest that a test runs in this process has tests of its own
if _engine is not None:
    # Python processes that a test starts are workers: see sitecustomize.
    os.environ["TRIAGEBOT_LAG_CHILD"] = "1"


def pytest_configure(config):
    if _engine is not None:
        _engine.places.patterns = [p for p in config.getini("python_files") if "/" not in p]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    global _running
    if _engine is None or _running:
        yield
        return
    _running = True
    _engine.begin()
    threads.begin(_engine)
    try:
        yield
    finally:
        _running = False
        threads.end(_engine)
        tasks.end(_engine)
        _engine.end()
