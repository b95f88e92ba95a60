"""The WebMCP adapter against a recorded model context: what is registered when, and what calls answer."""

from __future__ import annotations

import asyncio
import logging

import pytest
from devices import DevicesTable
from loop import run
from webmcp_page import FakeEnd

from surface import Component, Presentation, Registry, Replacement, Selection, SurfaceDefinitionError
from webmcp import WebMCPAdapter, expose

READ = "view_devices__table__readState"
SELECT = "view_devices__table__selectRows"
HOLD = "view_devices__table__hold"
ALL = [READ, SELECT, HOLD, "view_devices__table__poke", "view_devices__table__fail"]


@pytest.fixture
def end():
    return FakeEnd()


@pytest.fixture
def table(registry):
    component = DevicesTable()
    component.registration = registry.register(component, instance_id="main")
    return component


@pytest.fixture
def adapter(registry, end):
    return WebMCPAdapter(registry, model_context=end.find)


async def turn():
    for _ in range(5):
        await asyncio.sleep(0)


def error(envelope):
    assert envelope["isError"] is True
    return envelope["structuredContent"]["error"]


# Showing


def test_every_available_capability_is_one_tool_with_the_projectors_definition(adapter, end, table):
    run(adapter.start())
    assert list(end.tools) == ALL
    assert end.tools[READ] == {
        "name": READ,
        "title": "readState",
        "description": "[view · read] Visible rows, selection and sorting",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "consequentialHint": False,
            "untrustedContentHint": True,
        },
    }
    assert adapter.wire_names[READ] == "view:devices.table.readState"


def test_an_unchanged_surface_causes_no_call_at_all(adapter, end, table):
    async def scenario():
        await adapter.start()
        end.log.clear()
        table.registration.invalidate()
        await turn()

    run(scenario())
    assert end.log == []


def test_a_burst_of_changes_causes_one_pass(adapter, end, table, registry):
    async def scenario():
        await adapter.start()
        end.log.clear()
        for _ in range(10):
            table.registration.update(availability={"poke": False})
            table.registration.update(availability={"poke": None})
        table.registration.update(availability={"poke": (False, "Busy")})
        await turn()

    run(scenario())
    assert end.log == [("remove", "view_devices__table__poke")]


def test_mounting_again_reaches_the_new_registration_and_removes_before_it_registers(adapter, end, table, registry):
    async def scenario():
        await adapter.start()
        end.log.clear()
        table.registration.unregister()
        newcomer = DevicesTable()
        newcomer.rows = ["new"]
        registry.register(newcomer, instance_id="main")
        await turn()
        return await end.call(READ)

    envelope = run(scenario())
    assert envelope["structuredContent"]["visibleRows"] == ["new"]
    assert end.log == [*(("remove", name) for name in ALL), *(("register", name) for name in ALL)]


def test_a_second_instance_qualifies_the_names_of_both(adapter, end, table, registry):
    async def scenario():
        await adapter.start()
        registry.register(DevicesTable(), instance_id="side")
        await turn()

    run(scenario())
    assert f"{READ}_at_main" in end.tools
    assert f"{READ}_at_side" in end.tools
    assert READ not in end.tools


def test_a_name_does_not_change_because_another_instance_becomes_unavailable(adapter, end, table, registry):
    async def scenario():
        side = registry.register(DevicesTable(), instance_id="side")
        await adapter.start()
        end.log.clear()
        side.update(enabled=False)
        await turn()

    run(scenario())
    assert {kind for kind, _ in end.log} == {"remove"}
    assert f"{READ}_at_main" in end.tools


def test_start_and_stop_repeat_and_stop_leaves_nothing(adapter, end, table, registry):
    async def scenario():
        await asyncio.gather(adapter.start(), adapter.start())
        assert len(end.log) == len(ALL)
        await adapter.stop()
        await adapter.stop()
        assert end.tools == {}
        await turn()
        assert end.released == 1
        table.registration.unregister()
        await turn()
        assert end.tools == {}
        registry.register(DevicesTable(), instance_id="main")
        await adapter.start()
        assert list(end.tools) == ALL

    run(scenario())


def test_disposing_the_registry_takes_every_tool_back_at_once(adapter, end, table, registry):
    async def scenario():
        await adapter.start()
        registry.dispose()
        assert end.tools == {}
        assert not adapter.started
        await adapter.stop()

    run(scenario())


def test_without_a_model_context_start_does_nothing_and_says_so_once(registry, table, caplog):
    async def nothing():
        return None

    adapter = WebMCPAdapter(registry, model_context=nothing)
    caplog.set_level(logging.DEBUG, "webmcp")
    run(adapter.start())
    run(adapter.start())
    run(adapter.stop())
    assert not adapter.started
    assert [record.levelname for record in caplog.records] == ["DEBUG"]


