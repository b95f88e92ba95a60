"""A schema made from a Python type: the documents that are published for it, and values in and out of it.

The gate decides whether a value fits (SCHEMA-8); pydantic turns JSON into the author's types, runs the author's own
validators, and writes instances as JSON.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import CoreSchema, SchemaError, SchemaSerializer, SchemaValidator

from surface.canonical import NotJSON, json_problem, json_text
from surface.contract.schema_core import input_validator, instance_serializer, instance_validator
from surface.contract.schema_document import core_document, typed_document
from surface.contract.schema_fill import Defaults, check_defaults, spelled
from surface.contract.schema_gate import Gate
from surface.contract.schema_issue import Parsed, Steps
from surface.contract.schema_problem import Problem
from surface.contract.schema_subset import Document, unsupported
from surface.errors import SurfaceDefinitionError

logger = logging.getLogger("surface")

PYTHON_PATTERNS = ConfigDict(regex_engine="python-re")
"""Patterns as the documents mean them (SCHEMA-6); pydantic's own engine refuses look-around when a type is built."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class TypedEngine:
    """Documents, parsing and dumping for one Python type; documents and validators are made when first asked for."""

    def __init__(self, tp: Any) -> None:
        self._adapter = _adapter(tp)

    @cached_property
    def document(self) -> Document:
        """What an input must be (validation mode)."""
        document = typed_document(self._adapter, "validation")
        gate = Gate(document)
        check_defaults(gate, Defaults(gate, in_alternatives=True))
        return document

    @cached_property
    def output_document(self) -> Document:
        """What an output is (serialisation mode, computed fields included)."""
        return typed_document(self._adapter, "serialization")

    def parse(self, value: Any, text: str | None) -> Parsed:
        """The typed value of a JSON value, or its issues."""
        problems = self._gate.check(value)
        if problems is not None:
            return _failed(problems)
        try:
            return Parsed(self._from_json(text if text is not None else _encode(value)))
        except ValidationError:
            pass
        except Exception:
            return _crashed()
        # The document accepts what pydantic's strict mode does not: spell it for pydantic, with all defaults in place.
        try:
            return Parsed(self._from_json(_encode(spelled(self._gate, self.document, self.with_defaults(value)))))
        except ValidationError as error:
            return Parsed.failed(_refused(error, value))
        except Exception:
            return _crashed()

    def with_defaults(self, value: Any) -> Any:
        """``value`` plus published defaults."""
        return self._defaults.fill(value)

    def dump(self, value: Any) -> Parsed:
        """The JSON to deliver for what a handler returned (OUT-2)."""
        try:
            text = None if isinstance(value, BaseModel) else json_text(value)
        except NotJSON:
            text = None
        parsed = self._parse_instance(value) if text is None else self.parse(value, text)
        if parsed.issues:
            return parsed
        try:
            serializer = self._instance_serializer if text is None else self._adapter.serializer
            dumped = serializer.to_python(parsed.value, mode="json", by_alias=True, warnings=False)
        except Exception:
            return _crashed()
        # what JSON was made of stays JSON; an instance may hold what only looks like it, such as NaN
        if text is None and (problem := json_problem(dumped)) is not None:
            return Parsed.failed([((), f"is no JSON value: it contains {problem}")])
        problems = self._output_gate.check(dumped)
        return Parsed(dumped) if problems is None else _failed(problems)

    def _parse_instance(self, value: Any) -> Parsed:
        """A Python value as the declared type. Instances inside are looked into, yet kept as the handler made them:
        a copy would lose private attributes, from which computed fields may be made."""
        try:
            kept = self._keeping_validator.validate_python(value, by_alias=True, by_name=True)
            self._looking_validator.validate_python(kept, by_alias=True, by_name=True)
        except ValidationError as error:
            return Parsed.failed((line["loc"], _message(line)) for line in _lines(error))
        except Exception:
            return _crashed()
        return Parsed(kept)

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.document)

    @cached_property
    def _output_gate(self) -> Gate:
        return Gate(self.output_document)

    @cached_property
    def _defaults(self) -> Defaults:
        return Defaults(self._gate, in_alternatives=True)

    @cached_property
    def _from_json(self) -> Callable[[str], Any]:
        prepared = input_validator(self._adapter.core_schema, _acceptor)
        if prepared is not None:
            return partial(prepared.validate_json, strict=True, by_alias=True, by_name=False)
        return partial(self._adapter.validator.validate_json, strict=True, extra="forbid", by_alias=True, by_name=False)

    @cached_property
    def _keeping_validator(self) -> SchemaValidator:
        return instance_validator(self._adapter.core_schema, look_inside=False)

    @cached_property
    def _looking_validator(self) -> SchemaValidator:
        return instance_validator(self._adapter.core_schema, look_inside=True)

    @cached_property
    def _instance_serializer(self) -> SchemaSerializer:
        return instance_serializer(self._adapter.core_schema)


