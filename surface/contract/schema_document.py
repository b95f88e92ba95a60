"""The documents of a Python type: pydantic's JSON Schema, rewritten into the published subset where nothing is lost
(SCHEMA-5, SCHEMA-5a), with every default in it (SCHEMA-9, INPUT-3a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, to_jsonable_python

from surface.contract.schema_subset import REF_PREFIX, Document, check_subset, subschemas, unsupported
from surface.errors import SurfaceDefinitionError

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import CoreSchema, core_schema

_DROPPED = ("title", "readOnly", "writeOnly")
_UUIDS = frozenset(f"uuid{version}" for version in range(1, 9))
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_MAPPINGS = frozenset({"dict", "frozendict", "ordered-dict", "counter"})
_FIELDS = frozenset({"model-field", "dataclass-field", "typed-dict-field"})
_PROBLEM = "x-problem"  # left by the generator, which does not know where it is, for the rewriting, which does


def input_document(adapter: TypeAdapter[Any]) -> Document:
    """The document that agents see for what ``adapter`` validates.

    Raises UNSUPPORTED_SCHEMA where the type needs more than the subset has, INVALID_DEFINITION where a default could
    not be published.
    """
    document = _generated(adapter.core_schema, "validation", _InputGenerator)
    check_subset(document)
    return document


def output_document(adapter: TypeAdapter[Any]) -> Document:
    """The document that agents see for what ``adapter`` serialises; UNSUPPORTED_SCHEMA as above."""
    document = _generated(adapter.core_schema, "serialization", _Generator)
    check_subset(document)
    return document


def inner_document(schema: CoreSchema) -> Document:
    """What a type, or a part of one, takes as JSON, for our own use: outside the subset it says less than it could."""
    return _generated(schema, "validation", _InnerGenerator)


def _generated(
    schema: CoreSchema, mode: Literal["validation", "serialization"], generator: type[GenerateJsonSchema]
) -> Document:
    try:
        document = generator(by_alias=True, ref_template=REF_PREFIX + "{model}").generate(schema, mode)
    except PydanticInvalidForJsonSchema as problem:
        raise unsupported("#", "type", f"this type has no JSON Schema: {problem.message}") from None
    except PydanticUserError as problem:
        raise SurfaceDefinitionError("INVALID_DEFINITION", problem.message, "#") from None
    _rewrite(document, "#")
    return _inlined_root(document)


class _Generator(GenerateJsonSchema):
    """pydantic's generator, told to publish defaults in the form that is accepted, and alternatives as ``anyOf``."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        try:
            return super().default_schema(schema)
        except _Unpublishable:
            return self.generate_inner(schema["schema"])

    def get_default_value(self, schema: core_schema.WithDefaultSchema) -> Any:
        factory: Any = schema.get("default_factory")
        if factory is None:
            return super().get_default_value(schema)
        try:
            made = to_jsonable_python(factory(), round_trip=True)
        except Exception:  # also one that wants the data of other fields
            made = None
        if made in ([], {}):
            return made
        raise _Unpublishable(
            f"default_factory={getattr(factory, '__name__', factory)} must yield an empty list or object: any other "
            "default could change between a request and its confirmation; give a plain default instead"
        )

    def encode_default(self, dft: Any) -> Any:
        try:
            return to_jsonable_python(dft, by_alias=self.by_alias, round_trip=True)
        except PydanticSerializationError:
            raise _Unpublishable(f"the default {dft!r} has no JSON form, so it cannot be published") from None

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        document = super().decimal_schema(schema)
        for choice in document.get("anyOf", [document]):
            if choice.get("type") == "string":
                choice.setdefault("pattern", _DECIMAL)
        return document

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        if schema.get("tz_constraint") == "naive":
            return _problem("UNSUPPORTED_SCHEMA", "format", "a date-time in JSON has an offset, a naive one has none")
        return super().datetime_schema(schema)

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        return _problem("UNSUPPORTED_SCHEMA", "type", "a complex number has no form in JSON")

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        document = super().tagged_union_schema(schema)
        document.pop("discriminator", None)
        if "oneOf" in document:
            document["anyOf"] = document.pop("oneOf")
        return document

    def emit_warning(self, kind: Any, detail: str) -> None:
        if kind == "skipped-choice":
            raise unsupported("#", "anyOf", f"one of the alternatives has no JSON Schema: {detail}")


class _InputGenerator(_Generator):
    """Also refuses what would be left unsaid although the validator insists on it."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        try:
            return super(_Generator, self).default_schema(schema)
        except _Unpublishable as problem:
            return _problem("INVALID_DEFINITION", "default", str(problem))

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        kind = schema["type"]
        if kind in _MAPPINGS and schema.get("keys_schema", {"type": "any"})["type"] not in ("str", "any"):
            return _problem("UNSUPPORTED_SCHEMA", "propertyNames", "the keys of an object are text; use dict[str, …]")
        if kind in _FIELDS and isinstance(alias := schema.get("validation_alias"), list):
            paths = alias if isinstance(alias[0], list) else [alias]
            if all(len(path) > 1 for path in paths):
                return _problem("INVALID_DEFINITION", "properties", "an AliasPath names no property; use a plain alias")
        return super().generate_inner(schema)


class _InnerGenerator(_Generator):
    """Says nothing about what has no JSON Schema, instead of refusing it."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        return {}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return super(_Generator, self).datetime_schema(schema)

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        return super(_Generator, self).complex_schema(schema)


class _Unpublishable(Exception):
    """A default that no document can carry."""


def _problem(code: str, keyword: str, problem: str) -> JsonSchemaValue:
    return {_PROBLEM: [code, keyword, problem]}


def _rewrite(schema: Any, pointer: str) -> None:
    """Rewrite a schema in place; what is no schema is left for the subset check to refuse."""
    if not isinstance(schema, dict):
        return
    if _PROBLEM in schema:
        code, keyword, problem = schema[_PROBLEM]
        raise SurfaceDefinitionError(code, f"{keyword!r} at {pointer}: {problem}", pointer)
    for keyword in _DROPPED:
        schema.pop(keyword, None)
    if schema.get("format") in _UUIDS:
        schema["format"] = "uuid"
    if schema.get("type") == "object" and "patternProperties" not in schema:
        schema.setdefault("additionalProperties", False)
    for step, child in subschemas(schema):
        _rewrite(child, pointer + step)


def _inlined_root(document: Document) -> Document:
    """A recursive type's document is a lone reference; agents expect ``type`` and ``properties`` at the top."""
    ref = document.get("$ref", "")
    if not ref.startswith(REF_PREFIX):
        return document
    root = {keyword: value for keyword, value in document.items() if keyword not in ("$ref", "$defs")}
    definitions = document.get("$defs", {})
    name = ref.removeprefix(REF_PREFIX).replace("~1", "/").replace("~0", "~")
    return {**definitions.get(name, {"$ref": ref}), **root, "$defs": definitions}
