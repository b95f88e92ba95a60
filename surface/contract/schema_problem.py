"""Problems that checks find, and how the problems of several alternatives are told as one story."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from surface.contract.schema_issue import Steps

_MUST = "must be "


class Problem(NamedTuple):
    """Something that does not fit, at ``steps`` from the checked value.

    ``identifies``: the value is of another kind altogether, so that an alternative of ``anyOf`` was not meant.
    """

    steps: Steps
    message: str
    identifies: bool = False


def comparable(value: Any) -> Any:
    """A hashable stand-in that is equal exactly for equal JSON values: ``1`` is ``1.0``, and ``true`` is neither."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, tuple(comparable(item) for item in value))
    if isinstance(value, dict):
        return (dict, frozenset((name, comparable(member)) for name, member in value.items()))
    return value


def described(value: Any) -> str:
    """A value of the schema's author, as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def explain_union(failures: list[list[Problem]]) -> list[Problem]:
    """What to say when no alternative of ``anyOf`` fits: the problems of the alternative that was evidently meant, else
    what all alternatives agree on, else that nothing fits. Alternatives themselves are never named (SCHEMA-11)."""
    meant = [problems for problems in failures if not any(map(_excludes, problems))]
    if len(meant) == 1:
        return meant[0]
    pool = meant or failures
    first, others = pool[0], pool[1:]
    shared = [problem for problem in first if all(problem in problems for problems in others)]
    if shared:
        return shared
    for problem in first:
        alike = [problem, *(match for problems in others if (match := _same_place(problem, problems)))]
        if problem.identifies and len(alike) == len(pool):
            choices = dict.fromkeys(match.message.removeprefix(_MUST) for match in alike)
            return [Problem(problem.steps, _MUST + " or ".join(choices), True)]
    return [Problem((), "fits none of the forms that are allowed here", not meant)]


def _excludes(problem: Problem) -> bool:
    return problem.identifies and len(problem.steps) <= 1


def _same_place(problem: Problem, problems: list[Problem]) -> Problem | None:
    return next((other for other in problems if other.identifies and other.steps == problem.steps), None)
