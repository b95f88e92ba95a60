"""What a WebMCP tool answers: the result envelope, as the one text that crosses to JavaScript (03, "Calls").

``{content: [{type: "text", text}], structuredContent?, isError?}``. On success ``text`` is the JSON of the output and
``structuredContent`` the output itself where it is an object; a failure carries ``{code, message, retry, details}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surface.values import InvocationError, InvocationResult

# Nothing is inspected again: what the registry answers is JSON already, with no lone surrogate in it.
_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_quoted = json.encoder.encode_basestring


def envelope_text(result: InvocationResult) -> str:
    """The JSON text of the envelope for a result of the registry.

    >>> envelope_text(InvocationResult("ok", "inv_1", "view:a.b", "1", output=3, has_output=True))
    '{"content":[{"type":"text","text":"3"}]}'
    """
    return output_text(result.output) if result.error is None else error_text(result.error)


def output_text(output: Any) -> str:
    """The envelope of a success; no output is ``null``."""
    text = _text(output)
    content = f'[{{"type":"text","text":{_quoted(text)}}}]'
    structured = f',"structuredContent":{text}' if isinstance(output, Mapping) else ""
    return f'{{"content":{content}{structured}}}'


def error_text(error: InvocationError) -> str:
    """The envelope of a typed error; ``details`` is always there, empty where there are none."""
    text = _text({**error.to_wire(), "details": dict(error.details or {})})
    content = f'[{{"type":"text","text":{_quoted(text)}}}]'
    return f'{{"content":{content},"isError":true,"structuredContent":{{"error":{text}}}}}'
