"""Phase 5: what the handler will be called with (§10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surface.invocation.failures import Refused

if TYPE_CHECKING:
    from surface.invocation.call import Call


def take_input(call: Call) -> None:
    """Parse the input against the capability's schema; observations ignore it (INPUT-1, INPUT-2)."""
    if call.capability.kind == "observation":
        return
    value = {} if call.request.input is None else call.request.input
    parsed = call.capability.input.parse(value)
    if parsed.issues:
        raise Refused("INVALID_INPUT", {"issues": [issue.to_wire() for issue in parsed.issues]})
    call.accepted = value
    call.arguments = call.capability.signature.bind(parsed.value)
