"""Which documents may be published: SCHEMA-2, -3, -4, -6 and -7."""

from __future__ import annotations

import re
from typing import Any

import pytest

from surface.contract.schema import Schema
from surface.errors import SurfaceDefinitionError

LIMITS: dict[str, Any] = {"max_bytes": 16_384, "max_depth": 8, "path": "devices.table.selectRows"}


def refusal(document: Any) -> SurfaceDefinitionError:
    with pytest.raises(SurfaceDefinitionError) as caught:
        Schema.from_json_schema(document)
    assert caught.value.code == "UNSUPPORTED_SCHEMA"
    return caught.value


@pytest.mark.parametrize(
    "keyword",
    ["oneOf", "allOf", "not", "if", "then", "prefixItems", "contains", "patternProperties", "propertyNames",
     "minProperties", "maxProperties", "dependentRequired", "unevaluatedProperties", "contentEncoding",
     "contentMediaType", "$anchor", "$dynamicRef", "definitions", "readOnly", "x-anything"],
)  # fmt: skip
def test_schema_2_any_other_keyword_is_refused_by_name_and_place(keyword: str) -> None:
    error = refusal({"type": "object", "properties": {"a": {"items": {keyword: {}}}}})
    assert error.path == "#/properties/a/items"
    assert repr(keyword) in error.message


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("type", "text"), ("type", []), ("type", ["string", "string"]), ("type", None), ("type", {}),
        ("format", "time"), ("format", "ipv4"), ("format", 3),
        ("additionalProperties", "no"), ("additionalProperties", None),
        ("items", True), ("items", [{}]), ("anyOf", []), ("anyOf", {}), ("anyOf", [True]),
        ("$ref", "#/properties/a"), ("$ref", "other.json"), ("$ref", "#"), ("$ref", "#/$defs/missing"), ("$ref", 1),
        ("properties", []), ("properties", {"a": True}), ("$defs", {"a": False}), ("required", "a"),
        ("required", ["a", "a"]), ("required", [1]), ("enum", "a"), ("minItems", -1), ("maxItems", 1.5),
        ("minLength", True), ("maxLength", "1"), ("uniqueItems", 1), ("pattern", "("), ("pattern", 1),
        ("minimum", "1"), ("maximum", True), ("exclusiveMinimum", None), ("exclusiveMaximum", []),
        ("multipleOf", 0), ("multipleOf", -1), ("multipleOf", "1"), ("description", 1), ("title", []),
        ("examples", {}), ("deprecated", "yes"), ("$schema", 1), ("$id", []),
    ],
)  # fmt: skip
def test_schema_3_values_of_keywords_are_checked(keyword: str, value: Any) -> None:
    error = refusal({"type": "object", "properties": {"a": {keyword: value}}})
    assert error.path.startswith("#/properties/a")
    assert re.search(rf"'{re.escape(keyword)}'|'schema'", error.message)


@pytest.mark.parametrize(
    "document", [True, [], "a", None, {"const": float("nan")}, {"default": {1: 2}}, {"const": (1,)}]
)
def test_schema_3_a_schema_is_an_object_of_json(document: Any) -> None:
    assert "'schema' at #" in refusal(document).message


def test_schema_2_everything_in_the_table_passes_together() -> None:
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.org/x",
        "title": "All",
        "description": "All of it",
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "minLength": 1, "maxLength": 2.0, "pattern": "^a", "format": "date"},
            "b": {"type": "array", "items": {}, "minItems": 0, "maxItems": 3, "uniqueItems": True, "deprecated": True},
            "c": {"minimum": 0, "maximum": 9, "exclusiveMinimum": -1, "exclusiveMaximum": 10.5, "multipleOf": 0.5},
            "d": {"anyOf": [{"$ref": "#/$defs/x"}, {"enum": [1, None]}], "default": 1, "examples": [1]},
            "e": {"const": {"k": []}},
            "properties": {"type": "string"},
        },
        "required": ["a"],
        "additionalProperties": {"type": "integer"},
        "$defs": {"x": {"type": "boolean"}, "odd/name~": {"$ref": "#/$defs/x"}, "y": {"$ref": "#/$defs/odd~1name~0"}},
    }
    schema = Schema.from_json_schema(document)
    assert schema.document == document
    assert schema.document is not document
    assert schema.output_document == document
    assert not schema.parse({"a": None, "extra": 1}).issues


