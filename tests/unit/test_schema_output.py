"""What is delivered for what a handler returned: OUT-2 and OUT-3."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, computed_field, field_serializer, model_validator
from typing_extensions import TypedDict

from surface.contract.schema import Parsed, Schema
from surface.contract.schema_typed import TypedEngine
from surface.errors import SurfaceDefinitionError


class Colour(enum.Enum):
    RED = "red"


class Row(BaseModel):
    row_id: str = Field(alias="rowId")
    seen: datetime | None = None


class State(BaseModel):
    rows: list[Row] = Field(alias="visibleRows", default=[])
    colour: Colour = Colour.RED

    @computed_field
    def count(self) -> int:
        return len(self.rows)


@dataclasses.dataclass
class Point:
    x: float
    colour: Colour = Colour.RED


class Partial(TypedDict, total=False):
    at: datetime


NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tp", "value", "delivered"),
    [
        (State, {"visibleRows": [{"rowId": "a", "seen": "2024-05-01T12:00:00.000Z"}]},
         {"visibleRows": [{"rowId": "a", "seen": "2024-05-01T12:00:00Z"}], "colour": "red", "count": 1}),
        (State, State(visibleRows=[Row(rowId="a", seen=NOON)]),
         {"visibleRows": [{"rowId": "a", "seen": "2024-05-01T12:00:00Z"}], "colour": "red", "count": 1}),
        (list[Row], [Row(rowId="a"), Row(rowId="b")], [{"rowId": "a", "seen": None}, {"rowId": "b", "seen": None}]),
        (list[Row], (Row(rowId="a"),), [{"rowId": "a", "seen": None}]),
        (Point, Point(1), {"x": 1.0, "colour": "red"}),
        (Point, {"x": 1}, {"x": 1.0, "colour": "red"}),
        (Partial, {"at": NOON}, {"at": "2024-05-01T12:00:00Z"}),
        (Partial, {"at": "2024-05-01T12:00:00+00:00"}, {"at": "2024-05-01T12:00:00Z"}),
        (datetime, NOON, "2024-05-01T12:00:00Z"),
        (set[int], {3}, [3]),
        (Decimal, Decimal("1.50"), "1.50"),
        (Colour, Colour.RED, "red"),
        (int, 1.0, 1),
        (list[int], iter([1, 2]), [1, 2]),
        (str | None, None, None),
        (dict[str, Any], {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (Any, [1.5], [1.5]),
    ],
)  # fmt: skip
def test_out_2_json_and_instances_are_delivered_alike_by_alias(tp: Any, value: Any, delivered: Any) -> None:
    schema = Schema.of(tp)
    dumped = schema.dump(value)
    assert dumped.issues == ()
    assert dumped.value == delivered
    json.dumps(dumped.value, allow_nan=False)


@pytest.mark.parametrize(
    ("tp", "value", "path"),
    [
        (State, None, ""),
        (State, {"visibleRows": [{"rowId": "a", "seen": "yesterday"}]}, "visibleRows[0].seen"),
        (State, {"visibleRows": [{"rowId": 1}]}, "visibleRows[0].rowId"),
        (State, {"visibleRows": [], "extra": 1}, "extra"),
        (State, Row(rowId="a"), ""),
        (Row, Row(rowId="a", seen=datetime(2024, 5, 1)), "seen"),
        (Row, Row.model_construct(row_id=3), "row_id"),
        (list[Row], [Row(rowId="a"), Row.model_construct(row_id=3)], "[1].row_id"),
        (Point, Point("far"), "x"),  # type: ignore[arg-type]
        (int, "1", ""),
        (int, True, ""),
        (str, object(), ""),
        (str, b"bytes", ""),
        (float, math.nan, ""),
        (Any, math.inf, ""),
        (Any, {"a": [math.nan]}, ""),
        (Any, {1: 2}, None),
        (Any, "\ud800", ""),
        (Any, object(), ""),
    ],
)
def test_out_2_and_3_what_was_not_declared_or_is_no_json_gives_issues(tp: Any, value: Any, path: str | None) -> None:
    dumped = Schema.of(tp).dump(value)
    if path is None:
        assert json.dumps(dumped.value) == '{"1": 2}'
        return
    assert dumped.value is None
    assert [issue.path for issue in dumped.issues] == [path]


def test_out_2_a_type_that_is_only_returned_may_have_defaults_no_document_can_carry() -> None:
    class Opaque: ...

    class Stamped(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        at: datetime = Field(default_factory=lambda: NOON)
        opaque: Opaque = Field(default_factory=Opaque)
        pair: tuple[int, int] = (1, 2)
        by_number: dict[int, str] = {}
        secret: object = object()

        @field_serializer("pair", "secret", "opaque")
        def as_text(self, value: Any) -> str:
            return "text"

    schema = Schema.of(Stamped)
    schema.check(direction="output", max_bytes=16_384, max_depth=8, path="x", must_be_object=True)
    delivered = {
        "at": "2024-05-01T12:00:00Z",
        "pair": "text",
        "by_number": {"1": "a"},
        "secret": "text",
        "opaque": "text",
    }
    assert schema.dump({"by_number": {"1": "a"}}).value == delivered
    assert schema.dump(Stamped(by_number={1: "a"})).value == delivered
    assert [issue.path for issue in schema.dump({"at": "noon"}).issues] == ["at"]
    with pytest.raises(SurfaceDefinitionError):
        _ = schema.document


def test_out_2_a_cycle_gives_an_issue() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert Schema.of(Any).dump(cycle).issues
    assert Schema.of(list[Any]).dump(cycle).issues
    assert Schema.from_json_schema({"type": "array"}).dump(cycle).issues


def test_out_2_an_instance_is_looked_into_again_yet_never_copied() -> None:
    class Counted(BaseModel):
        model_config = ConfigDict(validate_assignment=False)
        limit: int
        _seen: int = PrivateAttr(default=0)

        @computed_field
        def seen(self) -> int:
            return self._seen

        @model_validator(mode="after")
        def bounded(self) -> Counted:
            if self.limit > 10:
                raise ValueError("is beyond the limit")
            return self

    schema, counted = Schema.of(list[Counted]), Counted(limit=1)
    counted._seen = 7
    assert schema.dump([counted]).value == [{"limit": 1, "seen": 7}]
    counted.limit = 11
    (issue,) = schema.dump([counted]).issues
    assert "beyond the limit" in issue.message
    counted.limit = "1"  # type: ignore[assignment]
    assert schema.dump([counted]).issues


def test_out_2_serialisers_decide_what_is_delivered_and_the_document_whether_it_may_be() -> None:
    class Stamped(BaseModel):
        at: datetime

        @field_serializer("at")
        def as_number(self, at: datetime) -> int:
            return int(at.timestamp())

    class Lying(Stamped):
        @field_serializer("at")
        def as_number(self, at: datetime) -> int:
            return "never"  # type: ignore[return-value]

    class Broken(Stamped):
        @field_serializer("at")
        def as_number(self, at: datetime) -> int:
            raise RuntimeError("secret")

    class Undefined(BaseModel):
        @computed_field
        def ratio(self) -> float:
            return math.nan

    assert Schema.of(Stamped).output_document["properties"]["at"] == {"type": "integer"}
    assert Schema.of(Stamped).dump(Stamped(at=NOON)).value == {"at": 1714564800}
    assert Schema.of(Stamped).dump({"at": "2024-05-01T12:00:00Z"}).value == {"at": 1714564800}
    assert [issue.path for issue in Schema.of(Lying).dump(Lying(at=NOON)).issues] == ["at"]
    (issue,) = Schema.of(Broken).dump(Broken(at=NOON)).issues
    assert "secret" not in issue.message
    assert Schema.of(Undefined).dump(Undefined()).issues
    assert Schema.of(Undefined).dump({}).issues


def test_out_2_a_raw_schema_delivers_json_as_it_is_and_models_by_alias() -> None:
    schema = Schema.from_json_schema(
        {"type": "object", "properties": {"rowId": {"type": "string"}, "n": {"default": 1}}, "required": ["rowId"]}
    )
    assert schema.dump({"rowId": "a"}).value == {"rowId": "a"}
    assert schema.dump(Row(rowId="a", seen=NOON)).value == {"rowId": "a", "seen": "2024-05-01T12:00:00Z"}
    assert [issue.path for issue in schema.dump({}).issues] == ["rowId"]
    assert [issue.path for issue in schema.dump(None).issues] == [""]
    assert [issue.path for issue in schema.dump({"rowId": {1}}).issues] == [""]


@pytest.mark.parametrize("tp", [Any, dict[str, Any], list[Any], dict[str, list[Any] | None]])
def test_json_of_json_types_is_delivered_without_pydantics_serialiser_however_deep_it_is(
    tp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema.of(tp)
    deep: Any = 0.5
    for _ in range(62):
        deep = [deep]
    value = deep if tp in (Any, list[Any]) else {"a": deep}
    monkeypatch.setattr(TypedEngine, "_serialised", None)
    assert schema.dump(value) == Parsed(value)


def test_keys_that_are_no_text_are_still_written_as_text():
    assert Schema.of(dict[int, Any]).dump({"1": []}) == Parsed({"1": []})
