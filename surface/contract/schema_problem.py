"""Problems that checks find, and how the problems of several alternatives are told as one story."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from surface.contract.schema_issue import Steps

MISTAKE, OTHER_TYPE, OTHER_VALUE = -1, 0, 1
_MUST = "must be "


class Problem(NamedTuple):
    """Something that does not fit, at ``steps`` from the checked value.

    ``reach`` says how far it speaks against the whole form: a value of the wrong type was not meant to have it (0), nor
    was an object whose tag has another value (1); other problems are mistakes within a form that was meant (-1).
    """

    steps: Steps
    message: str
    reach: int = MISTAKE


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
    pool = failures
    for depth in (OTHER_TYPE, OTHER_VALUE):
        meant = [problems for problems in pool if not any(_excludes(problem, depth) for problem in problems)]
        if len(meant) == 1:
            return meant[0]
        pool = meant or pool
    first, others = pool[0], pool[1:]
    known = [frozenset(problems) for problems in others]
    shared = [problem for problem in first if all(problem in problems for problems in known)]
    if shared:
        return shared
    for problem in first:
        alike = [problem, *(match for problems in others if (match := _same_place(problem, problems)))]
        if problem.reach > MISTAKE and len(alike) == len(pool):
            choices = dict.fromkeys(match.message.removeprefix(_MUST) for match in alike)
            return [Problem(problem.steps, _MUST + " or ".join(choices), problem.reach)]
    return [Problem((), "fits none of the forms that are allowed here", OTHER_VALUE)]


def _excludes(problem: Problem, depth: int) -> bool:
    return len(problem.steps) <= min(problem.reach, depth)


def _same_place(problem: Problem, problems: list[Problem]) -> Problem | None:
    return next((other for other in problems if other.reach > MISTAKE and other.steps == problem.steps), None)
