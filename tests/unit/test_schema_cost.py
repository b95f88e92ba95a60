"""What an agent sends costs no more than its size (SCHEMA-8, SCHEMA-11): work is counted in calls, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from surface.contract.schema import Schema


class And(BaseModel):
    op: Literal["and"]
    items: list[Filter]


class Or(BaseModel):
    op: Literal["or"]
    items: list[Filter]


class Leaf(BaseModel):
    op: Literal["is"]
    value: str
    note: str = "none"


Filter = Annotated[And | Or | Leaf, Field(discriminator="op")]


class Red(BaseModel):
    kind: Literal["red"]
    child: Red | Blue | None = None


class Blue(BaseModel):
    kind: Literal["blue"]
    child: Red | Blue | None = None


class Left(BaseModel):
    size: int = 1
    child: Left | Right | None = None


class Right(BaseModel):
    size: int = 2
    child: Left | Right | None = None


for _model in (And, Or, Red, Blue, Left, Right):
    _model.model_rebuild()


class Row(TypedDict):
    a: int
    b: int
    c: int


def raw_filter() -> Schema:
    def form(op: str) -> dict[str, Any]:
        properties = {"child": {"$ref": "#/$defs/F"}, "op": {"const": op}}
        return {"type": "object", "properties": properties, "required": ["op"]}

    forms = {"A": form("a"), "B": form("b"), "F": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}}
    return Schema.from_json_schema({"type": "object", "properties": {"child": {"$ref": "#/$defs/F"}}, "$defs": forms})


def calls(work: Callable[[], object]) -> int:
    """How many Python functions ``work`` calls."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def nested(depth: int, shell: Callable[[Any], Any], inmost: Any) -> Any:
    value = inmost
    for _ in range(depth):
        value = shell(value)
    return value


CHAINS = {
    "discriminated": (Schema.of(Or), lambda v: {"op": "or", "items": [v]}, {"op": "is", "value": "x"}),
    "discriminated, wrong inside": (Schema.of(Or), lambda v: {"op": "or", "items": [v]}, {"op": "is", "value": 1}),
    "told apart by a tag": (Schema.of(Blue), lambda v: {"kind": "blue", "child": v}, {"kind": "blue"}),
    "told apart, wrong inside": (Schema.of(Blue), lambda v: {"kind": "blue", "child": v}, {"kind": "green"}),
    "not told apart": (Schema.of(Right), lambda v: {"child": v}, {}),
    "not told apart, to be spelled": (Schema.of(Right), lambda v: {"child": v}, {"size": 3.0}),
    "not told apart, wrong inside": (Schema.of(Right), lambda v: {"child": v}, {"size": "3"}),
    "raw": (raw_filter(), lambda v: {"op": "b", "child": v}, {"op": "b"}),
    "raw, wrong inside": (raw_filter(), lambda v: {"op": "b", "child": v}, {"op": "c"}),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_cost_of_nested_alternatives_does_not_multiply_with_each_level(name: str) -> None:
    schema, shell, inmost = CHAINS[name]
    short, long = nested(10, shell, inmost), nested(20, shell, inmost)
    fits = schema.parse(short).issues == ()
    assert fits is ("wrong" not in name)
    assert (schema.parse(long).issues == ()) is fits
    for work in (schema.parse, schema.with_defaults):
        assert calls(lambda: work(long)) <= 4.5 * calls(lambda: work(short))  # noqa: B023


@pytest.mark.parametrize(
    ("tp", "item"),
    [(list[int], True), (list[int] | list[str], True), (list[Row], {}), (list[Row] | list[int], {"x": 1})],
)
def test_problems_are_collected_no_further_than_they_are_told(tp: Any, item: Any) -> None:
    schema = Schema.of(tp)
    assert schema.parse([item] * 100).issues
    assert calls(lambda: schema.parse([item] * 5000)) <= calls(lambda: schema.parse([item] * 100)) + 10


@pytest.mark.parametrize("last", [{"a": -1}, {"a": 0}])
def test_unique_items_are_compared_in_one_pass(last: Any) -> None:
    schema = Schema.from_json_schema({"type": "array", "uniqueItems": True})

    def items(count: int) -> list[Any]:
        return [{"a": index} for index in range(count)] + [last]

    assert bool(schema.parse(items(200)).issues) is (last == {"a": 0})
    assert calls(lambda: schema.parse(items(400))) <= 2.5 * calls(lambda: schema.parse(items(200)))


def test_the_alternative_of_a_type_in_itself_is_the_first_that_fits() -> None:
    value = Schema.of(Right).parse({"child": {"child": {"size": 3.0}}}).value
    assert type(value.child) is Left
    assert type(value.child.child) is Left
    assert value.child.child.size == 3


def test_alternatives_used_twice_but_not_in_themselves_stay_with_the_validators_that_tell_them_apart() -> None:
    def even(self: Any) -> Any:
        assert self["n"] % 2 == 0
        return self

    class Even(TypedDict):
        n: int

    class Number(TypedDict):
        n: int

    even_or_any = Annotated[Even, AfterValidator(even)] | Number
    tp = TypedDict("Pair", {"a": even_or_any, "b": even_or_any, "c": Even, "d": Number})  # noqa: UP013
    assert Schema.of(tp).parse({name: {"n": 3} for name in "abcd"}).issues == ()
