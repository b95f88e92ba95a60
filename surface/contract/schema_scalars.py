"""What single keywords of a document ask of a value without looking into its members: types, listed values, bounds."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

from surface.contract.formats import FORMATS
from surface.contract.schema_problem import OTHER_TYPE, OTHER_VALUE, Problem, comparable, described


class Run(dict[tuple[int, int], "tuple[Any, list[Problem] | None]"]):
    """What one validation knows: by alternatives and value, the value (kept, so that its id stays its own) and its
    problems. With ``enough`` problems, checks look no further."""

    __slots__ = ("enough",)

    def __init__(self, enough: int = 1) -> None:
        super().__init__()
        self.enough = enough


Check: TypeAlias = Callable[[Any, Run], "list[Problem] | None"]

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


def fits(_value: Any, _run: Run) -> None:
    """The check that every value passes."""


def type_check(names: str | list[str]) -> Check:
    """The check of ``type``; an integer beyond every double is no number, as it would become infinite."""
    wanted = [names] if isinstance(names, str) else names
    exact = frozenset(kind for name in wanted for kind in _KINDS[name])
    integral = "integer" in wanted and "number" not in wanted
    real = "number" in wanted and "integer" not in wanted
    problem = [Problem((), f"must be {' or '.join(_NAMES[name] for name in wanted)}", OTHER_TYPE)]
    beyond = [Problem((), "must be a number within the range of a double", OTHER_TYPE)]

    def check(value: Any, _run: Run) -> list[Problem] | None:
        return None if type(value) in exact else problem

    def check_number(value: Any, _run: Run) -> list[Problem] | None:
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
        return lambda value, _run: None if type(value) is str and value in texts else problem
    comparables = frozenset(comparable(member) for member in members)
    plain = not any(isinstance(member, (dict, list)) for member in members)

    def check(value: Any, _run: Run) -> list[Problem] | None:
        if plain and type(value) in (dict, list):
            return problem
        return None if comparable(value) in comparables else problem

    return check


def _pattern(pattern: str) -> Check:
    search = re.compile(pattern).search
    problem = [Problem((), f"must match the pattern {pattern}")]
    return lambda value, _run: None if type(value) is not str or search(value) else problem


def _format(name: str) -> Check:
    if name not in FORMATS:  # of a type that is only returned
        return fits
    accepts = FORMATS[name].accepts
    problem = [Problem((), f"must be {FORMATS[name].described}")]
    return lambda value, _run: None if type(value) is not str or accepts(value) else problem


def _unique(wanted: bool) -> Check:
    problem = [Problem((), "must not contain an item twice")]

    def check(value: Any, _run: Run) -> list[Problem] | None:
        if type(value) is not list or len(value) < 2:
            return None
        return None if len({comparable(item) for item in value}) == len(value) else problem

    return check if wanted else fits


def _multiple(unit: float) -> Check:
    exact_unit = _fraction(unit)
    problem = [Problem((), f"must be a multiple of {described(unit)}")]

    def check(value: Any, _run: Run) -> list[Problem] | None:
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
        return lambda value, _run: None if type(value) is not kind or holds(len(value), bound) else problem

    return make


def _bound(holds: Callable[[Any, Any], bool], words: str) -> Callable[[Any], Check]:
    def make(bound: Any) -> Check:
        problem = [Problem((), f"must be {words} {described(bound)}")]
        return lambda value, _run: None if type(value) not in _NUMBERS or holds(value, bound) else problem

    return make


_NUMBERS = (int, float)
_DOUBLE_MAX = int(sys.float_info.max)
SCALARS: Mapping[str, Callable[[Any], Check]] = {
    "type": type_check,
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
"""How the value of a keyword becomes a check."""
