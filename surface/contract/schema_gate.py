"""The gate: a published document compiled into closures that say whether a JSON value fits it, and if not, where.

The document decides what is accepted (SCHEMA-8). pydantic knows more about Python values and less about the document:
it takes ``2024-01-01`` for a date-time, drops the doubles out of a set, ignores unknown fields, and matches patterns
with another engine. So typed schemas pass this gate first, and pydantic then only turns JSON into the author's types.

A check answers None where the value fits, so that the usual case allocates nothing.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from surface.contract.formats import FORMATS
from surface.contract.schema_problem import OTHER_TYPE, OTHER_VALUE, Problem, comparable, described, explain_union
from surface.contract.schema_subset import Document, ref_target

Check: TypeAlias = Callable[[Any], "list[Problem] | None"]

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_NAMES: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


class Gate:
    """What a document accepts. ``check(value)`` answers None, or the problems; values must be JSON values."""

    __slots__ = ("_checks", "check", "document")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._checks: dict[int, Check | None] = {}
        self.check: Check = self.check_of(document)

    def check_of(self, schema: Document) -> Check:
        """The check of one schema inside the document; each is compiled once, references to itself included."""
        key = id(schema)
        known = self._checks.get(key)
        if known is not None:
            return known
        if key in self._checks:  # being compiled further up: a recursive reference, looked up when it is first needed
            return lambda value: self.check_of(schema)(value)
        self._checks[key] = None
        check = self._compiled(schema)
        self._checks[key] = check
        return check

    def target(self, schema: Document) -> Document:
        """What the ``$ref`` of ``schema`` points at."""
        return ref_target(self.document, schema["$ref"])

    def default(self, schema: Document) -> tuple[Any] | None:
        """The published default of a schema, its own or its reference's, in a tuple of one; None if there is none."""
        while "default" not in schema and "$ref" in schema:
            schema = self.target(schema)
        return (schema["default"],) if "default" in schema else None

    def branch(self, schema: Document, value: Any) -> Document | None:
        """The first alternative of ``anyOf`` that accepts ``value``."""
        return next((branch for branch in schema["anyOf"] if self.check_of(branch)(value) is None), None)

    def _compiled(self, schema: Document) -> Check:
        parts: list[Check] = []
        listed = "enum" in schema or "const" in schema  # says more than a type beside it, and says it better
        for keyword, make in _SCALARS.items():
            if keyword in schema and not (listed and keyword == "type" and _covered(schema)):
                parts.append(make(schema[keyword]))
        if "$ref" in schema:
            parts.append(self.check_of(self.target(schema)))
        if "required" in schema or "properties" in schema or "additionalProperties" in schema:
            parts.append(self._object(schema))
        if "items" in schema:
            parts.append(self._items(schema["items"]))
        if "anyOf" in schema:
            parts.append(_union([self.check_of(branch) for branch in schema["anyOf"]]))
        return _all(parts, typed="type" in schema)

    def _object(self, schema: Document) -> Check:
        required = tuple(schema.get("required", ()))
        checks = {name: self.check_of(child) for name, child in schema.get("properties", {}).items()}
        additional = schema.get("additionalProperties", True)
        others = self.check_of(additional) if isinstance(additional, dict) else _fits
        closed = additional is False
        known = checks.get

        def check(value: Any) -> list[Problem] | None:
            if type(value) is not dict:
                return None
            found: list[Problem] | None = None
            for name in required:
                if name not in value:
                    found = _found(found, Problem((name,), "is required"))
            for name, member in value.items():
                member_check = known(name)
                if member_check is None:
                    if closed:
                        found = _found(found, Problem((name,), _unknown(checks)))
                        continue
                    member_check = others
                problems = member_check(member)
                if problems is not None:
                    found = _inside(found, name, problems)
            return found

        return check

    def _items(self, schema: Document) -> Check:
        item_check = self.check_of(schema)

        def check(value: Any) -> list[Problem] | None:
            if type(value) is not list:
                return None
            found: list[Problem] | None = None
            for index, item in enumerate(value):
                problems = item_check(item)
                if problems is not None:
                    found = _inside(found, index, problems)
            return found

        return check


def _covered(schema: Document) -> bool:
    members = schema["enum"] if "enum" in schema else [schema["const"]]
    of_type = _type(schema["type"])
    return all(of_type(member) is None for member in members)


def _fits(_value: Any) -> None:
    return None


def _found(found: list[Problem] | None, problem: Problem) -> list[Problem]:
    if found is None:
        return [problem]
    found.append(problem)
    return found


def _inside(found: list[Problem] | None, step: str | int, problems: list[Problem]) -> list[Problem]:
    moved = [Problem((step, *steps), message, reach) for steps, message, reach in problems]
    return moved if found is None else found + moved


def _unknown(known: Mapping[str, Any]) -> str:
    if not known:
        return "is not a known property; none is allowed here"
    names = list(known)
    return f"is not a known property; known are {', '.join(names[:12])}{', …' if len(names) > 12 else ''}"


