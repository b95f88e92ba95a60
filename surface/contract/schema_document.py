"""The documents of a Python type: pydantic's JSON Schema, rewritten into the published subset where nothing is lost
(SCHEMA-5, SCHEMA-5a), with every default in it (SCHEMA-9, INPUT-3a)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

from surface.contract.schema_subset import REF_PREFIX, Document, check_subset, subschemas, unsupported
from surface.errors import SurfaceDefinitionError

_DROPPED = ("title", "readOnly", "writeOnly")
_UUIDS = frozenset(f"uuid{version}" for version in range(1, 9))


def typed_document(adapter: TypeAdapter[Any], mode: Literal["validation", "serialization"]) -> Document:
    """The document that agents see for what ``adapter`` validates or serialises; UNSUPPORTED_SCHEMA or
    INVALID_DEFINITION where the type needs more than the subset has."""
    try:
        document = adapter.json_schema(
            by_alias=True, mode=mode, schema_generator=_Generator, ref_template=REF_PREFIX + "{model}"
        )
    except PydanticInvalidForJsonSchema as problem:
        raise unsupported("#", "type", f"this type has no JSON Schema: {problem.message}") from None
    except PydanticUserError as problem:
        raise SurfaceDefinitionError("INVALID_DEFINITION", problem.message, "#") from None
    _rewrite(document)
    document = _inlined_root(document)
    check_subset(document)
    return document


class _Generator(GenerateJsonSchema):
    """pydantic's generator, told to publish what it would leave out and to refuse what it would leave unsaid."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        document = super().default_schema(schema)
        factory = schema.get("default_factory")
        if factory is None:
            return document
        if not schema.get("default_factory_takes_data"):
            made = _made(factory, self.by_alias)
            if made in ([], {}):
                return {**document, "default": made}
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION",
            f"default_factory={getattr(factory, '__name__', factory)} must yield an empty list or object: any other "
            "default could change between a request and its confirmation. Publish a plain default instead",
            "#",
        )

    def encode_default(self, dft: Any) -> Any:
        try:
            return to_jsonable_python(dft, by_alias=self.by_alias, round_trip=True)
        except PydanticSerializationError:
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", f"the default {dft!r} has no JSON form, so it cannot be published", "#"
            ) from None

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        keys = schema.get("keys_schema", {"type": "any"})
        if keys["type"] not in ("str", "any"):
            raise unsupported("#", "propertyNames", "the keys of an object are plain text; use dict[str, …]")
        return super().dict_schema(schema)

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        if schema.get("tz_constraint") == "naive":
            raise unsupported("#", "format", "date-times have an offset in JSON, which this naive datetime refuses")
        return super().datetime_schema(schema)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        document = super().tagged_union_schema(schema)
        document.pop("discriminator", None)
        if "oneOf" in document:
            document["anyOf"] = document.pop("oneOf")
        return document

    def emit_warning(self, kind: Any, detail: str) -> None:
        if kind == "skipped-choice":
            raise unsupported("#", "anyOf", detail)


def _made(factory: Any, by_alias: bool) -> Any:
    try:
        return to_jsonable_python(factory(), by_alias=by_alias, round_trip=True)
    except Exception:
        return None


def _rewrite(schema: Any) -> None:
    """Rewrite a schema in place; what is no schema is left for the subset check to refuse."""
    if not isinstance(schema, dict):
        return
    for keyword in _DROPPED:
        schema.pop(keyword, None)
    if schema.get("format") in _UUIDS:
        schema["format"] = "uuid"
    if schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    for _, child in subschemas(schema):
        _rewrite(child)


def _inlined_root(document: Document) -> Document:
    """A recursive type's document is a lone reference; agents expect ``type`` and ``properties`` at the top."""
    ref = document.get("$ref", "")
    if not ref.startswith(REF_PREFIX):
        return document
    root = {keyword: value for keyword, value in document.items() if keyword not in ("$ref", "$defs")}
    definitions = document.get("$defs", {})
    name = ref.removeprefix(REF_PREFIX).replace("~1", "/").replace("~0", "~")
    return {**definitions.get(name, {"$ref": ref}), **root, "$defs": definitions}
