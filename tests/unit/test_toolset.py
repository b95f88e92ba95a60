"""The embedded toolset in direct mode."""

from __future__ import annotations

import asyncio

import pytest
from devices import DevicesTable
from loop import run

from surface import Component, Consumer, SurfaceDefinitionError, Toolset

ME = Consumer("embedded", "copilot")


@pytest.fixture
def table(registry):
    component = DevicesTable()
    component.registration = registry.register(component, instance_id="main")
    return component


def by_name(toolset):
    return {tool.name: tool for tool in toolset.tools()}


def test_a_tool_runs_its_capability_with_the_call_id(registry, table):
    toolset = Toolset(registry, consumer=ME, topology="embedded")
    select = by_name(toolset)["view_devices__table__selectRows"]
    result = run(select.execute({"ids": ["d2"]}, tool_call_id="toolu_1"))
    assert (result.ok, result.invocation_id, table.selected) == (True, "toolu_1", ["d2"])
    assert toolset.wire_names["view_devices__table__selectRows"] == "view:devices.table.selectRows"


def test_toolset_5_state_is_of_the_moment(registry, table):
    toolset = Toolset(registry, consumer=ME, topology="embedded")
    table.loaded = False
    state = by_name(toolset)["view_devices__table__selectRows"].state
    assert state.to_wire() == {"available": False, "unavailableReason": "Rows are still loading"}


def test_toolset_8_listeners_hear_of_real_changes_only_and_old_tools_answer_with_staleness(registry, table):
    toolset = Toolset(registry, consumer=ME, topology="embedded")
    heard = []
    toolset.subscribe(lambda: heard.append(1))
    old = by_name(toolset)["view_devices__table__readState"]

    async def story():
        table.registration.invalidate()
        await asyncio.sleep(0)
        assert heard == []
        table.registration.unregister()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert heard == [1]
        return await old.execute()

    assert run(story()).error.code == "COMPONENT_UNMOUNTED"


def test_toolset_8_a_change_is_told_though_somebody_has_read_the_tools_meanwhile(registry, table):
    toolset = Toolset(registry, consumer=ME, topology="embedded")
    heard = []
    toolset.subscribe(lambda: 1 / 0)
    toolset.subscribe(lambda: heard.append(1))

    async def story():
        table.registration.update(availability={"poke": False})
        toolset.tools()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run(story())
    assert heard == [1]


def test_toolset_6_after_dispose_tools_answer_cancelled_and_never_raise(registry, table):
    first = Toolset(registry, consumer=ME, topology="embedded")
    second = Toolset(registry, consumer=Consumer("embedded", "other"), topology="embedded")
    tool, other = by_name(first)["view_devices__table__readState"], by_name(second)["view_devices__table__readState"]
    first.dispose()
    first.dispose()
    assert first.tools() == []
    assert (run(tool.execute()).error.code, run(tool.execute()).error.retry) == ("CANCELLED", "no")
    registry.dispose()
    assert run(other.execute()).error.code == "CANCELLED"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "topology"),
        ({"topology": "somewhere"}, "topology"),
        ({"confirmations": "maybe"}, "confirmations"),
        ({"topology": "remote", "confirmations": "wait"}, "wait_timeout"),
        ({"topology": "embedded", "wait_timeout": 0}, "wait_timeout"),
    ],
)
def test_toolset_1_how_it_is_used_is_declared(registry, options, says):
    with pytest.raises(SurfaceDefinitionError, match=says):
        Toolset(registry, consumer=ME, **options)


def test_toolset_1_the_topology_means_a_mode_and_what_is_said_wins(registry):
    def mode(**options):
        return Toolset(registry, consumer=ME, **options).confirmations

    assert mode(topology="embedded") == "wait"
    assert mode(topology="remote") == "two-phase"
    assert mode(topology="embedded", confirmations="two-phase") == "two-phase"
    assert mode(topology="remote", confirmations="wait", wait_timeout=5) == "wait"
    assert mode(confirmations="wait") == "wait"


def test_a_budget_is_for_meta_mode(registry):
    with pytest.raises(SurfaceDefinitionError, match="budget"):
        Toolset(registry, consumer=ME, topology="embedded", budget={"max_components": 1})


class Asking:
    """A registry with one confirmed action, and a toolset on it."""

    def __init__(self, registry, **options):
        self.registry, self.ran = registry, []
        contract = Component("box", description="A box")

        @contract.action("Open", effect="local-state", confirmation="required")
        def open(how: str = "gently") -> str:
            self.ran.append(how)
            return how

        registry.register(contract)
        self.toolset = Toolset(registry, consumer=ME, **options)
        (self.tool,) = self.toolset.tools()

    def resolve(self, approved=True):
        (pending,) = self.registry.confirmations.pending()
        self.registry.confirmations.resolve(pending.confirmation_id, approved=approved)


@pytest.mark.parametrize(("approved", "code"), [(True, None), (False, "CONFIRMATION_INVALID")])
def test_toolset_7_wait_mode_waits_for_the_person_and_repeats_once(registry, clock, approved, code):
    asking = Asking(registry, topology="embedded")

    async def story():
        call = asyncio.ensure_future(asking.tool.execute({}, tool_call_id="t1"))
        await clock.advance(10)
        assert not call.done()
        asking.resolve(approved)
        return await call

    result = run(story())
    assert (result.error and result.error.code, result.invocation_id) == (code, "t1")
    assert asking.ran == (["gently"] if approved else [])


@pytest.mark.parametrize("end", ["timeout", "dispose"])
def test_toolset_7_what_ends_the_waiting_gives_the_first_answer(registry, clock, end):
    asking = Asking(registry, confirmations="wait", wait_timeout=30)

    async def story():
        call = asyncio.ensure_future(asking.tool.execute({}))
        await clock.advance(29)
        assert not call.done()
        if end == "dispose":
            asking.toolset.dispose()
        else:
            await clock.advance(1)
        return await call

    assert run(story()).error.code == "CONFIRMATION_REQUIRED"
    assert asking.ran == []


def test_a_registry_that_is_disposed_settles_the_waiting(registry, clock):
    asking = Asking(registry, topology="embedded")

    async def story():
        call = asyncio.ensure_future(asking.tool.execute({}))
        await clock.advance(1)
        registry.dispose()
        return await call

    result = run(story())
    assert (result.error.code, result.error.retry) == ("CANCELLED", "no")


def test_toolset_4_and_6_two_phase_takes_the_id_either_way_but_not_two_of_them(registry):
    asking = Asking(registry, topology="remote")
    assert "_confirmationId" in asking.tool.input_schema["properties"]
    details = run(asking.tool.execute({}, tool_call_id="t1")).error.details
    asking.resolve()
    id = details["confirmationId"]
    twice = run(asking.tool.execute({"_confirmationId": id}, confirmation_id="cnf_other"))
    assert twice.error.details["issues"][0]["path"] == "_confirmationId"
    assert run(asking.tool.execute({"_confirmationId": id}, confirmation_id=id, tool_call_id="t1")).output == "gently"
    assert asking.ran == ["gently"]
