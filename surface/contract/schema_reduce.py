"""What is left of an input document once the page has bound some of its properties (INPUT-6)."""

from __future__ import annotations

from collections.abc import Collection

from surface.contract.schema_subset import Document

HINT = "defaults to the UI value"


def reduced(document: Document, locked: Collection[str], hinted: Collection[str]) -> Document:
    """``document`` without ``locked`` properties; ``hinted`` ones become optional and say where they default to."""
    properties = {
        name: _hinted(schema) if name in hinted else schema
        for name, schema in document.get("properties", {}).items()
        if name not in locked
    }
    if not properties:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    result = {**document, "properties": properties}
    required = [name for name in document.get("required", ()) if name not in locked and name not in hinted]
    result.pop("required", None)
    return {**result, "required": required} if required else result


def _hinted(schema: Document) -> Document:
    description = schema.get("description")
    return {**schema, "description": f"{description} ({HINT})" if description else HINT}
