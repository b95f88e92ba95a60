"""Eager starting: the first step runs at once, as the task that carries on."""

from __future__ import annotations

import asyncio
import contextvars

import pytest
from loop import run

from surface.invocation.start import start

VARIABLE = contextvars.ContextVar("VARIABLE", default=0)


def test_what_never_waits_is_done_at_once():
    async def quick():
        return 5

    async def broken():
        raise ValueError("no")

    async def story():
        assert start(quick()).result() == 5
        failed = start(broken())
        assert failed.done()
        with pytest.raises(ValueError, match="no"):
            failed.result()

    run(story())


def test_the_first_step_runs_as_the_task_that_goes_on():
    async def waits():
        VARIABLE.set(7)
        before = asyncio.current_task()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(5)
        assert asyncio.current_task() is before
        return VARIABLE.get()

    async def story():
        me = asyncio.current_task()
        started = start(waits())
        assert not started.done()
        assert asyncio.current_task() is me
        assert await started == 7
        assert VARIABLE.get() == 0

    run(story())


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_cancellation_reaches_it_whenever_it_comes(turns):
    told = []

    async def waits():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            told.append(True)
            raise

    async def story():
        started = start(waits())
        for _ in range(turns):
            await asyncio.sleep(0)
        started.cancel()
        with pytest.raises(asyncio.CancelledError):
            await started

    run(story())
    assert told == [True]


def test_plain_yields_and_callbacks_work():
    async def yields():
        for _ in range(3):
            await asyncio.sleep(0)
        return "done"

    async def story():
        heard = []
        started = start(yields())
        started.add_done_callback(lambda task: heard.append(task.result()))
        await started
        await asyncio.sleep(0)
        return heard

    assert run(story()) == ["done"]
