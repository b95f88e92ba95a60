"""Which JSON Schemas may be published: the subset of Draft 2020-12 that agents understand (SCHEMA-2 to -4, -6, -7)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

from surface.canonical import json_problem
from surface.contract.formats import FORMATS
from surface.errors import SurfaceDefinitionError

Document: TypeAlias = dict[str, Any]

REF_PREFIX = "#/$defs/"
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

_OTHERWISE = "say it in the description, and check it in the handler"
_INSTEAD: Mapping[str, str] = {
    "prefixItems": "instead of a tuple take a list, or an object with named properties",
    "patternProperties": "take dict[str, …]: the keys of an object are any text",
    "propertyNames": "take dict[str, …]: the keys of an object are any text",
    "oneOf": "use anyOf",
    "allOf": "write the properties into one object",
    "definitions": "use $defs",
}


def unsupported(pointer: str, keyword: str, problem: str) -> SurfaceDefinitionError:
    """The error of SCHEMA-7: which keyword, at which place of the document, and what to do."""
    return SurfaceDefinitionError("UNSUPPORTED_SCHEMA", f"{keyword!r} at {pointer}: {problem}", pointer)


def check_subset(document: object) -> None:
    """Raise UNSUPPORTED_SCHEMA, naming path and keyword, unless ``document`` lies in the subset of SCHEMA-2 and -3."""
    if not isinstance(document, dict):
        raise unsupported("#", "schema", f"must be an object, not {type(document).__name__}")
    if problem := json_problem(document):
        raise unsupported("#", "schema", f"must itself be JSON, and contains {problem}")
    places: dict[str, Document] = {}
    _check_node(document, "#", places)
    for pointer, schema in places.items():
        if "$ref" in schema and _unescaped(schema["$ref"]) not in places:
            raise unsupported(pointer, "$ref", f"there is no schema at {schema['$ref']}")
    _check_chains(places)


def ref_target(document: Document, ref: str) -> Document:
    """The schema a checked ``$ref`` points at."""
    target: Any = document
    for part in _unescaped(ref)[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        target = target[int(key)] if isinstance(target, list) else target[key]
    return target  # type: ignore[no-any-return]


def subschemas(schema: Document) -> Iterator[tuple[str, Document]]:
    """Every schema directly inside ``schema`` with its pointer from there, in the order of SCHEMA-4."""
    if isinstance(schema.get("items"), dict):
        yield "/items", schema["items"]
    for name, child in schema.get("properties", {}).items():
        yield f"/properties/{_escaped(name)}", child
    if isinstance(schema.get("additionalProperties"), dict):
        yield "/additionalProperties", schema["additionalProperties"]
    for index, child in enumerate(schema.get("anyOf", ())):
        yield f"/anyOf/{index}", child
    for name, child in schema.get("$defs", {}).items():
        yield f"/$defs/{_escaped(name)}", child


def document_bytes(document: Document) -> int:
    """Size as SCHEMA-4 counts it: UTF-8 bytes of the compact JSON text."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def document_depth(document: Document) -> int:
    """Depth as SCHEMA-4 counts it: the root is 0, every schema inside another adds 1; references add nothing."""
    return max((1 + document_depth(child) for _, child in subschemas(document)), default=0)


def _check_node(schema: object, pointer: str, places: dict[str, Document]) -> None:
    if not isinstance(schema, dict):
        raise unsupported(pointer, "schema", f"must be an object, not {json.dumps(schema)[:40]}")
    for keyword, value in schema.items():
        rule = _RULES.get(keyword)
        if rule is None:
            raise unsupported(pointer, keyword, f"this keyword is not supported; {_INSTEAD.get(keyword, _OTHERWISE)}")
        if problem := rule(value):
            raise unsupported(pointer, keyword, problem)
    places[pointer] = schema
    for step, child in subschemas(schema):
        _check_node(child, pointer + step, places)


def _check_chains(places: Mapping[str, Document]) -> None:
    """References and alternatives that lead back to themselves without entering a property or an item never end."""
    ended: set[str] = set()

    def follow(pointer: str, trail: tuple[str, ...]) -> None:
        if pointer in trail:
            raise unsupported(pointer, "$ref", "this chain of references leads back to itself and never ends")
        if pointer in ended:
            return
        schema = places[pointer]
        if "$ref" in schema:
            follow(_unescaped(schema["$ref"]), (*trail, pointer))
        for index in range(len(schema.get("anyOf", ()))):
            follow(f"{pointer}/anyOf/{index}", (*trail, pointer))
        ended.add(pointer)

    for pointer in places:
        follow(pointer, ())


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(ref: str) -> str:
    return unquote(ref)


_Rule: TypeAlias = Callable[[Any], str | None]


def _anything(_value: object) -> str | None:
    return None


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else "must be text"


def _boolean(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _number(value: object) -> str | None:
    return None if type(value) in (int, float) else "must be a number"


def _count(value: object) -> str | None:
    whole = type(value) is int or (type(value) is float and value.is_integer())
    return None if whole and value >= 0 else "must be a whole number, 0 or more"  # type: ignore[operator]


def _positive(value: object) -> str | None:
    if type(value) not in (int, float):
        return "must be a number"
    return None if value > 0 and math.isfinite(value) else "must be more than 0"  # type: ignore[operator,arg-type]


def _list(value: object) -> str | None:
    return None if isinstance(value, list) else "must be a list"


def _type(value: object) -> str | None:
    names = value if isinstance(value, list) else [value]
    if not names:
        return "must name at least one type"
    for name in names:
        if not isinstance(name, str) or name not in _TYPES:
            return f"{name!r} is not one of {', '.join(sorted(_TYPES))}"
    return None if len(set(names)) == len(names) else "must not name a type twice"


def _schemas_by_name(value: object) -> str | None:
    return None if isinstance(value, dict) else "must be an object of schemas"


def _names(value: object) -> str | None:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return "must be a list of property names"
    return None if len(set(value)) == len(value) else "must not name a property twice"


def _boolean_or_schema(value: object) -> str | None:
    return None if isinstance(value, (bool, dict)) else "must be true, false or one schema"


def _schema(value: object) -> str | None:
    return None if isinstance(value, dict) else "must be one schema, an object"


def _alternatives(value: object) -> str | None:
    return None if isinstance(value, list) and value else "must be a list of at least one schema"


def _pattern(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as problem:
        return f"does not compile as a Python regular expression: {problem}"
    return None


def _format(value: object) -> str | None:
    if isinstance(value, str) and value in FORMATS:
        return None
    return f"{value!r} is not one of {', '.join(FORMATS)}"


def _reference(value: object) -> str | None:
    if isinstance(value, str) and value.startswith(REF_PREFIX):
        return None
    return f"must be text that begins with {REF_PREFIX}"


_RULES: Mapping[str, _Rule] = {
    "type": _type,
    "enum": _list,
    "const": _anything,
    "properties": _schemas_by_name,
    "required": _names,
    "additionalProperties": _boolean_or_schema,
    "items": _schema,
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _boolean,
    "minLength": _count,
    "maxLength": _count,
    "pattern": _pattern,
    "format": _format,
    "minimum": _number,
    "maximum": _number,
    "exclusiveMinimum": _number,
    "exclusiveMaximum": _number,
    "multipleOf": _positive,
    "anyOf": _alternatives,
    "description": _text,
    "default": _anything,
    "examples": _list,
    "title": _text,
    "deprecated": _boolean,
    "$defs": _schemas_by_name,
    "$ref": _reference,
    "$schema": _text,
    "$id": _text,
}
