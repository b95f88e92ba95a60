"""An agent over WebMCP that must ask a person first: with the id, or by only repeating its call (03, "Calls")."""

from __future__ import annotations

import asyncio
import json

import pytest
from loop import run

from surface import Component, Registry
from webmcp.adapter import WebMCPAdapter

NAME = "view_box__open"


class FakeContext:
    """Stands for the browser's side of `ModelContext`: keeps the calls by name."""

    def __init__(self):
        self.calls, self.definitions = {}, {}

    def register(self, definition, call, *, exposed_to=(), on_refused=None):
        self.calls[definition["name"]], self.definitions[definition["name"]] = call, definition
        return definition["name"]

    def remove(self, handle):
        del self.calls[handle]

    def close(self):
        self.calls.clear()


class Agent:
    """Calls the tool and reads the envelope."""

    def __init__(self, clock):
        self.ran = []
        self.gate = None
        self.registry = Registry(clock=clock)
        self.contract = Component("box", description="A box")

        @self.contract.action("Open", effect="local-state", confirmation="required")
        async def open(how: str = "gently") -> dict[str, str]:
            self.ran.append(how)
            if self.gate is not None:
                await self.gate.wait()
            return {"opened": how}

        self.registry.register(self.contract)
        self.context = FakeContext()

    async def start(self):
        async def find():
            return self.context

        await WebMCPAdapter(self.registry, model_context=find).start()

    async def call(self, **input):
        from surface import CancelSignal

        return json.loads(await self.context.calls[NAME](json.dumps(input), CancelSignal()))

    async def asked(self, **input):
        error = self.error(await self.call(**input))
        assert error["code"] == "CONFIRMATION_REQUIRED"
        return error["details"]["confirmationId"]

    @staticmethod
    def error(envelope):
        assert envelope["isError"] is True
        return envelope["structuredContent"]["error"]

    def resolve(self, approved=True, **options):
        (pending,) = self.registry.confirmations.pending()
        self.registry.confirmations.resolve(pending.confirmation_id, approved=approved, **options)


@pytest.fixture
def agent(clock):
    return Agent(clock)


def story(agent):
    """Run an async test function with a started adapter."""

    def decorate(function):
        async def whole():
            await agent.start()
            await function()

        run(whole())

    return decorate


def test_the_tool_says_that_it_asks_and_takes_the_id(agent):
    @story(agent)
    async def _():
        definition = agent.context.definitions[NAME]
        assert "requires confirmation]" in definition["description"]
        assert "_confirmationId" in definition["inputSchema"]["properties"]
        assert definition["annotations"]["consequentialHint"] is True
        error = agent.error(await agent.call())
        assert "ask" in error["message"].lower()
        assert set(error["details"]) == {"confirmationId", "summary", "expiresAt", "effect", "origin"}


@pytest.mark.parametrize("with_id", [True, False])
def test_an_approved_call_runs_once_however_it_is_repeated(agent, with_id):
    @story(agent)
    async def _():
        id = await agent.asked()
        again = {"_confirmationId": id} if with_id else {}
        assert await agent.asked(**again) == id  # still pending: the same one, no second dialog
        agent.resolve()
        assert (await agent.call(**again))["structuredContent"] == {"opened": "gently"}
        assert agent.ran == ["gently"]


def test_after_settlement_the_id_replays_and_plain_words_ask_anew(agent):
    @story(agent)
    async def _():
        id = await agent.asked()
        agent.resolve()
        first = await agent.call()
        assert await agent.call(_confirmationId=id) == first
        assert await agent.asked() != id
        assert agent.ran == ["gently"]


def test_a_denial_is_told_once_and_then_the_words_are_a_new_request(agent):
    @story(agent)
    async def _():
        id = await agent.asked()
        agent.resolve(approved=False, reason="No", agent_visible=True)
        error = agent.error(await agent.call())
        assert (error["code"], error["details"]) == ("CONFIRMATION_INVALID", {"reason": "denied", "denialReason": "No"})
        assert await agent.asked() != id
        assert agent.error(await agent.call(_confirmationId=id))["details"]["reason"] == "denied"


def test_after_expiry_plain_words_ask_anew_and_the_id_learns_it(agent, clock):
    @story(agent)
    async def _():
        id = await agent.asked()
        await clock.advance(120)
        assert await agent.asked() != id
        error = agent.error(await agent.call(_confirmationId=id))
        assert (error["details"]["reason"], error["retry"]) == ("expired", "with-confirmation")


def test_another_input_is_another_request(agent):
    @story(agent)
    async def _():
        await agent.asked(how="gently")
        agent.resolve()
        id = await agent.asked(how="hard")
        assert agent.error(await agent.call(how="gently", _confirmationId=id))["details"]["reason"] == "mismatch"
        assert agent.ran == []


def test_a_hundred_concurrent_repeats_join_one_execution(agent):
    @story(agent)
    async def _():
        agent.gate = asyncio.Event()
        id = await agent.asked()
        agent.resolve()
        repeats = [agent.call(**({"_confirmationId": id} if number % 2 else {})) for number in range(100)]
        calls = [asyncio.ensure_future(one) for one in repeats]
        await asyncio.sleep(0)
        agent.gate.set()
        results = await asyncio.gather(*calls)
        assert all(result == results[0] for result in results)
        assert results[0]["structuredContent"] == {"opened": "gently"}
        assert agent.ran == ["gently"]


@pytest.mark.parametrize("id", [5, [], {}, True])
def test_an_id_that_is_no_text_is_named(agent, id):
    @story(agent)
    async def _():
        error = agent.error(await agent.call(_confirmationId=id))
        assert error["details"]["issues"] == [{"path": "_confirmationId", "message": "must be text"}]


@pytest.mark.parametrize("id", ["", "cnf_forged", "cnf_" + "0" * 22])
def test_a_forged_id_approves_nothing(agent, id):
    @story(agent)
    async def _():
        await agent.asked()
        assert agent.error(await agent.call(_confirmationId=id))["code"] == "CONFIRMATION_INVALID"
        assert agent.ran == []
