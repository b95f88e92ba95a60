"""What is accepted and what handlers get: SCHEMA-8, SCHEMA-9, SCHEMA-11 and INPUT-3a."""

from __future__ import annotations

import copy
import enum
import json
import logging
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from surface.contract.schema import Issue, Schema


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    NUMBER = 1
    TEXT = "1"
    FLAG = False


class Engine(BaseModel):
    """Its pattern is matched by pydantic's own engine, as its author never asked for another."""

    code: str = Field(pattern="^[a-z]$")


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    owner: Cat | None = None


class Parking(BaseModel):
    wheels: int


def paths(schema: Schema, value: Any) -> list[str]:
    return [issue.path for issue in schema.parse(value).issues]


@pytest.mark.parametrize(
    ("tp", "value", "expected"),
    [
        (int, 1.0, 1),
        (int, -0.0, 0),
        (int, 1e16, 10**16),
        (int, 10**30, 10**30),
        (float, 1, 1.0),
        (Level, 2.0, Level.HIGH),
        (Mixed, 1.0, Mixed.NUMBER),
        (Mixed, "1", Mixed.TEXT),
        (Mixed, False, Mixed.FLAG),
        (Literal[1, "a"], 1.0, 1),
        (set[int], [1, 2.0], {1, 2}),
        (date, "2024-02-29", date(2024, 2, 29)),
        (datetime, "2024-05-01T12:00:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        (datetime, "2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        (UUID, "123E4567-E89B-12D3-A456-426614174000", UUID("123e4567e89b12d3a456426614174000")),
        (Decimal, "1.50", Decimal("1.50")),
        (Decimal, 1.5, Decimal("1.5")),
        (Annotated[str, Field(pattern="b")], "abc", "abc"),
        (Annotated[str, Field(pattern="^a$")], "a\n", "a\n"),
        (Annotated[str, Field(pattern="^(?!x)")], "abc", "abc"),
        (Engine, {"code": "a\n"}, Engine.model_construct(code="a\n")),
        (list[Engine], [{"code": "a\n"}], [Engine.model_construct(code="a\n")]),
        (Annotated[float, Field(multiple_of=0.1)], 0.3, 0.3),
        (Annotated[str, Field(min_length=1, max_length=1)], "😀", "😀"),
        (int | None, None, None),
        (Cat | Parking, {"wheels": 4.0}, Parking(wheels=4)),
    ],
)
def test_schema_8_what_the_document_accepts_becomes_the_authors_type(tp: Any, value: Any, expected: Any) -> None:
    parsed = Schema.of(tp).parse(value)
    assert parsed.issues == ()
    assert parsed.value == expected
    assert type(parsed.value) is type(expected)
    assert Schema.of(tp).parse(value, json.dumps(value)).value == expected


@pytest.mark.parametrize(
    ("tp", "value"),
    [
        (int, True),
        (int, "1"),
        (int, 1.5),
        (int, None),
        (float, "1"),
        (float, True),
        (bool, 1),
        (bool, "true"),
        (str, 1),
        (str, None),
        (Level, True),
        (Level, "1"),
        (Mixed, True),
        (Mixed, 0),
        (Literal[1], True),
        (Literal[True], 1),
        (Literal["1"], 1),
        (set[int], [1, 1.0]),
        (set[str], ["a", "a"]),
        (frozenset[Level], [1, 1]),
        (list[int], {"0": 1}),
        (list[int], "12"),
        (dict[str, int], [["a", 1]]),
        (datetime, "2024-05-01T12:00:00"),
        (datetime, "1700000000"),
        (datetime, 1700000000),
        (date, "2024-05-01T00:00:00"),
        (UUID, "123e4567e89b12d3a456426614174000"),
        (Decimal, "nan"),
        (Decimal, " 1"),
        (Annotated[float, Field(multiple_of=0.1)], 0.30000000000000004),
        (Annotated[float, Field(le=9007199254740992)], 9007199254740993),
        (Annotated[str, Field(max_length=1)], "é́"),
        (Annotated[str, StringConstraints(strip_whitespace=True, max_length=1)], " a "),
        (Annotated[str, StringConstraints(to_lower=True, pattern="^a$")], "A"),
        (Annotated[int, BeforeValidator(int)], "1"),
        (Cat, {"kind": "dog"}),
    ],
)
def test_schema_8_nothing_is_coerced_and_nothing_slips_through(tp: Any, value: Any) -> None:
    assert Schema.of(tp).parse(value).issues
    assert Schema.of(list[tp]).parse([value]).issues[0].path.startswith("[0]")


def test_schema_8_lenient_models_of_the_author_change_nothing() -> None:
    class Lenient(BaseModel):
        model_config = ConfigDict(strict=False, coerce_numbers_to_str=True, extra="ignore")
        name: str
        count: int = Field(default=0, strict=False)

    assert paths(Schema.of(Lenient), {"name": 1, "count": "1", "other": 1}) == ["name", "count", "other"]


def test_schema_8_explicit_null_is_present_and_key_order_is_nothing() -> None:
    class Maybe(BaseModel):
        a: int | None = 3
        b: int = 4

    schema = Schema.of(Maybe)
    assert schema.parse({"b": 1, "a": None}).value == Maybe(a=None, b=1)
    assert schema.parse({"b": 1}).value == Maybe(a=3, b=1)
    assert paths(schema, {"b": None}) == ["b"]
    raw = Schema.from_json_schema({"enum": [{"a": 1, "b": [True]}]})
    assert not raw.parse({"b": [True], "a": 1.0}).issues
    assert raw.parse({"b": [1], "a": 1}).issues


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


class Range(BaseModel):
    low: int = Field(alias="theLow")
    high: int
    evens: dict[str, list[Annotated[int, AfterValidator(even)] | str]] = {}

    @field_validator("high")
    @classmethod
    def small(cls, value: int) -> int:
        if value >= 100:
            raise ValueError("is too much")
        return value

    @model_validator(mode="after")
    def ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def test_schema_8_an_authors_validators_may_refuse_more() -> None:
    schema = Schema.of(Annotated[Range | Cat | None, Field()])
    assert schema.parse({"theLow": 1, "high": 2}).issues == ()
    assert schema.parse({"theLow": 1, "high": 200}).issues[0] == Issue("high", "is too much")


@pytest.mark.parametrize(
    ("tp", "value", "expected"),
    [
        (datetime | str, "1700000000", "1700000000"),
        (datetime | str, "2024-05-01T12:00:00", "2024-05-01T12:00:00"),
        (datetime | str, "2024-05-01T12:00:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        (UUID | str, "123e4567e89b12d3a456426614174000", "123e4567e89b12d3a456426614174000"),
        (set[int] | list[int], [1, 1], [1, 1]),
        (Literal[1] | bool, True, True),
        (list[datetime | str] | None, ["1"], ["1"]),
        (dict[str, date | int | str], {"0": "x", "1": 2.0}, {"0": "x", "1": 2}),
        (int | float, 1.5, 1.5),
        (float | int, 1, 1),
    ],
)
def test_schema_8_the_documents_choose_among_alternatives(tp: Any, value: Any, expected: Any) -> None:
    parsed = Schema.of(tp).parse(value)
    assert (parsed.value, parsed.issues) == (expected, ())
    assert type(parsed.value) is type(expected)


@pytest.mark.parametrize(
    ("value", "issue"),
    [
        ({"theLow": 3, "high": 2}, Issue("", "low is above high")),
        ({"theLow": 1, "high": 2, "evens": {"a": [2, "x", 3]}}, Issue("evens.a[2]", "must be even")),
    ],
)
def test_schema_11_validators_report_at_the_agents_path(value: Any, issue: Issue) -> None:
    assert issue in Schema.of(Range).parse(value).issues


def test_schema_8_a_validator_that_breaks_gives_an_issue_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    def broken(value: str) -> str:
        raise KeyError("secret")

    with caplog.at_level(logging.ERROR, "surface"):
        parsed = Schema.of(Annotated[str, AfterValidator(broken)]).parse("a")
    assert len(parsed.issues) == 1
    assert "secret" not in parsed.issues[0].message
    assert "secret" in caplog.text


class Address(BaseModel):
    zip_code: str = Field(alias="zipCode", min_length=5)


class Person(BaseModel):
    name: str
    addresses: list[Address] = []
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    age: int | Literal["unknown"] | None = None
    by_name: dict[str, Address] = Field(default={}, alias="byName")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], [("", "must be an object")]),
        ({}, [("name", "is required")]),
        ({"name": 1, "nmae": "x"}, [("name", "must be a string"), ("nmae", "is not a known property")]),
        ({"name": "a", "addresses": [{"zipCode": "12345"}, {}]}, [("addresses[1].zipCode", "is required")]),
        ({"name": "a", "addresses": [{"zipCode": "1"}]}, [("addresses[0].zipCode", "at least 5 characters")]),
        ({"name": "a", "addresses": {}}, [("addresses", "must be an array")]),
        ({"name": "a", "pet": {"kind": "dog", "lives": 1}}, [("pet.lives", "is not a known property")]),
        ({"name": "a", "pet": {"kind": "dog", "owner": {"lives": "9"}}}, [("pet.owner.lives", "must be an integer")]),
        ({"name": "a", "pet": {"kind": "bird"}}, [("pet.kind", 'must be "cat" or "dog"')]),
        ({"name": "a", "pet": {"kind": 3, "x": 1}}, [("pet.kind", 'must be "cat" or "dog"')]),
        ({"name": "a", "pet": 7}, [("pet", "must be an object or null")]),
        ({"name": "a", "age": "x"}, [("age", 'must be an integer or "unknown" or null')]),
        ({"name": "a", "byName": {"home address": {"zipCode": 1}}}, [("byName.home address.zipCode", "a string")]),
    ],
)
def test_schema_11_issues_are_at_their_own_path_without_union_tags(value: Any, expected: list[tuple[str, str]]) -> None:
    issues = Schema.of(Person).parse(value).issues
    assert {issue.path for issue in issues} == {path for path, _ in expected}, issues
    for path, words in expected:
        assert any(issue.path == path and words in issue.message for issue in issues), issues


