"""Phase 5: what the handler will be called with (§10)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from surface.invocation.failures import Refused

if TYPE_CHECKING:
    from surface.invocation.call import Call


def take_input(call: Call) -> None:
    """Parse the input against the capability's schema; observations ignore it (INPUT-1, INPUT-2)."""
    if call.capability.kind == "observation":
        return
    text = "{}" if call.request.input is None else call.fingerprint[2]
    value = json.loads(text)  # what was asked for, whatever the caller does with its object meanwhile
    parsed = call.capability.input.parse(value, text)
    if parsed.issues:
        raise Refused("INVALID_INPUT", {"issues": [issue.to_wire() for issue in parsed.issues]})
    call.accepted = value
    call.arguments = call.capability.signature.bind(parsed.value)
