"""The gate: a published document compiled into closures that say whether a JSON value fits it, and if not, where.

The document decides what is accepted (SCHEMA-8). pydantic knows more about Python values and less about the document:
it takes ``2024-01-01`` for a date-time, drops the doubles out of a set, ignores unknown fields, and matches patterns
with another engine. So typed schemas pass this gate first, and pydantic then only turns JSON into the author's types.

A check answers None where the value fits, so that the usual case allocates nothing.

What an agent sends costs no more than its size: a run remembers what each ``anyOf`` said of each object and array, so
nested alternatives do not multiply; an alternative whose tag differs is not looked into; 32 problems are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surface.contract.schema_issue import MAX_ISSUES
from surface.contract.schema_problem import Problem, explain_union
from surface.contract.schema_scalars import SCALARS, Check, Run, fits, type_check
from surface.contract.schema_subset import Document, ref_target


class Gate:
    """What a document accepts. ``check(value)`` answers None, or the problems; values must be JSON values."""

    __slots__ = ("_check", "_checks", "_unions", "document")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._checks: dict[int, Check | None] = {}
        self._unions: dict[int, Check] = {}
        self._check = self.check_of(document)

    def check(self, value: Any) -> list[Problem] | None:
        """None where ``value`` fits the document, else at most 32 problems (a few more where several rules meet)."""
        return self._check(value, Run(MAX_ISSUES))

    def fits(self, value: Any) -> bool:
        """Whether ``value`` fits the document, left at its first problem."""
        return self._check(value, Run()) is None

    def glance(self) -> Callable[[Any], bool]:
        """The test whether a value might fit, by its own type and its tags alone, whatever is inside it."""
        schema = self.document
        while "$ref" in schema and "type" not in schema:
            schema = self.target(schema)
        checks = [type_check(schema["type"])] if "type" in schema else []
        if (tag_check := self.tag_check(schema)) is not None:
            checks.append(tag_check)
        return lambda value: all(check(value, Run()) is None for check in checks)

    def check_of(self, schema: Document) -> Check:
        """The check of one schema inside the document; each is compiled once, references to itself included."""
        key = id(schema)
        known = self._checks.get(key)
        if known is not None:
            return known
        if key in self._checks:  # being compiled further up: a recursive reference, looked up when it is first needed
            return lambda value, run: self.check_of(schema)(value, run)
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

    def branch(self, schema: Document, value: Any, run: Run) -> Document | None:
        """The first alternative of ``anyOf`` that accepts ``value``."""
        return next((branch for branch in schema["anyOf"] if self.branch_check(branch)(value, run) is None), None)

    def union_check(self, schema: Document) -> Check:
        """The check of ``anyOf`` alone, made once for each schema of the document."""
        key = id(schema["anyOf"])
        if key not in self._unions:
            self._unions[key] = _union([self.branch_check(branch) for branch in schema["anyOf"]])
        return self._unions[key]

    def branch_check(self, branch: Document) -> Check:
        """The check of an alternative, which looks at an object's tags before it looks into anything else."""
        check, tag_check = self.check_of(branch), self.tag_check(branch)
        if tag_check is None:
            return check

        def tags_first(value: Any, run: Run) -> list[Problem] | None:
            found = tag_check(value, run)
            return check(value, run) if found is None else found

        return tags_first

    def tag_check(self, schema: Document) -> Check | None:
        """The check of those properties alone that must be one of a few plain values; None if there are none."""
        while "$ref" in schema and "properties" not in schema:
            schema = self.target(schema)
        tags = [(name, self.check_of(child)) for name, child in schema.get("properties", {}).items() if _is_tag(child)]
        if not tags:
            return None

        def check(value: Any, run: Run) -> list[Problem] | None:
            if type(value) is not dict:
                return None
            found: list[Problem] | None = None
            for name, member_check in tags:
                if name in value and (problems := member_check(value[name], run)) is not None:
                    found = _inside(found, name, problems)
            return found

        return check

    def _compiled(self, schema: Document) -> Check:
        parts: list[Check] = []
        listed = "enum" in schema or "const" in schema  # says more than a type beside it, and says it better
        for keyword, make in SCALARS.items():
            if keyword in schema and not (listed and keyword == "type" and _covered(schema)):
                parts.append(make(schema[keyword]))
        if "$ref" in schema:
            parts.append(self.check_of(self.target(schema)))
        if "required" in schema or "properties" in schema or "additionalProperties" in schema:
            parts.append(self._object(schema))
        if "items" in schema:
            parts.append(self._items(schema["items"]))
        if "anyOf" in schema:
            parts.append(self.union_check(schema))
        return _all(parts, typed="type" in schema)

    def _object(self, schema: Document) -> Check:
        required = tuple(schema.get("required", ()))
        checks = {name: self.check_of(child) for name, child in schema.get("properties", {}).items()}
        additional = schema.get("additionalProperties", True)
        others = self.check_of(additional) if isinstance(additional, dict) else fits
        closed = additional is False
        known = checks.get
        unknown = _unknown(checks)

        def check(value: Any, run: Run) -> list[Problem] | None:
            if type(value) is not dict:
                return None
            found: list[Problem] | None = None
            for name in required:
                if name not in value:
                    found = _found(found, Problem((name,), "is required"))
                    if len(found) >= run.enough:
                        return found
            for name, member in value.items():
                member_check = known(name)
                if member_check is None:
                    if closed:
                        found = _found(found, Problem((name,), unknown))
                        if len(found) >= run.enough:
                            return found
                        continue
                    member_check = others
                problems = member_check(member, run)
                if problems is not None:
                    found = _inside(found, name, problems)
                    if len(found) >= run.enough:
                        return found
            return found

        return check

    def _items(self, schema: Document) -> Check:
        item_check = self.check_of(schema)

        def check(value: Any, run: Run) -> list[Problem] | None:
            if type(value) is not list:
                return None
            found: list[Problem] | None = None
            for index, item in enumerate(value):
                problems = item_check(item, run)
                if problems is not None:
                    found = _inside(found, index, problems)
                    if len(found) >= run.enough:
                        return found
            return found

        return check