def test_schema_11_issues_are_bounded_in_number_and_size() -> None:
    schema = Schema.of(list[Literal["a"]])
    assert len(schema.parse([1] * 1000).issues) == 32
    (issue,) = Schema.of(Cat).parse({"x" * 60_000: 1}).issues
    assert len(issue.path) <= 128
    assert issue.to_wire() == {"path": issue.path, "message": issue.message}


@pytest.mark.parametrize(
    ("tp", "value", "effective"),
    [
        (Cat, {}, {"kind": "cat", "lives": 9}),
        (list[Cat], [{"lives": 1}, {}], [{"lives": 1, "kind": "cat"}, {"kind": "cat", "lives": 9}]),
        (dict[str, Cat], {"a": {}}, {"a": {"kind": "cat", "lives": 9}}),
        (Dog, {"kind": "dog", "owner": {}}, {"kind": "dog", "owner": {"kind": "cat", "lives": 9}}),
        (Cat | Parking, {"wheels": 1}, {"wheels": 1}),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"lives": 1}, {"lives": 1, "kind": "cat"}),
        (int, 3, 3),
    ],
)
def test_input_3a_the_effective_input_has_every_published_default(tp: Any, value: Any, effective: Any) -> None:
    schema, before = Schema.of(tp), copy.deepcopy(value)
    assert schema.with_defaults(value) == effective
    assert schema.with_defaults(effective) == effective
    assert value == before
    assert schema.parse(value).value == schema.parse(effective).value
    assert schema.parse(value).issues == ()


def test_input_3a_defaults_are_never_shared_between_calls() -> None:
    class Lists(BaseModel):
        ids: list[str] = []

    schema = Schema.of(Lists)
    schema.with_defaults({})["ids"].append("x")
    schema.parse({}).value.ids.append("y")
    assert schema.with_defaults({}) == {"ids": []}
    assert schema.document["properties"]["ids"]["default"] == []
    assert schema.parse({}).value.ids == []


def test_schema_9_filling_a_value_that_does_not_fit_breaks_nothing() -> None:
    schema = Schema.of(Person)
    for value in (None, 3, [], {"addresses": 3, "pet": [], "byName": {"a": 1}}):
        schema.with_defaults(value)
        assert schema.parse(value).issues


def test_a_number_beyond_the_range_of_a_double_is_refused_where_it_would_become_infinite():
    assert Schema.of(float).parse(10**400).issues[0].message == "must be a number within the range of a double"
    assert Schema.of(float).parse(10**300).value == 1e300
    assert Schema.of(int).parse(10**400).value == 10**400
    assert Schema.of(int | float).parse(10**400).value == 10**400
