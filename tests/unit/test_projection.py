"""The one projector: names, marks, hints, selections."""

from __future__ import annotations

import pytest
from devices import DevicesTable

from surface import (
    Component,
    Presentation,
    Registry,
    Replacement,
    Selection,
    SurfaceDefinitionError,
    project,
)


@pytest.fixture
def registry(clock) -> Registry:
    registry = Registry(clock=clock)
    registry.register(DevicesTable(), instance_id="main")
    return registry


def shown(registry, presentation=None, two_phase=False):
    return project(registry.snapshot(), presentation or Presentation(), two_phase=two_phase)


def test_toolset_2_and_3_one_tool_per_capability_observations_first_with_its_mark(registry):
    projection = shown(registry)
    assert [tool.name for tool in projection.tools][:2] == [
        "view_devices__table__readState",
        "view_devices__table__selectRows",
    ]
    read, select = projection.tools[:2]
    assert read.description == "[view · read] Visible rows, selection and sorting"
    assert select.description == "[view · local-state] Replace, extend or reduce the row selection"
    assert projection.wire_names["view_devices__table__readState"] == "view:devices.table.readState"


def test_hints_say_what_a_tool_does(registry):
    read, select = shown(registry).tools[:2]
    assert read.annotations == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "consequentialHint": False,
        "untrustedContentHint": True,
    }
    assert (select.annotations["readOnlyHint"], select.annotations["untrustedContentHint"]) == (False, False)


def test_an_observation_takes_the_closed_empty_object(registry):
    assert shown(registry).tools[0].to_wire()["inputSchema"] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_wire_1_several_instances_are_told_apart(registry):
    registry.register(DevicesTable(), instance_id="side")
    names = [tool.name for tool in shown(registry).tools if "readState" in tool.name]
    assert names == ["view_devices__table__readState_at_main", "view_devices__table__readState_at_side"]


def test_toolset_4_two_phase_adds_the_reserved_property_where_a_tool_may_ask(registry):
    box = Component("box", description="A box")

    @box.action("Open", effect="local-state", confirmation="optional")
    def open_it(how: str) -> None: ...

    registry.register(box)
    tools = {tool.name: tool for tool in shown(registry, two_phase=True).tools}
    assert set(tools["view_box__openIt"].input_schema["properties"]) == {"how", "_confirmationId"}
    assert set(tools["view_devices__table__selectRows"].input_schema["properties"]) == {"ids", "mode"}
    single = {tool.name: tool for tool in shown(registry).tools}
    assert set(single["view_box__openIt"].input_schema["properties"]) == {"how"}


def test_a_selection_chooses_and_says_what_it_left_out(registry):
    selection = Selection(skip=["view:devices.table.poke"])
    projection = shown(registry, Presentation(selection))
    assert "view:devices.table.poke" in projection.omitted
    only = shown(registry, Presentation(Selection(include=["view:devices.table.readState"])))
    assert [tool.capability_id for tool in only.tools] == ["view:devices.table.readState"]
    assert shown(registry, Presentation(Selection(scope=["alerts"]))).tools == ()


def test_a_replacement_changes_texts_but_never_the_mark(registry):
    replace = {"view:devices.table.readState": Replacement(name="readTable", title="Table", description="Look here")}
    tool = shown(registry, Presentation(Selection(replace=replace))).tools[0]
    assert (tool.name, tool.title, tool.description) == ("readTable", "Table", "[view · read] Look here")


def test_a_replaced_name_must_be_unique(registry):
    replace = {"view:devices.table.readState": Replacement(name="view_devices__table__poke")}
    with pytest.raises(SurfaceDefinitionError, match="view_devices__table__poke"):
        shown(registry, Presentation(Selection(replace=replace)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Selection(scope="devices"),
        lambda: Presentation(mode="sideways"),
        lambda: Presentation(dialect="klingon"),
        lambda: Presentation(budget={"max": 3}),
        lambda: Presentation.of(Presentation(), scope=["devices"]),
    ],
)
def test_a_presentation_out_of_shape_is_refused(make):
    with pytest.raises(SurfaceDefinitionError):
        make()
