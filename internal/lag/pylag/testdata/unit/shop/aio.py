"""Project code that hands work to tasks."""

import asyncio


class ARegistry:
    def __init__(self):
        self.panes = {}

    async def register(self, job, pane):
        await asyncio.sleep(0)
        self.panes[job] = pane


class ADispatcher:
    def __init__(self, registry):
        self.registry = registry
        self.jobs = asyncio.Queue()

    async def _run(self):
        job = await self.jobs.get()
        await self.registry.register(job, "pane")
        self.jobs.task_done()


async def compute(x):
    await asyncio.sleep(0)
    if x < 0:
        raise ValueError(x)
    return x + 1


async def stages(entered, go, done):
    entered.set()
    await go.wait()
    done.set()


async def forever():
    while True:
        await asyncio.sleep(0.01)