BUILD_ERRORS = (PydanticUserError, PydanticUndefinedAnnotation, SchemaError, TypeError, ValueError)
"""What pydantic raises for a type it can make nothing of; `build_error` tells it in our words."""


def build_error(tp: Any, problem: Exception, path: str = "#") -> SurfaceDefinitionError:
    """UNSUPPORTED_SCHEMA for a type without JSON Schema, INVALID_DEFINITION for one that is not even a type."""
    if isinstance(problem, SchemaError):
        keyword = "pattern" if '"str" validator' in str(problem) else "type"
        return unsupported(path, keyword, str(problem).splitlines()[-1].strip())
    if isinstance(problem, PydanticSchemaGenerationError):
        return unsupported(path, "type", problem.message.splitlines()[0])
    message = f"{tp!r} cannot be used as a type: {str(problem).splitlines()[0]}"
    return SurfaceDefinitionError("INVALID_DEFINITION", message, path)


def _adapter(tp: Any) -> TypeAdapter[Any]:
    try:
        adapter = _built(tp)
        if not adapter.pydantic_complete:
            adapter.rebuild()
    except BUILD_ERRORS as problem:
        raise build_error(tp, problem) from None
    return adapter


def _built(tp: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(tp, config=PYTHON_PATTERNS)
    except PydanticUserError as problem:
        if problem.code != "type-adapter-config-unused":
            raise
        return TypeAdapter(tp)  # a model, dataclass or TypedDict brings its own configuration


def _acceptor(alternative: CoreSchema) -> Callable[[Any], bool]:
    check = Gate(core_document(alternative, "validation")).check
    return lambda value: check(value) is None


def _failed(problems: list[Problem]) -> Parsed:
    return Parsed.failed((problem.steps, problem.message) for problem in problems)


def _crashed() -> Parsed:
    """An author's validator or serialiser raised: theirs to fix, and no text for an agent."""
    logger.exception("a validator or a serialiser of a declared type failed")
    return Parsed.failed([((), "could not be processed: code of its type failed")])


def _refused(error: ValidationError, value: Any) -> Iterator[tuple[Steps, str]]:
    """What an author's own validators refused, at paths in the agent's names."""
    for line in _lines(error):
        own_place = line["type"] in ("missing", "extra_forbidden")
        yield _steps(line["loc"], value, own_place=own_place), _message(line)


def _lines(error: ValidationError) -> list[Any]:
    return error.errors(include_url=False, include_input=False, include_context=False)


def _message(line: Any) -> str:
    message: str = line["msg"]
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _steps(loc: Steps, value: Any, *, own_place: bool) -> Steps:
    """pydantic's location without what is no step into the value: union tags and names of validators."""
    steps: list[str | int] = []
    for index, step in enumerate(loc):
        in_object = isinstance(value, dict) and step in value
        if in_object or (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            steps.append(step)
            value = value[step]
        elif own_place and index == len(loc) - 1:
            steps.append(step)
    return tuple(steps)
