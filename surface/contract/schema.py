"""Schemas: what an input or an output must be, made from a Python type or from raw JSON Schema (core rules §2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, Protocol

from typing_extensions import TypedDict

from surface.contract.schema_issue import Issue, Parsed
from surface.contract.schema_reduce import reduced
from surface.contract.schema_subset import Document, document_bytes, document_depth, unsupported
from surface.contract.schema_typed import TypedEngine
from surface.errors import SurfaceDefinitionError
from surface.ids import CONFIRMATION_PROPERTY

__all__ = ["EMPTY_OBJECT", "Issue", "Parsed", "Schema"]


class _Engine(Protocol):
    @property
    def document(self) -> Document: ...
    @property
    def output_document(self) -> Document: ...
    def parse(self, value: Any, text: str | None) -> Parsed: ...
    def with_defaults(self, value: Any) -> Any: ...
    def dump(self, value: Any) -> Parsed: ...


class Schema:
    """An agent-visible document and the values it stands for; immutable (SCHEMA-1).

    >>> Schema.of(list[int]).document
    {'items': {'type': 'integer'}, 'type': 'array'}
    >>> Schema.of(list[int]).parse([1, "2"]).issues
    (Issue(path='[1]', message='must be an integer'),)
    """

    __slots__ = ("_engine", "_name")

    def __init__(self, engine: _Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    @classmethod
    def of(cls, tp: Any) -> Schema:
        """The schema of any type pydantic understands; a `Schema` is answered as it is.

        Raises `SurfaceDefinitionError`: UNSUPPORTED_SCHEMA where the type has no JSON form, INVALID_DEFINITION where
        it cannot be resolved.
        """
        return tp if isinstance(tp, Schema) else cls(TypedEngine(tp), getattr(tp, "__name__", None) or repr(tp))

    @classmethod
    def from_json_schema(cls, document: Mapping[str, Any]) -> Schema:
        """The schema a JSON Schema document (Draft 2020-12, the subset of SCHEMA-2) describes; it is copied.

        Values are validated with jsonschema and handed on as they are, defaults filled in. Raises UNSUPPORTED_SCHEMA
        naming the place and the keyword.
        """
        from surface.contract.schema_raw import RawEngine

        return cls(RawEngine(dict(document) if isinstance(document, Mapping) else document), "JSON Schema")

    @property
    def document(self) -> Document:
        """The published input document. Read-only by agreement: it is the same object every time."""
        return self._engine.document

    @property
    def output_document(self) -> Document:
        """The published output document; the same as `document` for raw schemas."""
        return self._engine.output_document

    def check(
        self, *, direction: Literal["input", "output"], max_bytes: int, max_depth: int, path: str, must_be_object: bool
    ) -> None:
        """Hold the document against a registry's limits (SCHEMA-4) and what its place asks of it (SCHEMA-5, TOOLSET-4).

        Raises UNSUPPORTED_SCHEMA, or INVALID_DEFINITION for the reserved property, naming ``path`` and the keyword.
        """
        place = f"{path}({direction})"
        document = self.published(direction, path)
        if must_be_object and document.get("type") != "object":
            problem = f"an {direction} is an object; give {self._name} a name as a property of one"
            raise unsupported(f"{place}#", "type", problem)
        if direction == "input" and CONFIRMATION_PROPERTY in document.get("properties", {}):
            problem = f"the property {CONFIRMATION_PROPERTY} is reserved for confirmations; choose another name"
            raise SurfaceDefinitionError("INVALID_DEFINITION", problem, place)
        if (size := document_bytes(document)) > max_bytes:
            raise unsupported(f"{place}#", "schema", f"the document has {size} bytes; at most {max_bytes} are allowed")
        if (depth := document_depth(document)) > max_depth:
            raise unsupported(f"{place}#", "schema", f"the document is {depth} deep; at most {max_depth} are allowed")

    def published(self, direction: Literal["input", "output"], path: str) -> Document:
        """The document of one direction; an error in it names ``path`` too."""
        try:
            return self.document if direction == "input" else self.output_document
        except SurfaceDefinitionError as error:
            raise SurfaceDefinitionError(error.code, error.message, f"{path}({direction}){error.path}") from None

    def parse(self, value: Any, text: str | None = None) -> Parsed:
        """The typed value of a JSON value, defaults applied, or its issues; never raises.

        ``value`` must be known to be JSON; ``text`` is its compact JSON text if the caller has it.
        """
        return self._engine.parse(value, text)

    def with_defaults(self, value: Any) -> Any:
        """The effective input: ``value`` plus published defaults at every depth (SCHEMA-9, INPUT-3a).

        ``value`` is left untouched; where nothing was missing, the answer may share parts with it or be it.
        """
        return self._engine.with_defaults(value)

    def dump(self, value: Any) -> Parsed:
        """The JSON to deliver for what a handler returned, or the issues why it is not what was declared (OUT-2);
        never raises."""
        return self._engine.dump(value)

    def without(self, locked: Collection[str], hinted: Collection[str]) -> Document:
        """The reduced input document (INPUT-6): no ``locked`` properties, ``hinted`` ones optional and marked."""
        return reduced(self.document, locked, hinted)

    def __repr__(self) -> str:
        return f"<Schema of {self._name}>"


class _Nothing(TypedDict):
    pass  # a docstring would be published as the description


EMPTY_OBJECT = Schema.of(_Nothing)
"""The closed object without properties (SCHEMA-1)."""
