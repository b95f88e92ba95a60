"""Documents of Python types: SCHEMA-1, SCHEMA-5, SCHEMA-5a, SCHEMA-7, SCHEMA-9 and INPUT-3a's default rule."""

from __future__ import annotations

import dataclasses
import enum
import ipaddress
import pathlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import (
    UUID4,
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    NaiveDatetime,
    SecretStr,
    Tag,
    computed_field,
)
from pydantic.types import Discriminator
from typing_extensions import TypedDict

from surface.contract.schema import EMPTY_OBJECT, Schema
from surface.errors import SurfaceDefinitionError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Row(BaseModel):
    """One device."""

    row_id: str = Field(alias="rowId", title="Row", description="Its id", min_length=1)
    colour: Colour = Colour.RED


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


@dataclasses.dataclass
class Point:
    x: float
    tags: list[str] = dataclasses.field(default_factory=list)


class Partial(TypedDict, total=False):
    number: int


def document(tp: Any) -> dict[str, Any]:
    return Schema.of(tp).document


def refusal(tp: Any) -> SurfaceDefinitionError:
    with pytest.raises(SurfaceDefinitionError) as caught:
        _ = Schema.of(tp).document
    return caught.value


def test_schema_1_the_empty_object_is_closed_and_says_nothing_else() -> None:
    assert EMPTY_OBJECT.document == {"type": "object", "properties": {}, "additionalProperties": False}
    assert EMPTY_OBJECT.parse({}) == ({}, ())
    assert [issue.path for issue in EMPTY_OBJECT.parse({"a": 1}).issues] == ["a"]