def test_outside_a_page_expose_resolves_and_shows_nothing(registry, table):
    assert not run(expose(registry)).started


def test_a_name_that_somebody_else_has_is_reported_once_and_left_out(registry, table, caplog):
    end = FakeEnd(taken=(READ,))

    async def scenario():
        adapter = await expose(registry, model_context=end.find)
        await turn()
        table.registration.invalidate()
        await turn()
        table.registration.unregister()
        registry.register(DevicesTable(), instance_id="main")
        await turn()
        await adapter.stop()

    run(scenario())
    refusals = [record for record in caplog.records if READ in record.getMessage()]
    assert len(refusals) == 1
    assert "Duplicate tool name" in refusals[0].getMessage()
    # once at the start, and once for the tool of the new registration; never for the unchanged surface
    assert end.log.count(("register", READ)) == 2
    assert end.log.count(("register", SELECT)) == 2


def test_scope_narrows_what_is_shown(registry, end, table):
    clock = Component("page.clock", description="The clock")
    clock.observation("The time")(lambda_time)
    registry.register(clock)
    run(expose(registry, scope=["page"], model_context=end.find))
    assert list(end.tools) == ["view_page__clock__lambdaTime"]


def lambda_time() -> str:
    return "12:00"


def test_exposed_to_goes_with_every_registration(registry, end, table):
    run(expose(registry, exposed_to=["https://agent.example"], model_context=end.find))
    assert end.options[READ] == {"exposedTo": ["https://agent.example"]}


def test_no_options_are_sent_where_none_were_asked_for(adapter, end, table):
    run(adapter.start())
    assert end.options[READ] == {}


def test_expose_is_asked_again_on_each_pass(registry, end, table):
    hidden = set()

    async def scenario():
        await expose(registry, expose=lambda item: item.name not in hidden, model_context=end.find)
        hidden.add("poke")
        table.registration.invalidate()
        await turn()

    run(scenario())
    assert "view_devices__table__poke" not in end.tools
    assert READ in end.tools


def test_a_replaced_name_enters_the_name_map_and_is_called_by_it(registry, end, table):
    async def scenario():
        replacements = {"view:devices.table.readState": Replacement(name="look")}
        adapter = await expose(
            registry, presentation=Presentation(Selection(replace=replacements)), model_context=end.find
        )
        assert adapter.wire_names["look"] == "view:devices.table.readState"
        return await end.call("look")

    assert run(scenario())["structuredContent"]["visibleRows"] == ["d1", "d2"]


def test_replaced_names_that_are_not_unique_fail_the_start_and_leave_nothing(registry, end, table):
    with pytest.raises(SurfaceDefinitionError, match="look"):
        run(expose(registry, expose=lambda item: {"name": "look"}, model_context=end.find))
    assert end.tools == {}


def test_a_replaced_name_that_a_second_instance_makes_ambiguous_is_given_up(registry, end, table, caplog):
    def curate(item):
        return {"name": "look"} if item.name == "readState" else False

    async def scenario():
        await expose(registry, expose=curate, model_context=end.find)
        registry.register(DevicesTable(), instance_id="side")
        await turn()

    run(scenario())
    assert sorted(end.tools) == [f"{READ}_at_main", f"{READ}_at_side"]
    assert "look" in caplog.text


def test_more_tools_than_the_tool_budget_are_shown_with_one_warning(registry, end, table, caplog):
    async def scenario():
        await expose(registry, tool_budget=4, model_context=end.find)
        table.registration.invalidate()
        await turn()

    run(scenario())
    assert len(end.tools) == 5
    assert len([record for record in caplog.records if "scope=" in record.getMessage()]) == 1


def test_a_budget_drops_the_lowest_priority_and_names_it(registry, end, table, caplog):
    registry.register(DevicesTable(), instance_id="important", priority=5)
    run(
        expose(registry, budget={"max_components": 1}, announce_unavailable=True, model_context=end.find),
    )
    assert READ in end.tools
    assert "view:devices.table.readState" in caplog.text
    assert run(end.call("surface_unavailable"))["structuredContent"]["dropped"] == 5


