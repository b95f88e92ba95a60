"""Declaring: what a contract holds, and what a wrong declaration says."""

from __future__ import annotations

from typing import Any

import pytest
from devices import DevicesTable

from surface import Component, Concurrency, ReadContext, Schema, SurfaceDefinitionError, action, component, observation


def test_a_contract_is_readable_without_an_instance():
    contract = DevicesTable.contract
    assert (contract.type, contract.tags) == ("devices.table", ("devices",))
    assert [item.id for item in contract.capabilities] == [
        "view:devices.table.readState",
        "view:devices.table.selectRows",
        "view:devices.table.hold",
        "view:devices.table.poke",
        "view:devices.table.fail",
    ]
    read, select = contract.capabilities[:2]
    assert (read.kind, read.effect, read.idempotent, read.audit) == ("observation", "read", True, "none")
    assert (select.kind, select.effect, select.idempotent, select.reversible) == ("action", "local-state", True, True)


def test_the_signature_is_the_schema():
    select = DevicesTable.contract.capabilities[1]
    assert select.input.document == {
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "mode": {"type": "string", "enum": ["replace", "add", "remove"], "default": "replace"},
        },
        "required": ["ids"],
        "additionalProperties": False,
    }


def test_a_decorated_class_and_its_methods_stay_ordinary():
    table = DevicesTable()
    assert table.poke() == 2
    assert DevicesTable.poke(table) == 2


def test_contract_4_handlers_are_looked_up_at_call_time():
    table = DevicesTable()
    poke = DevicesTable.contract.capabilities[3]
    table.poke = lambda: 7
    assert poke.handler(table)() == 7


def test_a_subclass_inherits_and_can_add():
    @component("devices.big", description="A bigger table")
    class BigTable(DevicesTable):
        def poke(self) -> int:
            return 100

        @action("One more", effect="navigation")
        def leave(self) -> None: ...

    names = [item.name for item in BigTable.contract.capabilities]
    assert names == ["readState", "selectRows", "hold", "poke", "fail", "leave"]
    assert BigTable.contract.capabilities[3].handler(BigTable())() == 100
    assert DevicesTable.contract.type == "devices.table"


def declare(kind: str = "action", **options: Any) -> Component:
    made = Component("box", description="A box")
    decorate = made.action("Do it", effect="local-state", **options) if kind == "action" else None

    @(decorate or made.observation("Look", **options))
    def do_it() -> int:
        return 1

    return made


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ({"name": "Do It"}, "INVALID_ID", "camelCase"),
        ({"name": ""}, "INVALID_ID", "camelCase"),
        ({"colour": "red"}, "INVALID_DEFINITION", "'colour'"),
        ({"input": {"type": "object"}}, "INVALID_DEFINITION", "Schema"),
        ({"timeout": 0}, "INVALID_DEFINITION", "timeout"),
        ({"timeout": True}, "INVALID_DEFINITION", "timeout"),
        ({"confirmation": "maybe"}, "INVALID_DEFINITION", "confirmation"),
        ({"confirmation_ttl": -1}, "INVALID_DEFINITION", "confirmation_ttl"),
        ({"audit": "loud"}, "INVALID_DEFINITION", "audit"),
        ({"concurrency": "instance"}, "INVALID_DEFINITION", "Concurrency"),
        ({"concurrency": Concurrency.parallel(max=0)}, "INVALID_DEFINITION", "max"),
        ({"concurrency": Concurrency.key("")}, "INVALID_DEFINITION", "key"),
        ({"concurrency": Concurrency.instance(queue_depth=-1)}, "INVALID_DEFINITION", "queue_depth"),
        ({"meta": {"a": object()}}, "INVALID_DEFINITION", "meta"),
        ({"meta": [1]}, "INVALID_DEFINITION", "meta"),
        ({"when": "loaded"}, "INVALID_DEFINITION", "when"),
        ({"precondition": 5}, "INVALID_DEFINITION", "precondition"),
        ({"title": 5}, "INVALID_DEFINITION", "title"),
        ({"idempotent": "yes"}, "INVALID_DEFINITION", "idempotent"),
    ],
)
def test_a_wrong_option_is_refused_with_its_name_and_place(options, code, says):
    with pytest.raises(SurfaceDefinitionError) as error:
        declare(**options)
    assert error.value.code == code
    assert says in error.value.message
    assert error.value.path.startswith("box.")


