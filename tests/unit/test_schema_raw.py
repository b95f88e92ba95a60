"""Raw JSON Schema: jsonschema decides, defaults are filled, issues read as everywhere (SCHEMA-1, -8, -9, -11)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from surface.contract.schema import Schema
from surface.errors import SurfaceDefinitionError

FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "pattern": "^[a-z]*$"},
        "site": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "default": None},
        "page": {
            "type": "object",
            "properties": {"size": {"type": "integer", "default": 20}, "number": {"type": "integer", "default": 1}},
            "additionalProperties": False,
            "default": {"size": 50},
        },
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": True},
    },
    "required": ["query"],
    "additionalProperties": False,
    "$defs": {"tag": {"type": "object", "properties": {"name": {"type": "string"}, "weight": {"default": 1}}}},
}


def test_schema_9_missing_properties_take_their_default_at_every_depth() -> None:
    schema = Schema.from_json_schema(FILTER)
    value = {"query": "a", "tags": [{"name": "x"}, {"weight": 3}]}
    before = copy.deepcopy(value)
    filled = {
        "query": "a",
        "site": None,
        "page": {"size": 50, "number": 1},
        "tags": [{"name": "x", "weight": 1}, {"weight": 3}],
    }
    assert schema.parse(value).value == filled
    assert schema.with_defaults(value) == filled
    assert value == before
    assert schema.parse({"query": "a", "page": {}}).value["page"] == {"size": 20, "number": 1}


def test_schema_9_defaults_within_alternatives_are_left_alone() -> None:
    branch = {"type": "object", "properties": {"b": {"default": 1}}}
    schema = Schema.from_json_schema({"type": "object", "properties": {"a": {"anyOf": [branch]}}, "anyOf": [branch]})
    assert schema.parse({"a": {}}).value == {"a": {}}


def test_schema_9_a_required_property_stays_required_whatever_its_default() -> None:
    schema = Schema.from_json_schema({"type": "object", "properties": {"a": {"default": 1}}, "required": ["a"]})
    assert [issue.path for issue in schema.parse({}).issues] == ["a"]


def test_schema_9_a_default_behind_a_reference_counts() -> None:
    schema = Schema.from_json_schema(
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer", "default": 5}}}
    )
    assert schema.parse({}).value == {"a": 5}


def test_input_3a_a_raw_default_must_fit_too() -> None:
    with pytest.raises(SurfaceDefinitionError, match="does not fit its own schema") as caught:
        Schema.from_json_schema({"type": "object", "properties": {"a": {"type": "integer", "default": "1"}}})
    assert (caught.value.code, caught.value.path) == ("INVALID_DEFINITION", "#/properties/a")


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ({}, ["query"]),
        ({"query": "A"}, ["query"]),
        ({"query": "a", "qurey": "b"}, ["qurey"]),
        ({"query": "a", "page": {"sizes": 1, "size": "1"}}, ["page.sizes", "page.size"]),
        ({"query": "a", "site": ""}, ["site"]),
        ({"query": "a", "tags": [{"name": "x"}, {"name": 1}]}, ["tags[1].name"]),
        ({"query": "a", "tags": [{"name": "x"}, {"name": "x"}]}, ["tags"]),
        ([], [""]),
    ],
)
def test_schema_11_raw_issues_are_at_their_own_path(value: Any, paths: list[str]) -> None:
    assert [issue.path for issue in Schema.from_json_schema(FILTER).parse(value).issues] == paths


@pytest.mark.parametrize(
    ("document", "value", "fits"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, True, False),
        ({"type": "number"}, False, False),
        ({"enum": [1]}, True, False),
        ({"enum": [1]}, 1.0, True),
        ({"const": [True]}, [1], False),
        ({"uniqueItems": True}, [1, True], True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ({"multipleOf": 0.1}, 0.3, True),
        ({"multipleOf": 0.1}, 0.35, False),
        ({"multipleOf": 1e-8}, 12391239123, True),
        ({"multipleOf": 3}, 10**30, False),
        ({"pattern": "b"}, "abc", True),
        ({"pattern": "^a$"}, "a\n", True),
        ({"maxLength": 1}, "😀", True),
        ({"required": ["a"]}, {"a": None}, True),
        ({"required": ["a"]}, "text", True),
    ],
)
def test_schema_8_values_are_compared_as_json(document: dict[str, Any], value: Any, fits: bool) -> None:
    assert (not Schema.from_json_schema(document).parse(value).issues) is fits


def test_schema_8_the_value_handed_on_is_the_json_itself() -> None:
    schema = Schema.from_json_schema({"type": "object", "properties": {"at": {"type": "string", "format": "date"}}})
    assert schema.parse({"at": "2024-05-01"}).value == {"at": "2024-05-01"}


def test_input_6_the_reduced_document_has_no_locked_property_and_marks_hinted_ones() -> None:
    schema = Schema.from_json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string", "description": "B"}, "c": {}},
            "required": ["a", "b"],
            "additionalProperties": False,
        }
    )
    assert schema.without({"a"}, {"b"}) == {
        "type": "object",
        "properties": {"b": {"type": "string", "description": "B (defaults to the UI value)"}, "c": {}},
        "additionalProperties": False,
    }
    assert schema.without(set(), {"c"})["required"] == ["a", "b"]
    assert schema.without({"a", "b", "c"}, set()) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert schema.document["properties"]["b"]["description"] == "B"
