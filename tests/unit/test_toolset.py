"""The embedded toolset in direct mode."""

from __future__ import annotations

import asyncio

import pytest
from devices import DevicesTable
from loop import run

from surface import Consumer, SurfaceDefinitionError, Toolset

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


def test_a_toolset_declares_its_topology(registry):
    with pytest.raises(SurfaceDefinitionError, match="topology"):
        Toolset(registry, consumer=ME, topology="somewhere")
    with pytest.raises(SurfaceDefinitionError, match="budget"):
        Toolset(registry, consumer=ME, topology="embedded", budget={"max_components": 1})