def _all(parts: list[Check], *, typed: bool) -> Check:
    """Every part must fit; a value of the wrong type is reported as that and nothing else."""
    if not parts:
        return _fits
    if len(parts) == 1:
        return parts[0]
    first, rest = parts[0], parts[1:]
    if len(rest) == 1:
        second = rest[0]

        def check_both(value: Any) -> list[Problem] | None:
            found = first(value)
            if found is None:
                return second(value)
            if typed:
                return found
            problems = second(value)
            return found if problems is None else found + problems

        return check_both

    def check(value: Any) -> list[Problem] | None:
        found = first(value)
        if found is not None and typed:
            return found
        for part in rest:
            problems = part(value)
            if problems is not None:
                found = problems if found is None else found + problems
        return found

    return check


def _type(names: str | list[str]) -> Check:
    wanted = [names] if isinstance(names, str) else names
    exact = frozenset(kind for name in wanted for kind in _KINDS[name])
    integral = "integer" in wanted and "number" not in wanted
    real = "number" in wanted and "integer" not in wanted
    problem = [Problem((), f"must be {' or '.join(_NAMES[name] for name in wanted)}", OTHER_TYPE)]
    beyond = [Problem((), "must be a number within the range of a double", OTHER_TYPE)]

    def check(value: Any) -> list[Problem] | None:
        return None if type(value) in exact else problem

    def check_number(value: Any) -> list[Problem] | None:
        kind = type(value)
        if kind is float:
            return None if (value.is_integer() if integral else isfinite(value)) else problem
        if real and kind is int and not -_DOUBLE_MAX <= value <= _DOUBLE_MAX:
            return beyond
        return None if kind in exact else problem

    return check_number if int in exact else check


def _enum(members: list[Any]) -> Check:
    problem = [Problem((), f"must be {' or '.join(described(member) for member in members) or 'nothing'}", OTHER_VALUE)]
    if all(type(member) is str for member in members):
        texts = frozenset(members)
        return lambda value: None if type(value) is str and value in texts else problem
    comparables = frozenset(comparable(member) for member in members)
    return lambda value: None if comparable(value) in comparables else problem


def _pattern(pattern: str) -> Check:
    search = re.compile(pattern).search
    problem = [Problem((), f"must match the pattern {pattern}")]
    return lambda value: None if type(value) is not str or search(value) else problem


def _format(name: str) -> Check:
    if name not in FORMATS:  # of a type that is only returned
        return _fits
    accepts = FORMATS[name].accepts
    problem = [Problem((), f"must be {FORMATS[name].described}")]
    return lambda value: None if type(value) is not str or accepts(value) else problem


def _unique(wanted: bool) -> Check:
    problem = [Problem((), "must not contain an item twice")]

    def check(value: Any) -> list[Problem] | None:
        if type(value) is not list or len(value) < 2:
            return None
        return None if len({comparable(item) for item in value}) == len(value) else problem

    return check if wanted else _fits


def _multiple(unit: float) -> Check:
    exact_unit = _fraction(unit)
    problem = [Problem((), f"must be a multiple of {described(unit)}")]

    def check(value: Any) -> list[Problem] | None:
        if type(value) is int and exact_unit.denominator == 1:
            return problem if value % exact_unit.numerator else None
        if type(value) is int or type(value) is float:
            # as decimal text means it: 0.3 is a multiple of 0.1, whatever binary fractions make of the two
            return None if (_fraction(value) / exact_unit).denominator == 1 else problem
        return None

    return check


def _fraction(number: float) -> Fraction:
    return Fraction(number) if type(number) is int else Fraction(repr(number))


def _length(kind: type[str] | type[list[Any]], holds: Callable[[Any, Any], bool], words: str) -> Callable[[Any], Check]:
    noun = "character" if kind is str else "item"

    def make(bound: Any) -> Check:
        problem = [Problem((), f"must have {words} {described(bound)} {noun}{'' if bound == 1 else 's'}")]
        return lambda value: None if type(value) is not kind or holds(len(value), bound) else problem

    return make


def _bound(holds: Callable[[Any, Any], bool], words: str) -> Callable[[Any], Check]:
    def make(bound: Any) -> Check:
        problem = [Problem((), f"must be {words} {described(bound)}")]
        return lambda value: None if type(value) not in _NUMBERS or holds(value, bound) else problem

    return make


def _union(branches: list[Check]) -> Check:
    def check(value: Any) -> list[Problem] | None:
        found: list[list[Problem]] = []
        for branch in branches:
            problems = branch(value)
            if problems is None:
                return None
            found.append(problems)
        return explain_union(found)

    return check


_NUMBERS = (int, float)
_DOUBLE_MAX = int(sys.float_info.max)
_SCALARS: Mapping[str, Callable[[Any], Check]] = {
    "type": _type,
    "const": lambda member: _enum([member]),
    "enum": _enum,
    "minLength": _length(str, operator.ge, "at least"),
    "maxLength": _length(str, operator.le, "at most"),
    "pattern": _pattern,
    "format": _format,
    "minimum": _bound(operator.ge, "at least"),
    "maximum": _bound(operator.le, "at most"),
    "exclusiveMinimum": _bound(operator.gt, "more than"),
    "exclusiveMaximum": _bound(operator.lt, "less than"),
    "multipleOf": _multiple,
    "minItems": _length(list, operator.ge, "at least"),
    "maxItems": _length(list, operator.le, "at most"),
    "uniqueItems": _unique,
}
