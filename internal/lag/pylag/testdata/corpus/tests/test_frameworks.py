"""Asynchronous tests as plugins and unittest run them; the plugins need not be there."""

import asyncio
import unittest

import pytest

from shop.aio import Feed, Placement


async def race():
    p = Placement()
    await p.place("x")
    await p.reap()
    assert p.reaped == []


async def lost():
    f = Feed()
    await f.create("x")
    q = await f.subscribe()
    assert await asyncio.wait_for(q.get(), 0.5) == "x"


async def correct():
    f = Feed()
    q = await f.subscribe()
    await f.create("x")
    assert await asyncio.wait_for(q.get(), 30) == "x"


@pytest.mark.asyncio
async def test_asyncio_race():
    await race()


@pytest.mark.asyncio
async def test_asyncio_lost():
    await lost()


@pytest.mark.asyncio
async def test_asyncio_correct():
    await correct()


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_anyio_race(anyio_backend):
    await race()


@pytest.mark.anyio
async def test_anyio_lost(anyio_backend):
    await lost()


@pytest.mark.anyio
async def test_anyio_correct(anyio_backend):
    await correct()


class Unit(unittest.IsolatedAsyncioTestCase):
    async def test_race(self):
        await race()

    async def test_lost(self):
        await lost()

    async def test_correct(self):
        await correct()