def _covered(schema: Document) -> bool:
    members = schema["enum"] if "enum" in schema else [schema["const"]]
    of_type = type_check(schema["type"])
    return all(of_type(member, Run()) is None for member in members)


def _is_tag(schema: Document) -> bool:
    members = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else [[]]
    return not any(isinstance(member, (dict, list)) for member in members)


def _found(found: list[Problem] | None, problem: Problem) -> list[Problem]:
    if found is None:
        return [problem]
    found.append(problem)
    return found


def _inside(found: list[Problem] | None, step: str | int, problems: list[Problem]) -> list[Problem]:
    moved = [Problem((step, *steps), message, reach) for steps, message, reach in problems]
    if found is None:
        return moved
    found += moved
    return found


def _unknown(known: Mapping[str, Any]) -> str:
    if not known:
        return "is not a known property; none is allowed here"
    names = list(known)
    return f"is not a known property; known are {', '.join(names[:12])}{', …' if len(names) > 12 else ''}"


def _all(parts: list[Check], *, typed: bool) -> Check:
    """Every part must fit; a value of the wrong type is reported as that and nothing else."""
    if not parts:
        return fits
    if len(parts) == 1:
        return parts[0]
    first, rest = parts[0], parts[1:]
    if len(rest) == 1:
        second = rest[0]

        def check_both(value: Any, run: Run) -> list[Problem] | None:
            found = first(value, run)
            if found is None:
                return second(value, run)
            if typed:
                return found
            problems = second(value, run)
            return found if problems is None else found + problems

        return check_both

    def check(value: Any, run: Run) -> list[Problem] | None:
        found = first(value, run)
        if found is not None and typed:
            return found
        for part in rest:
            problems = part(value, run)
            if problems is not None:
                found = problems if found is None else found + problems
        return found

    return check


def _union(branches: list[Check]) -> Check:
    def check(value: Any, run: Run) -> list[Problem] | None:
        if type(value) not in (dict, list):
            return tried(value, run)
        key = (id(branches), id(value))
        known = run.get(key)
        if known is None:
            known = run[key] = (value, tried(value, run))
        return known[1]

    def tried(value: Any, run: Run) -> list[Problem] | None:
        found: list[list[Problem]] = []
        for branch in branches:
            problems = branch(value, run)
            if problems is None:
                return None
            found.append(problems)
        return explain_union(found)

    return check