def test_contract_6_when_may_not_be_async():
    async def when() -> bool:
        return True

    with pytest.raises(SurfaceDefinitionError, match="not async"):
        declare(when=when)


def test_an_observation_has_no_action_options():
    with pytest.raises(SurfaceDefinitionError, match="'idempotent'"):
        declare("observation", idempotent=True)


@pytest.mark.parametrize("description", ["", "  ", None])
def test_a_blank_description_is_refused(description):
    with pytest.raises(SurfaceDefinitionError, match="blank"):
        Component("box", description=description)
    with pytest.raises(SurfaceDefinitionError, match="blank"):
        Component("box", description="x").action(description, effect="local-state", name="do")(lambda: None)


@pytest.mark.parametrize(
    ("effect", "code"),
    [("destructive", "PLANE_VIOLATION"), ("server-query", "PLANE_VIOLATION"), ("magic", "INVALID_DEFINITION")],
)
def test_an_action_has_an_effect_of_the_view(effect, code):
    with pytest.raises(SurfaceDefinitionError) as error:
        Component("box", description="x").action("Do", effect=effect, name="do")(lambda: None)
    assert error.value.code == code


def test_two_capabilities_of_one_name_are_refused():
    made = declare()
    with pytest.raises(SurfaceDefinitionError) as error:
        made.action("Again", effect="local-state", name="doIt")(lambda: None)
    assert error.value.code == "DUPLICATE_CAPABILITY"


@pytest.mark.parametrize("type", ["Devices", "devices..table", "", "1a", "a_b", "x" * 129])
def test_id_2_a_component_type_out_of_shape_is_refused(type):
    with pytest.raises(SurfaceDefinitionError) as error:
        Component(type, description="x")
    assert error.value.code == "INVALID_ID"


def test_a_missing_annotation_names_parameter_and_place():
    with pytest.raises(SurfaceDefinitionError) as error:

        @component("box", description="A box")
        class Box:
            @action("Open", effect="local-state")
            def open_it(self, how, *, hard: bool = False) -> None: ...

    assert error.value.code == "INVALID_DEFINITION"
    assert "how" in str(error.value)
    assert "box.openIt" in str(error.value)


def test_an_observation_needs_an_output():
    with pytest.raises(SurfaceDefinitionError, match="return annotation"):

        @component("box", description="A box")
        class Box:
            @observation("Look")
            def look(self): ...


def test_a_raw_schema_is_handed_over_as_one_value():
    made = Component("box", description="A box")
    got = []

    @made.action("Open", effect="local-state", input=Schema.from_json_schema({"type": "object"}))
    def open_it(value, *, ctx: ReadContext) -> None:
        got.append(value)

    (capability,) = made.capabilities
    args, kwargs = capability.signature.bind({"a": 1})
    assert (args, kwargs, capability.signature.context_parameter) == (({"a": 1},), {}, "ctx")


def test_a_decorator_without_parentheses_says_how_it_is_written():
    made = Component("box", description="A box")
    for decorate in (made.observation, made.action, action, observation):
        with pytest.raises(SurfaceDefinitionError, match="with parentheses"):

            @decorate
            def look() -> int:
                return 1


def test_an_action_without_effect_says_what_there_is():
    with pytest.raises(SurfaceDefinitionError, match="local-state or navigation"):
        Component("box", description="x").action("Do", name="do")(lambda: None)
