"""SCHEMA-8: the published document and validation accept the same values, over generated types and values.

The judge is jsonschema, which the typed path does not use, with the formats of SCHEMA-10 and numbers read as the
decimal text they are written in.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypeAliasType, TypedDict

from surface.contract.formats import FORMATS
from surface.contract.schema import Schema

QUICK = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def multiple_of(_validator: Any, unit: Any, value: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        exact = Fraction(Decimal(repr(value))) / Fraction(Decimal(repr(unit)))
        if exact.denominator != 1:
            yield jsonschema.ValidationError(f"{value} is no multiple of {unit}")


Judge = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"multipleOf": multiple_of})
formats = jsonschema.FormatChecker(formats=())
for name, known in FORMATS.items():
    formats.checks(name)(lambda value, known=known: not isinstance(value, str) or known.accepts(value))


def judged(document: dict[str, Any], value: Any) -> bool:
    return bool(Judge(document, format_checker=formats).is_valid(value))


# -- types ------------------------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    ONE = 1
    HALF = 0.5
    TEXT = "1"
    NOTHING = None


class Node(BaseModel):
    value: int = 0
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    owner: Cat | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class OpenIntegers(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    name: str = Field(alias="theName", default="x")


class Tree(BaseModel):
    left: Tree | int | datetime | str | None = None
    more: dict[str, Tree | list[Tree]] = {}


Json = TypeAliasType("Json", "list[Json] | dict[str, Json] | int | str | None")


class Coded(BaseModel):
    code: str = Field(pattern="^a+$")


@dataclasses.dataclass
class Point:
    x: float
    label: str | None = None
    tags: list[str] = dataclasses.field(default_factory=list)


class Partial(TypedDict, total=False):
    number: int
    more: list[Point]


PATTERNS = ["^a$", "b$", r"\d", "^(a|b)*$", "[^ -~]", "^(?!x)", "é"]
SIZES = st.integers(0, 3)


@st.composite
def texts(draw: st.DrawFn) -> Any:
    low = draw(st.none() | SIZES)
    high = draw(st.none() | st.integers(low or 0, 5))
    return Annotated[str, Field(min_length=low, max_length=high, pattern=draw(st.none() | st.sampled_from(PATTERNS)))]


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from([int, float]))
    bound = st.none() | (st.integers(-3, 3) if kind is int else st.sampled_from([-1.5, 0, 0.1, 2]))
    unit = draw(st.none() | (st.sampled_from([1, 2, 3]) if kind is int else st.sampled_from([0.1, 0.5, 2])))
    side, bounds = draw(st.booleans()), (draw(bound), draw(bound))
    limits = {"gt": bounds[0], "lt": bounds[1]} if side else {"ge": bounds[0], "le": bounds[1]}
    return Annotated[kind, Field(multiple_of=unit, **limits)]


FIXED: list[Any] = [
    bool,
    None,
    datetime,
    date,
    UUID,
    Decimal,
    Any,
    Colour,
    Level,
    Mixed,
    Literal["a", "b"],
    Literal[1, "1", None],
    Literal[True, 2],
    set[int],
    set[str],
    frozenset[Colour],
    Node,
    Open,
    OpenIntegers,
    Tree,
    list[Tree | Open],
    Json,
    Coded,
    Point,
    Partial,
    Annotated[Cat | Dog, Field(discriminator="kind")],
    Cat | Point | None,
    int | str,
    float | bool,
    dict,
]
scalars = st.sampled_from(FIXED) | texts() | numbers()


@st.composite
def models(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    fields: dict[str, Any] = {}
    for index in range(draw(st.integers(0, 3))):
        tp = draw(inner)
        optional = draw(st.booleans())
        alias = draw(st.none() | st.just(f"camelCase{index}"))
        fields[f"f{index}"] = (
            (tp | None if optional else tp) if tp is not None else None,
            Field(default=None, alias=alias) if optional or tp is None else Field(alias=alias),
        )
    return create_model(
        "Made",
        __config__=ConfigDict(extra=draw(st.sampled_from(["ignore", "forbid"])), regex_engine="python-re"),
        **fields,
    )


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    @st.composite
    def listed(draw: st.DrawFn) -> Any:
        low = draw(st.none() | SIZES)
        return Annotated[list[draw(inner)], Field(min_length=low)]  # type: ignore[misc]

    @st.composite
    def others(draw: st.DrawFn) -> Any:
        tp = draw(inner)
        return draw(st.sampled_from([tuple[tp, ...], dict[str, tp], list[tp] | None, tp | list[tp] if tp else list]))

    return listed() | others() | models(inner)


types = st.recursive(scalars, containers, max_leaves=4)

# -- values -----------------------------------------------------------------------------------------------------------

TEXTS = [
    "",
    "a",
    "a\n",
    "ab",
    "b\n",
    "é",
    "１",
    "x",
    "1",
    "1.5",
    "red",
    "cat",
    "dog",
    "true",
    "nan",
    "2024-02-29",
    "2023-02-29",
    "0000-01-01",
    "2024-05-01T12:00:00Z",
    "2024-05-01t12:00:00.123456789+02:30",
    "2024-05-01T12:00:00",
    "2016-12-31T23:59:60Z",
    "1700000000",
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567E89B12D3A456426614174000",
    "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
]
atoms = (
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.sampled_from([1.0, 2.0, 0.5, 0.3, -0.0, 1e16, 2**53 + 1, 10**20, 0.1 + 0.2, 1.1])
    | st.sampled_from(TEXTS)
)
anything = st.recursive(
    atoms,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx"), inner, max_size=2),
    max_leaves=5,
)


@st.composite
def values(draw: st.DrawFn, document: dict[str, Any], root: dict[str, Any], depth: int = 0) -> Any:
    """Mostly what the document asks for, sometimes something else."""
    if depth > 5 or draw(st.integers(0, 11)) == 0:
        return draw(anything)
    if "$ref" in document:
        return draw(values(root["$defs"][document["$ref"].removeprefix("#/$defs/")], root, depth + 1))
    if "anyOf" in document:
        return draw(values(draw(st.sampled_from(document["anyOf"])), root, depth + 1))
    if "enum" in document or "const" in document:
        return draw(st.sampled_from(document.get("enum") or [document["const"]]) | atoms)
    kind = document.get("type")
    if kind == "object":
        return draw(objects(document, root, depth))
    if kind == "array":
        return draw(st.lists(values(document.get("items", {}), root, depth + 1), max_size=3))
    if kind == "string":
        return draw(st.sampled_from(TEXTS) | st.text("ab1é\n", max_size=4))
    if kind in ("integer", "number"):
        return draw(st.integers(-4, 4) | st.sampled_from([1.0, 2.0, 0.5, 0.3, 1.1, 1e16, 2**53 + 1]))
    return draw(st.booleans() | st.none() if kind in ("boolean", "null") else anything)


@st.composite
def objects(draw: st.DrawFn, document: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    made = {}
    for name, child in document.get("properties", {}).items():
        if draw(st.integers(0, 7)) or (name in document.get("required", ()) and draw(st.booleans())):
            made[name] = draw(values(child, root, depth + 1))
    if draw(st.integers(0, 3)) == 0:
        additional = document.get("additionalProperties", True)
        extra = values(additional, root, depth + 1) if isinstance(additional, dict) else anything
        made[draw(st.sampled_from(["extra", "f0", "name", "kind"]))] = draw(extra)
    return made


# -- properties -------------------------------------------------------------------------------------------------------


@QUICK
@given(st.data())
def test_schema_8_document_and_validation_accept_the_same_values(data: st.DataObject) -> None:
    schema = Schema.of(data.draw(types, label="type"))
    for _ in range(6):
        value = data.draw(values(schema.document, schema.document), label="value")
        before = json.dumps(value)
        parsed = schema.parse(value)
        assert (not parsed.issues) == judged(schema.document, value), (schema.document, value, parsed)
        assert json.dumps(value) == before


@QUICK
@given(st.data())
def test_out_2_what_was_accepted_is_dumped_as_the_output_document_says(data: st.DataObject) -> None:
    schema = Schema.of(data.draw(types, label="type"))
    value = data.draw(values(schema.document, schema.document), label="value")
    parsed = schema.parse(value)
    if parsed.issues:
        assert schema.dump(value).issues
        return
    from_json, from_instance = schema.dump(value), schema.dump(parsed.value)
    assert not from_json.issues, (schema.output_document, value, from_json)
    assert judged(schema.output_document, from_json.value)
    assert not from_instance.issues, (schema.output_document, value, from_instance)
    assert judged(schema.output_document, from_instance.value)


@QUICK
@given(st.data())
def test_input_3a_the_effective_input_is_accepted_and_complete(data: st.DataObject) -> None:
    schema = Schema.of(data.draw(types, label="type"))
    value = data.draw(values(schema.document, schema.document), label="value")
    if schema.parse(value).issues:
        return
    effective = schema.with_defaults(value)
    assert not schema.parse(effective).issues, (schema.document, value, effective)
    assert schema.with_defaults(effective) == effective
    assert json.dumps(schema.dump(schema.parse(value).value).value) == json.dumps(
        schema.dump(schema.parse(effective).value).value
    )


RAW: list[dict[str, Any]] = [
    {"type": ["string", "null", "integer"], "minLength": 2},
    {"enum": [1, "a", None, [1, {"a": 1.0}], True]},
    {"const": {"a": [1, 2]}},
    {"type": "array", "items": {"multipleOf": 0.1}, "uniqueItems": True},
    {"type": "array", "uniqueItems": True, "minItems": 1, "maxItems": 3},
    {"properties": {"a": {"type": "number", "exclusiveMinimum": 0, "maximum": 2}}, "required": ["b"]},
    {"type": "object", "additionalProperties": {"type": "string", "pattern": "a$"}},
    {
        "$ref": "#/$defs/node",
        "required": ["a"],
        "$defs": {"node": {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "integer"}}}},
    },
    {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string", "format": "date"}, {"type": "integer", "minimum": 1}]}},
        "additionalProperties": False,
        "anyOf": [{"required": ["a"]}, {"required": []}],
    },
    {"type": "string", "format": "date-time"},
]


@pytest.mark.parametrize("document", RAW, ids=lambda document: json.dumps(document)[:40])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_schema_8_raw_documents_accept_what_they_say(document: dict[str, Any], data: st.DataObject) -> None:
    value = data.draw(values(document, document) | anything)
    schema = Schema.from_json_schema(document)
    assert (not schema.parse(value).issues) == judged(document, value)
