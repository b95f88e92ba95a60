"""A schema written as raw JSON Schema, validated by jsonschema (Draft 2020-12); imported only where one is used."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from pydantic import BaseModel

from surface.canonical import json_problem
from surface.contract.formats import FORMATS
from surface.contract.schema_fill import Defaults, check_defaults
from surface.contract.schema_gate import Gate
from surface.contract.schema_issue import Parsed
from surface.contract.schema_scalars import Run
from surface.contract.schema_subset import Document, check_subset, subschemas, unsupported


class RawEngine:
    """Documents, parsing and dumping for one JSON Schema; input and output document are the same."""

    def __init__(self, document: Any) -> None:
        document = copy.deepcopy(document)
        check_subset(document)
        try:
            jsonschema.Draft202012Validator.check_schema(document)
        except jsonschema.SchemaError as error:
            keyword = next((step for step in reversed(error.absolute_path) if isinstance(step, str)), "schema")
            raise unsupported("#", keyword, error.message) from None
        self.document: Document = document
        self.output_document: Document = document
        plain = _anonymous(document)
        self._gate = Gate(plain)
        self._defaults = Defaults(self._gate, in_alternatives=False)
        check_defaults(self._gate, self._defaults)
        self._validator = _validator_class(self._gate)(plain, format_checker=_FORMAT_CHECKER)

    def parse(self, value: Any, text: str | None) -> Parsed:
        """``value`` with its defaults if it fits, else its issues."""
        del text
        found = self._found(value)
        return found if found.issues else Parsed(self._defaults.fill(value))

    def with_defaults(self, value: Any) -> Any:
        """``value`` plus published defaults."""
        return self._defaults.fill(value)

    def dump(self, value: Any) -> Parsed:
        """``value`` itself where it is JSON and fits; a model's instance is written as JSON first."""
        if isinstance(value, BaseModel):
            value = value.model_dump(mode="json", by_alias=True, warnings=False)
        if (problem := json_problem(value)) is not None:
            return Parsed.failed([((), f"is no JSON value: it contains {problem}")])
        found = self._found(value)
        return found if found.issues else Parsed(value)

    def _found(self, value: Any) -> Parsed:
        """The gate tells what does not fit in the words and paths of SCHEMA-11; jsonschema has the last word."""
        problems = self._gate.check(value)
        if problems is not None:
            return Parsed.failed((problem.steps, problem.message) for problem in problems)
        return Parsed.failed(
            (tuple(error.absolute_path), error.message) for error in self._validator.iter_errors(value)
        )


def _multiple_of(_validator: Any, unit: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """As decimal text means it, like everywhere else here: 0.3 is a multiple of 0.1."""
    for problem in Gate({"multipleOf": unit}).check(value) or ():
        yield ValidationError(problem.message)


def _unique_items(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """In one pass: jsonschema compares every two items that it cannot sort, which an agent could make it pay for."""
    for problem in Gate({"uniqueItems": wanted}).check(value) or ():
        yield ValidationError(problem.message)


def _validator_class(gate: Gate) -> Any:
    """jsonschema's validator, except where its cost grows faster than the value: it would look into every alternative
    at every level, so the gate, which knows the same document, answers for ``anyOf``."""

    def any_of(_validator: Any, _branches: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        for problem in gate.union_check(schema)(value, Run()) or ():
            yield ValidationError(problem.message, path=problem.steps)

    keywords = {"multipleOf": _multiple_of, "uniqueItems": _unique_items, "anyOf": any_of}
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, keywords)


_FORMAT_CHECKER = jsonschema.FormatChecker(formats=())
for _name, _format in FORMATS.items():
    _FORMAT_CHECKER.checkers[_name] = (
        lambda value, accepts=_format.accepts: not isinstance(value, str) or accepts(value),
        (),
    )


def _anonymous(document: Document) -> Document:
    """The document without ``$id`` and ``$schema``, both tolerated and ignored: an id would move references."""
    anonymous = copy.deepcopy(document)
    pending = [anonymous]
    while pending:
        schema = pending.pop()
        schema.pop("$id", None)
        schema.pop("$schema", None)
        pending.extend(child for _, child in subschemas(schema))
    return anonymous
