"""pydantic's validators, prepared for values that a published document has already been asked about.

By itself pydantic matches patterns with another engine than the document's (SCHEMA-6), drops unknown fields, tries the
alternatives of a union by its own lights (a ``datetime | str`` takes ``"1700000000"`` for a date-time), and takes an
instance of a model for valid without looking into it (OUT-2). All of that is written in the core schema, of every type
within a type; validators are made here of a copy in which it is written otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from pydantic_core import CoreConfig, CoreSchema, SchemaSerializer, SchemaValidator

_OPAQUE = frozenset({"default", "metadata", "expected", "members", "cls", "serialization"})  # an author's data
_BY_NAME = frozenset({"fields", "choices"})  # schemas under names of the author's
_SCALARS = frozenset({"int", "float", "bool", "str"})
_OBJECTS = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_PLAIN = frozenset({"any", "bool", "dict", "float", "int", "list", "none", "nullable", "str"})
_TAG = "\0form"  # no property's name, so that it is recognised in pydantic's locations

Node: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Node, Node], None]
Accepts: TypeAlias = tuple[Callable[[Any], bool], Callable[[Any], bool]]


def input_validator(schema: CoreSchema, acceptor: Callable[[CoreSchema], Accepts]) -> SchemaValidator | None:
    """A validator of JSON that follows the document; None where pydantic's own, told to forbid unknown fields, does.

    ``acceptor`` makes the tests whether the document of one alternative accepts a value, and whether it might.
    """
    if not any(_goes_its_own_way(node) for node in _nodes(schema)):
        return None
    definitions = schema["definitions"] if schema["type"] == "definitions" else []

    def change(node: Node, original: Node) -> None:
        node_type = node.get("type")
        if node_type == "str":
            node.pop("pattern", None)
        if isinstance(config := node.get("config"), dict) and config.get("extra_fields_behavior") != "allow":
            node["config"] = {**config, "extra_fields_behavior": "forbid"}
        if node_type in _OBJECTS and node.get("extra_behavior") == "ignore":
            node["extra_behavior"] = "forbid"
        if node_type == "union":
            choices = [_within(_choice(choice), definitions) for choice in original["choices"]]
            _follow_document(node, choices, acceptor, nests=_contains_itself(original, definitions))

    return SchemaValidator(_changed(schema, change), _use_prebuilt=False)


def instance_validator(schema: CoreSchema, *, look_inside: bool) -> SchemaValidator:
    """A validator of Python values that does not turn text into numbers; with ``look_inside`` it also validates
    instances again, all the way down."""

    def change(node: Node, _original: Node) -> None:
        node_type = node.get("type")
        if node_type == "str":
            node.pop("pattern", None)
        if node_type in _SCALARS:
            node["strict"] = True
        elif look_inside and node_type in ("model", "dataclass"):
            node["revalidate_instances"] = "always"

    return SchemaValidator(_changed(schema, change), _use_prebuilt=False)


def instance_serializer(schema: CoreSchema) -> SchemaSerializer:
    """A serialiser that leaves a number that is not finite as it is, for OUT-3 to find, instead of writing null."""

    def change(node: Node, _original: Node) -> None:
        if isinstance(config := node.get("config"), dict):
            node["config"] = {**config, "ser_json_inf_nan": "constants"}

    config = CoreConfig(ser_json_inf_nan="constants")
    return SchemaSerializer(_changed(schema, change), config, _use_prebuilt=False)


def is_plain(schema: CoreSchema) -> bool:
    """Whether a type is made of nothing but JSON's own types, which validators leave as they are."""
    return all(
        node.get("type") in _PLAIN
        and "serialization" not in node
        and node.get("keys_schema", {"type": "any"})["type"] in ("any", "str")
        for node in _nodes(schema)
    )


def _goes_its_own_way(node: Node) -> bool:
    config = node.get("config")
    return (
        node.get("type") == "union"
        or (node.get("type") == "str" and "pattern" in node)
        or node.get("extra_behavior") == "allow"
        or (isinstance(config, dict) and config.get("extra_fields_behavior") == "allow")
    )


def _follow_document(
    union: Node, choices: list[CoreSchema], acceptor: Callable[[CoreSchema], Accepts], *, nests: bool
) -> None:
    """Turn a union into one that is asked first: where the documents leave one alternative, it is that one; where they
    leave several, pydantic chooses. Where the union ``nests`` in itself it is the first one that fits an object or an
    array: pydantic would try all of them at every level, twice as many with each."""
    accepts: list[Accepts] = []

    def form(value: Any) -> str | None:
        if not accepts:
            accepts.extend(acceptor(choice) for choice in choices)
        possible = [index for index, (_, might) in enumerate(accepts) if might(value)]
        if nests and possible and isinstance(value, (dict, list)):
            last = possible.pop()  # what the document has been asked about fits this one if it fits no other
            return f"{_TAG}{next((index for index in possible if accepts[index][0](value)), last)}"
        fitting = [index for index in possible if accepts[index][0](value)]
        return f"{_TAG}{fitting[0]}" if len(fitting) == 1 else _TAG

    original = dict(union)
    tagged = {f"{_TAG}{index}": _choice(choice) for index, choice in enumerate(original["choices"])}
    union.clear()
    union.update(type="tagged-union", choices={_TAG: original, **tagged}, discriminator=form)
    if "ref" in original:
        union["ref"] = original.pop("ref")


def _contains_itself(union: Node, definitions: list[CoreSchema]) -> bool:
    by_ref: dict[str, Any] = {definition["ref"]: definition for definition in definitions if "ref" in definition}
    seen: set[str] = set()
    pending: list[Any] = list(union["choices"])
    while pending:
        for node in _nodes(pending.pop()):
            if node is union:
                return True
            ref = node.get("schema_ref") if node.get("type") == "definition-ref" else None
            if ref in by_ref and ref not in seen:
                seen.add(ref)
                pending.append(by_ref[ref])
    return False


def _choice(choice: Any) -> Any:
    return choice[0] if isinstance(choice, tuple) else choice


def _within(schema: CoreSchema, definitions: list[CoreSchema]) -> CoreSchema:
    return {"type": "definitions", "schema": schema, "definitions": definitions} if definitions else schema


def _nodes(node: Any) -> Iterator[Node]:
    """Every schema in a core schema."""
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in _OPAQUE:
                children = value.values() if key in _BY_NAME and isinstance(value, dict) else (value,)
                for child in children:
                    yield from _nodes(child)
    elif isinstance(node, (list, tuple)):
        for item in node:
            yield from _nodes(item)


def _changed(node: Any, change: Change) -> Any:
    """A copy of a core schema in which ``change`` has seen every schema with its original, innermost first."""
    if isinstance(node, dict):
        copy = {key: value if key in _OPAQUE else _changed_member(key, value, change) for key, value in node.items()}
        change(copy, node)
        return copy
    if isinstance(node, (list, tuple)):
        return type(node)(_changed(item, change) for item in node)
    return node


def _changed_member(key: str, value: Any, change: Change) -> Any:
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _changed(child, change) for name, child in value.items()}
    return _changed(value, change)