def test_schema_1_a_schema_of_a_schema_is_itself_and_cannot_be_changed() -> None:
    assert Schema.of(EMPTY_OBJECT) is EMPTY_OBJECT
    with pytest.raises(AttributeError):
        EMPTY_OBJECT.document = {}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("tp", "expected"),
    [
        (int, {"type": "integer"}),
        (None, {"type": "null"}),
        (Any, {}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Literal["a"], {"const": "a", "type": "string"}),
        (Literal[1, "a", None], {"enum": [1, "a", None]}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (UUID4, {"type": "string", "format": "uuid"}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (Annotated[float, Field(gt=0, multiple_of=0.5)], {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
        (Colour, {"enum": ["red", "blue"], "type": "string"}),
    ],
)
def test_schema_5_types_have_plain_documents_without_titles(tp: Any, expected: dict[str, Any]) -> None:
    assert document(tp) == expected


def test_schema_5_titles_go_and_descriptions_stay_in_the_agents_names() -> None:
    assert document(Row) == {
        "description": "One device.",
        "type": "object",
        "properties": {
            "rowId": {"type": "string", "description": "Its id", "minLength": 1},
            "colour": {"$ref": "#/$defs/Colour", "default": "red"},
        },
        "required": ["rowId"],
        "additionalProperties": False,
        "$defs": {"Colour": {"enum": ["red", "blue"], "type": "string"}},
    }


def test_schema_5_properties_named_like_keywords_keep_their_titles_to_themselves() -> None:
    class Odd(BaseModel):
        title: str
        read_only: bool = Field(alias="readOnly")
        properties: dict[str, int]

    assert list(document(Odd)["properties"]) == ["title", "readOnly", "properties"]


def test_schema_5_a_recursive_root_is_inlined_once() -> None:
    made = document(Node)
    assert made["type"] == "object"
    assert made["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert made["additionalProperties"] is made["$defs"]["Node"]["additionalProperties"] is False
    Schema.of(Node).check(direction="input", max_bytes=16_384, max_depth=8, path="x", must_be_object=True)


@pytest.mark.parametrize(
    "tp",
    [
        Annotated[Cat | Dog, Field(discriminator="kind")],
        Annotated[
            Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")],
            Discriminator(lambda value: value["kind"] if isinstance(value, dict) else value.kind),
        ],
    ],
)
def test_schema_5_discriminated_unions_become_any_of(tp: Any) -> None:
    made = document(tp)
    assert made["anyOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]
    assert set(made) == {"anyOf", "$defs"}
    assert Schema.of(tp).parse({"kind": "dog"}).value == Dog(kind="dog")


class Pair(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("tp", "keyword"),
    [
        (tuple[int, str], "prefixItems"),
        (Pair, "prefixItems"),
        (dict[int, str], "propertyNames"),
        (dict[Colour, str], "propertyNames"),
        (dict[UUID, str], "propertyNames"),
        (Counter[int], "propertyNames"),
        (dict[Annotated[str, Field(pattern="a")], int], "patternProperties"),
        (Annotated[dict[str, int], Field(min_length=1)], "minProperties"),
        (bytes, "format"),
        (time, "format"),
        (timedelta, "format"),
        (pathlib.Path, "format"),
        (ipaddress.IPv4Address, "format"),
        (SecretStr, "format"),
        (Json[int], "contentMediaType"),
        (NaiveDatetime, "format"),
        (complex, "type"),
        (Callable[[], int], "type"),
        (object(), "type"),
        (type("Arbitrary", (), {}), "type"),
        (Annotated[str, Field(pattern="(")], "pattern"),
        (Annotated[int, Field(json_schema_extra={"oneOf": [{}]})], "oneOf"),
    ],
)
def test_schema_5_what_the_subset_cannot_say_is_refused_by_keyword(tp: Any, keyword: str) -> None:
    error = refusal(tp)
    assert error.code == "UNSUPPORTED_SCHEMA"
    assert repr(keyword) in error.message


def test_schema_7_the_place_inside_the_document_is_named() -> None:
    class Inner(BaseModel):
        pair: tuple[int, int]

    class Outer(BaseModel):
        inner: list[Inner]
        keys: dict[int, int] = {}

    assert refusal(Outer).path == "#/properties/keys"
    assert refusal(list[Inner]).path == "#/$defs/Inner/properties/pair"


def test_schema_7_names_that_cannot_be_resolved_are_a_definition_error() -> None:
    class Later(BaseModel):
        other: Nowhere  # type: ignore[name-defined]  # noqa: F821

    error = refusal(Later)
    assert error.code == "INVALID_DEFINITION"
    assert "Nowhere" in error.message


@pytest.mark.parametrize("tp", [Row, Point, Partial, list[Row], dict[str, Point], Row | None])
def test_schema_5a_objects_are_closed_in_document_and_validation(tp: Any) -> None:
    def objects(schema: Any) -> list[dict[str, Any]]:
        found = [schema] if isinstance(schema, dict) and "properties" in schema else []
        children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        return found + [inner for child in children for inner in objects(child)]

    assert objects(document(tp))
    assert all(schema["additionalProperties"] is False for schema in objects(document(tp)))


@pytest.mark.parametrize(
    ("tp", "value", "path"),
    [
        (Row, {"rowId": "a", "color": "red"}, "color"),
        (list[Row], [{"rowId": "a"}, {"rowId": "a", "x": 1}], "[1].x"),
        (Point, {"x": 1.5, "y": 2}, "y"),
        (Partial, {"nubmer": 1}, "nubmer"),
        (dict[str, Partial], {"k": {"nubmer": 1}}, "k.nubmer"),
        (Node, {"value": 1, "children": [{"value": 1, "childs": []}]}, "children[0].childs"),
        (Row, {"rowId": "a", "row_id": "a"}, "row_id"),
    ],
)
def test_schema_5a_a_misspelt_field_is_an_issue_at_its_own_path(tp: Any, value: Any, path: str) -> None:
    (issue,) = Schema.of(tp).parse(value).issues
    assert issue.path == path
    assert "not a known property" in issue.message


def test_schema_5a_an_author_may_open_an_object() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    class Holder(BaseModel):
        open: Open

    schema = Schema.of(Holder)
    assert schema.document["$defs"]["Open"]["additionalProperties"] is True
    assert schema.parse({"open": {"a": 1, "b": 2}}).value.open.b == 2
    assert [issue.path for issue in schema.parse({"open": {"a": 1}, "b": 2}).issues] == ["b"]


def test_schema_5a_names_are_the_published_ones_whatever_pydantic_would_take() -> None:
    class Lenient(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        a: int = Field(alias="theA")
        b: int = Field(default=0, validation_alias=AliasChoices("first", "second"))

    schema = Schema.of(Lenient)
    assert list(schema.document["properties"]) == ["theA", "first"]
    assert schema.parse({"theA": 1, "first": 2}).value == Lenient(a=1, first=2)
    assert [issue.path for issue in schema.parse({"a": 1}).issues] == ["theA", "a"]
    assert [issue.path for issue in schema.parse({"theA": 1, "second": 2}).issues] == ["second"]


def test_schema_5a_an_alias_that_is_no_name_is_a_definition_error() -> None:
    class Reaching(BaseModel):
        a: int = Field(default=0, validation_alias=AliasPath("list", 0))

    assert refusal(Reaching).code == "INVALID_DEFINITION"


def test_schema_9_every_default_is_published_in_its_json_form() -> None:
    class Defaults(BaseModel):
        at: datetime = datetime(2024, 5, 1, 12, tzinfo=UTC)
        colour: Colour = Colour.BLUE
        row: Row = Row(rowId="a")
        numbers: set[int] = {2, 1}
        price: Decimal = Decimal("1.50")
        names: list[str] = Field(default_factory=list)
        members: dict[str, int] = Field(default_factory=dict)
        seen: set[str] = Field(default_factory=set)

    properties = document(Defaults)["properties"]
    assert {name: schema["default"] for name, schema in properties.items()} == {
        "at": "2024-05-01T12:00:00Z",
        "colour": "blue",
        "row": {"rowId": "a", "colour": "red"},
        "numbers": [1, 2],
        "price": "1.50",
        "names": [],
        "members": {},
        "seen": [],
    }


@pytest.mark.parametrize(
    "field",
    [
        Field(default_factory=lambda: [1]),
        Field(default_factory=lambda: Row(rowId="a")),
        Field(default_factory=lambda data: []),
        Field(default_factory=lambda: 1 / 0),
    ],
)
def test_input_3a_another_default_factory_is_a_definition_error(field: Any) -> None:
    class Made(BaseModel):
        value: Any = field

    class Holder(BaseModel):
        made: Made | None = None

    error = refusal(Holder)
    assert error.code == "INVALID_DEFINITION"
    assert error.path == "#/$defs/Made/properties/value"
    assert "default_factory" in error.message


@pytest.mark.parametrize("default", [None, 3, "red!", object()])
def test_input_3a_a_default_that_could_not_be_given_is_a_definition_error(default: Any) -> None:
    class Wrong(BaseModel):
        colour: Colour = default

    error = refusal(Wrong)
    assert (error.code, error.path) == ("INVALID_DEFINITION", "#/properties/colour")


def test_input_3a_a_default_without_end_is_a_definition_error() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n", "default": {}}}}
    with pytest.raises(SurfaceDefinitionError, match="without end") as caught:
        Schema.from_json_schema({"$ref": "#/$defs/n", "$defs": {"n": endless}})
    assert caught.value.code == "INVALID_DEFINITION"


def test_out_2_the_output_document_is_the_serialisation_mode() -> None:
    class State(BaseModel):
        price: Decimal = Field(alias="thePrice")

        @computed_field(description="Twice")
        def double(self) -> int:
            return int(self.price * 2)

    schema = Schema.of(State)
    assert set(schema.document["properties"]) == {"thePrice"}
    assert schema.output_document["properties"]["double"] == {"type": "integer", "description": "Twice"}
    assert schema.output_document["required"] == ["thePrice", "double"]


@pytest.mark.skipif(sys.platform == "emscripten", reason="no processes here")
def test_import_of_the_contract_room_needs_no_jsonschema_and_no_browser() -> None:
    code = (
        "import sys, surface.contract.schema, surface.contract.signature; "
        "surface.contract.schema.Schema.of(dict[str, int]).parse({'a': 1}); "
        "print([name for name in ('jsonschema', 'js', 'pyodide') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