def test_announce_unavailable_adds_one_tool_that_says_why(registry, end, table):
    async def scenario():
        await expose(registry, announce_unavailable=True, model_context=end.find)
        assert end.tools["surface_unavailable"]["annotations"]["readOnlyHint"] is True
        table.loaded = False
        table.registration.invalidate()
        await turn()
        assert SELECT not in end.tools
        wrong = await end.call("surface_unavailable", {"x": 1})
        return wrong, await end.call("surface_unavailable")

    wrong, envelope = run(scenario())
    assert error(wrong)["code"] == "INVALID_INPUT"
    assert envelope["structuredContent"] == {
        "unavailable": [
            {"capabilityId": "view:devices.table.selectRows", "name": SELECT, "reason": "Rows are still loading"}
        ],
        "dropped": 0,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "meta"},
        {"exposed_to": "https://a.example"},
        {"expose": "devices"},
        {"tool_budget": None},
        {"scope": "x"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_wrong_option_is_a_definition_error(registry, options):
    with pytest.raises(SurfaceDefinitionError) as caught:
        WebMCPAdapter(registry, **options)
    assert caught.value.code == "INVALID_DEFINITION"


def test_two_adapters_of_one_registry_are_two_consumers(registry):
    one, other = WebMCPAdapter(registry), WebMCPAdapter(registry)
    assert one.consumer.kind == other.consumer.kind == "webmcp"
    assert one.consumer.id != other.consumer.id
    assert WebMCPAdapter(registry, consumer_id="mine").consumer.id == "mine"


# Calls


def test_a_call_that_never_waits_is_answered_at_once(adapter, end, table):
    async def scenario():
        await adapter.start()
        return end.begin(SELECT, {"ids": ["d1"]})

    assert run(scenario()) == '{"content":[{"type":"text","text":"null"}]}'
    assert table.selected == ["d1"]


@pytest.mark.parametrize("text", ["", "{", "undefined", '{"ids": [1,}', "[" * 100_000])
def test_text_that_is_no_json_is_invalid_input(adapter, end, table, text):
    async def scenario():
        await adapter.start()
        return await end.finish(end.listener.run(1, text))

    assert error(run(scenario()))["code"] == "INVALID_INPUT"


def test_a_call_carries_its_registration_and_the_version_of_the_last_refresh(
    adapter, end, table, registry, monkeypatch
):
    seen = {}
    invoke = registry.invoke

    async def spy(capability_id, input, **tokens):
        seen.update(tokens)
        return await invoke(capability_id, input, **tokens)

    async def scenario():
        await adapter.start()
        monkeypatch.setattr(registry, "invoke", spy)
        return await end.call(READ)

    run(scenario())
    assert seen["consumer"] is adapter.consumer
    assert seen["registration_id"] == table.registration.id
    assert seen["instance_id"] == "main"
    assert seen["surface_version"] == registry.version


def test_a_call_in_the_gap_before_the_refresh_hears_that_the_component_left(adapter, end, table):
    async def scenario():
        await adapter.start()
        table.registration.unregister()
        return await end.call(READ)

    assert error(run(scenario()))["code"] == "COMPONENT_UNMOUNTED"


def test_the_callers_signal_cancels_the_handler(adapter, end, table):
    async def scenario():
        table.gate = asyncio.Event()
        await adapter.start()
        call = end.begin(HOLD)
        await turn()
        end.listener.cancel(call)
        envelope = await end.finish(call)
        await turn()
        return envelope

    failure = error(run(scenario()))
    assert failure["code"] == "CANCELLED"
    assert failure["details"]["progress"] == {"done": 1, "total": 2, "note": "half"}
    assert table.log == ["start one", "cancelled one: the caller gave up"]


@pytest.mark.parametrize("how", ["stop", "unmount", "dispose"])
def test_a_call_in_flight_at_the_end_is_answered(adapter, end, table, registry, how):
    async def scenario():
        table.gate = asyncio.Event()
        await adapter.start()
        call = end.begin(HOLD)
        await turn()
        if how == "stop":
            await adapter.stop()
        elif how == "unmount":
            table.registration.unregister()
        else:
            registry.dispose()
        envelope = await end.finish(call)
        await adapter.stop()
        await turn()
        assert end.released == 1
        return envelope

    failure = error(run(scenario()))
    expected = {
        "stop": ("CANCELLED", "yes"),
        "unmount": ("COMPONENT_UNMOUNTED", "after-refresh"),
        "dispose": ("CANCELLED", "no"),
    }
    assert (failure["code"], failure["retry"]) == expected[how]


def test_a_handler_that_stops_its_own_adapter_is_answered(end):
    registry = Registry()
    lab = Component("lab.self", description="Stops itself")

    @lab.action("Stop", effect="local-state")
    async def stop() -> str:
        await adapter.stop()
        return "stopped"

    adapter = WebMCPAdapter(registry, model_context=end.find)
    registry.register(lab)

    async def scenario():
        await adapter.start()
        call = end.begin("view_lab__self__stop")
        await turn()
        assert end.released == 1
        return await end.finish(call)

    assert run(scenario())["content"][0]["text"] == '"stopped"'


def test_big_integers_keep_every_digit(end):
    registry = Registry()
    lab = Component("lab.numbers", description="Numbers")

    @lab.action("Add one", effect="local-state")
    def bump(n: int) -> int:
        return n + 1

    registry.register(lab)

    async def scenario():
        await expose(registry, model_context=end.find)
        return await end.call("view_lab__numbers__bump", '{"n": 9007199254740993}')

    assert run(scenario())["content"][0]["text"] == "9007199254740994"
