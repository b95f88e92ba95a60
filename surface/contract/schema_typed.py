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
from surface.contract.schema_core import input_validator, instance_serializer, instance_validator, is_plain
from surface.contract.schema_document import inner_document, input_document, output_document
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

    @property
    def document(self) -> Document:
        """What an input must be (validation mode)."""
        return self._input.document

    @cached_property
    def output_document(self) -> Document:
        """What an output is (serialisation mode, computed fields included)."""
        return output_document(self._adapter)

    def parse(self, value: Any, text: str | None) -> Parsed:
        """The typed value of a JSON value, or its issues."""
        return self._input.read(value, text)

    def with_defaults(self, value: Any) -> Any:
        """``value`` plus published defaults."""
        return self._input.fill(value)

    def dump(self, value: Any) -> Parsed:
        """The JSON to deliver for what a handler returned (OUT-2)."""
        try:
            text = None if isinstance(value, BaseModel) else json_text(value)
        except NotJSON:
            text = None
        parsed = self._parse_instance(value) if text is None else self._returned.read(value, text)
        if parsed.issues:
            return parsed
        try:
            dumped = parsed.value if text is not None and self._plain else self._serialised(parsed.value, text is None)
        except Exception:
            return _crashed()
        # what JSON was made of stays JSON; an instance may hold what only looks like it, such as NaN
        if text is None and (problem := json_problem(dumped)) is not None:
            return Parsed.failed([((), f"is no JSON value: it contains {problem}")])
        problems = self._output_gate.check(dumped)
        return Parsed(dumped) if problems is None else _failed(problems)

    def _serialised(self, value: Any, from_instance: bool) -> Any:
        serializer = self._instance_serializer if from_instance else self._adapter.serializer
        return serializer.to_python(value, mode="json", by_alias=True, warnings=False)

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
    def _input(self) -> _Reader:
        reader = _Reader(input_document(self._adapter), self._from_json)
        check_defaults(reader.gate, reader.defaults)
        return reader

    @cached_property
    def _returned(self) -> _Reader:
        """Reads what handlers return as JSON. A type that is only returned need not do as an input: it may have
        defaults that no document can carry."""
        try:
            return self._input
        except SurfaceDefinitionError:
            return _Reader(inner_document(self._adapter.core_schema), self._from_json)

    @cached_property
    def _output_gate(self) -> Gate:
        return Gate(self.output_document)

    @cached_property
    def _plain(self) -> bool:
        """Whether what JSON was read as is JSON already: pydantic's serialiser, which in a browser goes fewer than 64
        levels deep, then has nothing to do."""
        return is_plain(self._adapter.core_schema)

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


class _Reader:
    """Turns JSON values that fit a document into Python values."""

    __slots__ = ("_from_json", "defaults", "document", "fill", "gate")

    def __init__(self, document: Document, from_json: Callable[[str], Any]) -> None:
        self.document = document
        self.gate = Gate(document)
        self.defaults = Defaults(self.gate, in_alternatives=True)
        self.fill = self.defaults.fill
        self._from_json = from_json

    def read(self, value: Any, text: str | None) -> Parsed:
        problems = self.gate.check(value)
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
            return Parsed(self._from_json(_encode(spelled(self.gate, self.fill(value)))))
        except ValidationError as error:
            return Parsed.failed(_refused(error, value))
        except Exception:
            return _crashed()


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


def _acceptor(alternative: CoreSchema) -> tuple[Callable[[Any], bool], Callable[[Any], bool]]:
    gate = Gate(inner_document(alternative))
    return gate.fits, gate.glance()


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
