"""Phase 7: does the state of the page allow this now, and has a person approved it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surface.errors import AUTHOR_ERRORS, MAX_MESSAGE, PreconditionFailed
from surface.invocation.contexts import context_of
from surface.invocation.failures import Refused, from_handler

if TYPE_CHECKING:
    from surface.invocation.call import Call


def check_precondition(call: Call) -> None:
    """None and True pass; False, a message or a raised `PreconditionFailed` do not (INPUT-7)."""
    precondition = call.capability.precondition
    if precondition is None:
        return
    args, kwargs = call.arguments
    ctx = context_of(call) if precondition.wants_context else None
    try:
        answer = precondition(call.registration.component, args, kwargs, ctx)
    except PreconditionFailed as failed:
        failed.message = failed.message[:MAX_MESSAGE] if isinstance(failed.message, str) else ""
        raise from_handler(failed, call.capability_id) from None
    except AUTHOR_ERRORS as error:
        raise from_handler(error, call.capability_id) from None
    if answer is None or answer is True:
        return
    if answer is False or isinstance(answer, str):
        raise Refused("PRECONDITION_FAILED", message=answer[:MAX_MESSAGE] if answer else None)
    raise from_handler(TypeError(f"precondition answered {answer!r}, not a bool or a text"), call.capability_id)
