"""Phase 10: is what came back what was promised?

Source: core rules §15 (OUT-2, OUT-3).
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from surface.canonical import NotJSON, json_text
from surface.invocation.failures import Refused
from surface.values import InvocationResult

if TYPE_CHECKING:
    from surface.invocation.call import Call

logger = logging.getLogger("surface")


def settle_output(call: Call, value: Any) -> InvocationResult:
    """Check a handler's output against its schema and the size limit, and settle the call with it."""
    schema = call.capability.output
    if schema is None and value is None:
        return call.settle()
    shared = True
    if schema is not None:
        dumped = schema.dump(value)
        if dumped.issues:
            raise _invalid(call, "; ".join(f"{issue.path or 'output'}: {issue.message}" for issue in dumped.issues))
        shared, value = dumped.value is value, dumped.value
    try:
        text = json_text(value)
    except NotJSON as problem:
        raise _invalid(call, str(problem)) from None
    size = len(text) if text.isascii() else len(text.encode())
    limit = call.core.limits.max_output_bytes
    if size > limit:
        message = f"The output has {size} bytes of JSON; at most {limit} can be delivered. Ask for less."
        raise Refused("EXECUTION_FAILED", {"reason": "output-too-large"}, message=message)
    if shared and type(value) in (dict, list):
        value = json.loads(text)  # a copy: what was delivered must not change with the handler's own state
    return call.settle(output=value, has_output=True)


def _invalid(call: Call, problem: str) -> Refused:
    logger.error("%s returned an output that does not fit: %s", call.capability_id, problem)
    return Refused(
        "EXECUTION_FAILED",
        {"reason": "output-invalid"},
        message="The capability returned something that does not fit its declared output.",
    )
