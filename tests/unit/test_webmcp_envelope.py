"""The result envelope of a tool, as text."""

from __future__ import annotations

import json

import pytest

from surface import InvocationError, InvocationResult
from webmcp.envelope import envelope_text


def envelope(output=None, *, has_output=True, error=None):
    status = "ok" if error is None else "error"
    result = InvocationResult(status, "inv_1", "view:a.b", "1", output=output, has_output=has_output, error=error)
    return json.loads(envelope_text(result))


def test_no_output_is_null_and_carries_no_structured_content():
    assert envelope(has_output=False) == {"content": [{"type": "text", "text": "null"}]}


@pytest.mark.parametrize("output", [3, 1.5, "text", True, None, [1, 2], '"quoted" \\ \n  ü 😀'])
def test_an_output_that_is_no_object_is_text_only(output):
    made = envelope(output)
    assert set(made) == {"content"}
    assert json.loads(made["content"][0]["text"]) == output


def test_an_object_is_structured_content_too():
    output = {"a": {"b": [1, None, "ü"]}}
    made = envelope(output)
    assert made["structuredContent"] == output
    assert json.loads(made["content"][0]["text"]) == output
    assert "isError" not in made


def test_an_error_carries_code_message_retry_and_details_in_both_forms():
    error = InvocationError("TIMEOUT", "Too long", "yes", {"timeoutMs": 5})
    made = envelope(error=error)
    expected = {"code": "TIMEOUT", "message": "Too long", "retry": "yes", "details": {"timeoutMs": 5}}
    assert made["isError"] is True
    assert made["structuredContent"] == {"error": expected}
    assert json.loads(made["content"][0]["text"]) == expected


def test_an_error_without_details_has_empty_ones():
    made = envelope(error=InvocationError("CANCELLED", "Gone", "no"))
    assert made["structuredContent"]["error"]["details"] == {}