def test_schema_1_a_raw_document_is_copied() -> None:
    document: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = Schema.from_json_schema(document)
    document["properties"]["a"]["type"] = "integer"
    assert not schema.parse({"a": "x"}).issues
    assert schema.document["properties"]["a"]["type"] == "string"


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"$ref": "#/$defs/a"}},
        {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}},
    ],
)
def test_schema_6_chains_of_references_end_at_a_schema(definitions: dict[str, Any]) -> None:
    assert "never ends" in refusal({"$ref": "#/$defs/a", "$defs": definitions}).message


def test_schema_6_keywords_beside_a_reference_apply() -> None:
    schema = Schema.from_json_schema({"$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": {"type": "string"}}})
    assert not schema.parse("ab").issues
    assert schema.parse("abc").issues
    assert schema.parse(1).issues


def test_schema_6_recursion_is_allowed_and_an_id_moves_no_reference() -> None:
    schema = Schema.from_json_schema(
        {
            "$id": "https://example.org/tree",
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "$id": "https://example.org/node",
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/node"}},
                    "additionalProperties": False,
                }
            },
        }
    )
    assert not schema.parse({"next": {"next": {}}}).issues
    assert [issue.path for issue in schema.parse({"next": {"next": {"nxt": {}}}}).issues] == ["next.next.nxt"]


def nested(depth: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": nested(depth - 1)}} if depth else {"type": "object"}


@pytest.mark.parametrize("wrap", ["items", "anyOf", "$defs", "additionalProperties", "properties"])
def test_schema_4_depth_8_passes_and_9_is_refused_whatever_it_goes_through(wrap: str) -> None:
    def wrapped(depth: int) -> dict[str, Any]:
        inner = nested(depth - 1)
        value: Any = {"anyOf": [inner], "$defs": {"x": inner}, "properties": {"x": inner}}.get(wrap, inner)
        return {"type": "object", wrap: value}

    Schema.from_json_schema(wrapped(8)).check(direction="input", must_be_object=True, **LIMITS)
    with pytest.raises(SurfaceDefinitionError, match="9 deep; at most 8") as caught:
        Schema.from_json_schema(wrapped(9)).check(direction="input", must_be_object=True, **LIMITS)
    assert caught.value.code == "UNSUPPORTED_SCHEMA"
    assert caught.value.path.startswith("devices.table.selectRows")


def test_schema_4_the_limit_of_bytes_itself_passes() -> None:
    def sized(size: int) -> Schema:
        empty = len('{"type":"object","description":""}')
        return Schema.from_json_schema({"type": "object", "description": "é" * ((size - empty) // 2)})

    sized(16_384).check(direction="input", must_be_object=True, **LIMITS)
    with pytest.raises(SurfaceDefinitionError, match="16386 bytes; at most 16384"):
        sized(16_386).check(direction="output", must_be_object=False, **LIMITS)


def test_schema_5_an_input_document_is_an_object_and_an_output_may_be_anything() -> None:
    schema = Schema.of(list[int])
    schema.check(direction="output", must_be_object=False, **LIMITS)
    with pytest.raises(SurfaceDefinitionError, match=r"'type'.*an input is an object") as caught:
        schema.check(direction="input", must_be_object=True, **LIMITS)
    assert (caught.value.code, caught.value.path) == ("UNSUPPORTED_SCHEMA", "devices.table.selectRows(input)#")


def test_toolset_4_the_confirmation_property_is_reserved_in_inputs_only() -> None:
    schema = Schema.from_json_schema({"type": "object", "properties": {"_confirmationId": {"type": "string"}}})
    schema.check(direction="output", must_be_object=True, **LIMITS)
    with pytest.raises(SurfaceDefinitionError, match="_confirmationId") as caught:
        schema.check(direction="input", must_be_object=True, **LIMITS)
    assert caught.value.code == "INVALID_DEFINITION"
