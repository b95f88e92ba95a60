"""pydantic's validators, prepared for a value that a published document has already been asked about.

pydantic matches patterns with another engine than the document's (SCHEMA-6), and takes an instance of a model for valid
without looking into it (OUT-2). Both are settings of the core schema, of every model in it; a copy of the schema with
those settings changed is what validators are made of here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pydantic_core import CoreSchema, SchemaValidator

_OPAQUE = frozenset({"default", "metadata", "expected", "members", "cls", "serialization"})  # an author's data
_BY_NAME = frozenset({"fields", "choices"})  # schemas under names of the author's
_SCALARS = frozenset({"int", "float", "bool", "str"})

Change: TypeAlias = Callable[[dict[str, Any]], None]


def input_validator(schema: CoreSchema) -> SchemaValidator | None:
    """A validator that leaves patterns to the document; None where the type has none and pydantic's own will do."""
    found = False

    def change(node: dict[str, Any]) -> None:
        nonlocal found
        found |= _drop_pattern(node)

    changed = _changed(schema, change)
    return SchemaValidator(changed, _use_prebuilt=False) if found else None


def instance_validator(schema: CoreSchema) -> SchemaValidator:
    """A validator for Python values that looks into instances again, and does not turn text into numbers."""

    def change(node: dict[str, Any]) -> None:
        _drop_pattern(node)
        if node.get("type") in ("model", "dataclass"):
            node["revalidate_instances"] = "always"
        elif node.get("type") in _SCALARS:
            node["strict"] = True

    return SchemaValidator(_changed(schema, change), _use_prebuilt=False)


def _drop_pattern(node: dict[str, Any]) -> bool:
    return node.get("type") == "str" and node.pop("pattern", None) is not None


def _changed(node: Any, change: Change) -> Any:
    """A copy of a core schema in which ``change`` has seen every schema, innermost first."""
    if isinstance(node, dict):
        copy = {key: value if key in _OPAQUE else _changed_member(key, value, change) for key, value in node.items()}
        change(copy)
        return copy
    if isinstance(node, (list, tuple)):
        return type(node)(_changed(item, change) for item in node)
    return node


def _changed_member(key: str, value: Any, change: Change) -> Any:
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _changed(child, change) for name, child in value.items()}
    return _changed(value, change)
