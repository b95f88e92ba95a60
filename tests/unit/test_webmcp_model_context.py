"""The Python handle on the model context: handles, waiting calls, and what is let go of when."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest
from loop import run
from webmcp_page import FakeEnd

from webmcp.model_context import ModelContext

TOOL = {"name": "echo", "title": "Echo", "description": "Echo", "inputSchema": {"type": "object"}, "annotations": {}}


@pytest.fixture
def end():
    return FakeEnd()


@pytest.fixture
def context(end):
    return ModelContext(end.connect)


async def echo(text, cancel):
    return json.dumps({"content": [{"type": "text", "text": text}]})


def test_a_tool_is_listed_called_and_removed(context, end):
    async def scenario():
        handle = context.register(TOOL, echo)
        assert context.list() == [TOOL]
        envelope = await end.call("echo", {"n": 1})
        context.remove(handle)
        context.remove(handle)
        assert context.list() == []
        return envelope

    assert run(scenario())["content"][0]["text"] == '{"n": 1}'
    assert end.log == [("register", "echo"), ("remove", "echo")]


def test_a_removal_does_not_take_a_successor_of_the_same_name(context, end):
    first = context.register(TOOL, echo)
    context.remove(first)
    context.register(TOOL, echo)
    context.remove(first)
    assert list(end.tools) == ["echo"]


def test_a_call_that_fails_or_is_cancelled_from_outside_is_answered_all_the_same(context, end, caplog):
    async def raises(text, cancel):
        raise RuntimeError("a bug")

    async def raises_later(text, cancel):
        await asyncio.sleep(0)
        raise RuntimeError("a bug")

    async def cancels(text, cancel):
        raise asyncio.CancelledError

    async def scenario():
        for name, call in (("now", raises), ("later", raises_later), ("cancelled", cancels)):
            context.register({**TOOL, "name": name}, call)
        return [await end.call(name) for name in ("now", "later", "cancelled")]

    codes = [envelope["structuredContent"]["error"]["code"] for envelope in run(scenario())]
    assert codes == ["EXECUTION_FAILED", "EXECUTION_FAILED", "CANCELLED"]
    assert "a bug" in caplog.text


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_whatever_ends_a_call_the_browser_is_answered(context, end, kind):
    async def ends_now(text, cancel):
        raise kind

    async def ends_later(text, cancel):
        await asyncio.sleep(0)
        raise kind

    context.register({**TOOL, "name": "now"}, ends_now)
    context.register({**TOOL, "name": "later"}, ends_later)
    loop = asyncio.new_event_loop()

    async def scenario():
        return [await end.finish(end.begin("now")), end.begin("later")]

    try:
        now, later = loop.run_until_complete(scenario())
        for _ in range(3):  # a plain event loop stops at these, a page's does not
            with contextlib.suppress(kind):
                loop.run_until_complete(asyncio.sleep(0.01))
        answers = [now, loop.run_until_complete(asyncio.wait_for(end.finish(later), 1))]
    finally:
        loop.close()
    assert [answer["structuredContent"]["error"]["code"] for answer in answers] == ["EXECUTION_FAILED"] * 2


def test_a_refusal_is_told_to_who_registered(end, context):
    end.taken = ("echo",)
    refusals = []

    async def scenario():
        context.register(TOOL, echo, on_refused=lambda handle, why: refusals.append((handle.name, why)))
        await asyncio.sleep(0)

    run(scenario())
    assert refusals == [("echo", "Duplicate tool name")]


def test_closing_lets_go_of_the_page_once_the_last_call_is_answered(context, end):
    async def wait(text, cancel):
        await cancel.wait()
        await asyncio.sleep(0.01)
        return json.dumps({"content": [{"type": "text", "text": str(cancel.reason)}]})

    async def scenario():
        context.register(TOOL, wait)
        call = end.begin("echo")
        context.close()
        context.close()
        await asyncio.sleep(0)
        assert end.tools == {}
        assert end.released == 0
        envelope = await end.finish(call)
        await asyncio.sleep(0)
        assert end.released == 1
        end.listener.cancel(1_000)
        return envelope

    assert run(scenario())["content"][0]["text"] == "stopped"
