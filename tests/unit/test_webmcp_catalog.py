"""What an adapter shows, and by what two catalogs differ: pure functions over snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest
from devices import DevicesTable

from surface import Consumer, Presentation, Registry, Replacement, Selection, SurfaceDefinitionError, project
from webmcp.catalog import curated, difference, dropped_by_budget, same, without_names

ME = Consumer("webmcp", "test")
READ = "view:devices.table.readState"
SELECT = "view:devices.table.selectRows"


@pytest.fixture
def table(registry):
    return registry.register(DevicesTable(), instance_id="main")


def tools_of(registry, presentation=None):
    return project(registry.snapshot(consumer=ME), presentation or Presentation(), two_phase=True).tools


def shown(tools):
    return {tool.name: tool for tool in tools}


def test_an_unchanged_surface_makes_no_difference(registry, table):
    before = shown(tools_of(registry))
    table.invalidate()
    changes = difference(before, tools_of(registry))
    assert changes.remove == ()
    assert changes.add == ()


def test_the_first_pass_adds_everything_in_the_order_of_the_snapshot(registry, table):
    tools = tools_of(registry)
    assert difference({}, tools).add == tools


def test_a_new_registration_counts_as_changed_though_the_definition_is_equal(registry, table):
    before = shown(tools_of(registry))
    table.unregister()
    registry.register(DevicesTable(), instance_id="main")
    changes = difference(before, tools_of(registry))
    assert set(changes.remove) == before.keys()
    assert [tool.name for tool in changes.add] == list(before)


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Other"},
        {"description": "[view · read] Other"},
        {"input_schema": {"type": "object", "additionalProperties": False, "properties": {"n": {"type": "integer"}}}},
        {"annotations": {"readOnlyHint": False}},
        {"registration_id": "reg_other0000000"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_only_a_tool_whose_definition_or_registration_moved_is_touched(registry, table, change):
    tools = tools_of(registry)
    changed = replace(tools[0], **change)
    changes = difference(shown(tools), (changed, *tools[1:]))
    assert changes.remove == (tools[0].name,)
    assert changes.add == (changed,)


def test_state_of_the_moment_is_no_part_of_a_definition(registry, table):
    tool = tools_of(registry)[0]
    assert same(tool, replace(tool, available=False, unavailable_reason="Busy"))


def test_300_tools_of_which_one_changes_are_one_removal_and_one_addition(registry):
    for number in range(60):
        registry.register(DevicesTable(), instance_id=f"t{number}")
    tools = tools_of(registry)
    assert len(tools) == 300
    changed = [replace(tool, title="New") if tool is tools[150] else tool for tool in tools]
    changes = difference(shown(tools), changed)
    assert len(changes.remove) == len(changes.add) == 1


def test_expose_leaves_out_and_replaces_the_authored_texts_only(registry, table):
    def expose(item):
        if item.capability_id == READ:
            return {"name": "look", "title": "Look", "description": "What is there"}
        return item.capability_id == SELECT

    presentation = curated(registry.snapshot(consumer=ME), Presentation(), expose, strict=True)
    first, second = tools_of(registry, presentation)
    assert (first.name, first.title, first.description) == ("look", "Look", "[view · read] What is there")
    assert second.capability_id == SELECT


def test_an_expose_that_fails_hides_the_capability(registry, table, caplog):
    def expose(item):
        if item.capability_id == READ:
            raise LookupError("no such permission")

    presentation = curated(registry.snapshot(consumer=ME), Presentation(), expose, strict=True)
    assert READ not in {tool.capability_id for tool in tools_of(registry, presentation)}
    assert READ in caplog.text


@pytest.mark.parametrize("answer", ["yes", 1, {"schema": "x"}, {"name": ""}, {"title": 3}], ids=repr)
def test_an_answer_of_expose_that_means_nothing_is_a_definition_error(registry, table, answer):
    snapshot = registry.snapshot(consumer=ME)
    with pytest.raises(SurfaceDefinitionError) as caught:
        curated(snapshot, Presentation(), lambda item: answer, strict=True)
    assert caught.value.code == "INVALID_DEFINITION"
    lenient = curated(snapshot, Presentation(), lambda item: answer, strict=False)
    assert tools_of(registry, lenient) == ()


def test_expose_is_not_asked_about_what_the_selection_leaves_out(registry, table):
    asked = []
    presentation = Presentation(Selection(include=(READ,)))
    curated(registry.snapshot(consumer=ME), presentation, lambda item: asked.append(item.capability_id), strict=True)
    assert asked == [READ]


def test_names_given_up_leave_titles_and_descriptions():
    presentation = Presentation(Selection(replace={READ: Replacement("look", "Look", "What is there")}))
    assert without_names(presentation).selection.replace[READ] == Replacement(None, "Look", "What is there")


def test_what_a_budget_leaves_out_is_named():
    registry = Registry()
    registry.register(DevicesTable(), instance_id="kept", priority=1)
    registry.register(DevicesTable(), instance_id="dropped")
    everything = registry.snapshot(consumer=ME)
    assert dropped_by_budget(everything, everything) == []
    assert len(dropped_by_budget(everything, registry.snapshot(consumer=ME, budget={"max_components": 1}))) == 5
