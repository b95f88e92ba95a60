"""Filling a JSON value by its document: published defaults (SCHEMA-9, INPUT-3a), and the one spelling of numbers and
constants that pydantic's strict mode takes (SCHEMA-8). Both answer a new value and leave the given one untouched."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

from surface.contract.formats import without_leap_second
from surface.contract.schema_gate import Gate
from surface.contract.schema_problem import comparable, described
from surface.contract.schema_scalars import Check, Run
from surface.contract.schema_subset import Document, subschemas
from surface.errors import SurfaceDefinitionError

Fill: TypeAlias = Callable[[Any, Run], Any]


class Defaults:
    """Fills missing properties with their published defaults, at every depth.

    ``in_alternatives``: also within the first alternative of an ``anyOf`` that fits; raw schemas leave those alone.
    """

    __slots__ = ("_fill", "_fills", "_gate", "_in_alternatives")

    def __init__(self, gate: Gate, *, in_alternatives: bool) -> None:
        self._gate = gate
        self._in_alternatives = in_alternatives
        self._fills: dict[int, Fill | None] = {}
        fill = self.fill_of(gate.document) if _declares_default(gate.document) else None
        self._fill: Fill = fill or _unchanged

    def fill(self, value: Any) -> Any:
        """``value`` with what was missing; the same value where the document has no defaults."""
        return self._fill(value, Run())

    def fill_of(self, schema: Document) -> Fill:
        """How values of one schema inside the document are filled."""
        key = id(schema)
        known = self._fills.get(key)
        if known is not None:
            return known
        if key in self._fills:  # a recursive reference: looked up when it is first needed
            return lambda value, run: self.fill_of(schema)(value, run)
        self._fills[key] = None
        fill = self._compiled(schema)
        self._fills[key] = fill
        return fill

    def _compiled(self, schema: Document) -> Fill:
        parts: list[Fill] = []
        if "$ref" in schema:
            parts.append(self.fill_of(self._gate.target(schema)))
        if "properties" in schema or isinstance(schema.get("additionalProperties"), dict):
            parts.append(self._object(schema))
        if "items" in schema:
            parts.append(self._items(schema["items"]))
        if "anyOf" in schema and self._in_alternatives:
            parts.append(self._alternative(schema))
        parts = [part for part in parts if part is not _unchanged]
        if not parts:
            return _unchanged
        if len(parts) == 1:
            return parts[0]

        def fill(value: Any, run: Run) -> Any:
            for part in parts:
                value = part(value, run)
            return value

        return fill

    def _object(self, schema: Document) -> Fill:
        properties: Document = schema.get("properties", {})
        fills = {name: self.fill_of(child) for name, child in properties.items()}
        defaults = {
            name: _maker(default[0]) for name, child in properties.items() if (default := self._gate.default(child))
        }
        additional = schema.get("additionalProperties")
        others = self.fill_of(additional) if isinstance(additional, dict) else _unchanged
        if not defaults and others is _unchanged and all(fill is _unchanged for fill in fills.values()):
            return _unchanged

        def fill(value: Any, run: Run) -> Any:
            if type(value) is not dict:
                return value
            filled = {name: fills.get(name, others)(member, run) for name, member in value.items()}
            for name, make in defaults.items():
                if name not in filled:
                    filled[name] = fills[name](make(), run)
            return filled

        return fill

    def _items(self, schema: Document) -> Fill:
        item_fill = self.fill_of(schema)
        if item_fill is _unchanged:
            return _unchanged
        return lambda value, run: [item_fill(item, run) for item in value] if type(value) is list else value

    def _alternative(self, schema: Document) -> Fill:
        fills = {id(branch): self.fill_of(branch) for branch in schema["anyOf"]}
        if all(fill is _unchanged for fill in fills.values()):
            return _unchanged

        def fill(value: Any, run: Run) -> Any:
            branch = self._gate.branch(schema, value, run)
            return value if branch is None else fills[id(branch)](value, run)

        return fill


def check_defaults(gate: Gate, defaults: Defaults) -> None:
    """Every published default must fit the schema it stands in, and filling it must end; INVALID_DEFINITION."""
    pending = [("#", gate.document)]
    while pending:
        pointer, schema = pending.pop()
        for name, child in schema.get("properties", {}).items():
            default = gate.default(child)
            if default:
                _check_default(
                    default[0], name, f"{pointer}/properties/{name}", gate.check_of(child), defaults.fill_of(child)
                )
        pending.extend((pointer + step, child) for step, child in subschemas(schema))


def _check_default(default: Any, name: str, pointer: str, check: Check, fill: Fill) -> None:
    if found := check(default, Run()):
        problem = (
            f"the default {described(default)[:80]} of {name!r} does not fit its own schema: it {found[0].message}"
        )
        raise SurfaceDefinitionError("INVALID_DEFINITION", problem, pointer)
    try:
        fill(default, Run())
    except RecursionError:
        problem = f"the default of {name!r} contains itself by way of its own schema's defaults, without end"
        raise SurfaceDefinitionError("INVALID_DEFINITION", problem, pointer) from None


def spelled(gate: Gate, value: Any) -> Any:
    """``value``, which fits the gate's document, in the spelling pydantic's strict JSON mode takes: ``1.0`` as ``1``
    where an integer is asked for, members of ``const`` and ``enum`` as written there, no leap seconds."""
    return _spelled(gate, gate.document, value, Run())


def _spelled(gate: Gate, schema: Document, value: Any, run: Run) -> Any:
    if "$ref" in schema:
        value = _spelled(gate, gate.target(schema), value, run)
    if "anyOf" in schema and (branch := gate.branch(schema, value, run)) is not None:
        value = _spelled(gate, branch, value, run)
    if type(value) is dict:
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
        others = additional if isinstance(additional, dict) else None
        if not properties and others is None:
            return value
        schemas = {name: properties.get(name, others) or {} for name in value}
        return {name: _spelled(gate, schemas[name], member, run) for name, member in value.items()}
    if type(value) is list:
        item = schema.get("items")
        return [_spelled(gate, item, member, run) for member in value] if item else value
    if "enum" in schema or "const" in schema:
        members = schema["enum"] if "enum" in schema else [schema["const"]]
        return next((member for member in members if comparable(member) == comparable(value)), value)
    if type(value) is float and value.is_integer() and "integer" in schema.get("type", ()):
        return int(value)
    if type(value) is str and schema.get("format") == "date-time":
        return without_leap_second(value)
    return value


def _maker(default: Any) -> Callable[[], Any]:
    return (lambda: copy.deepcopy(default)) if isinstance(default, (dict, list)) else lambda: default


def _unchanged(value: Any, _run: Run) -> Any:
    return value


def _declares_default(schema: Document) -> bool:
    return "default" in schema or any(_declares_default(child) for _, child in subschemas(schema))
