"""The way of a call: the ten phases of core rules §8, in order. The first phase that fails answers.

`on_authorize` policies wrap phases 5 to 10, `on_invoke` policies wrap 7 to 10 (POLICY-4a), which is why the pipeline
is three functions, one inside the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from inspect import isawaitable

from surface.invocation.admission import admit
from surface.invocation.approval import ask_approval, weigh_evidence
from surface.invocation.call import Call, Core, Request
from surface.invocation.effective_input import take_input
from surface.invocation.execution import execute, outcome_of
from surface.invocation.failures import Refused, Settled, from_handler
from surface.invocation.identity import identify, new_call
from surface.invocation.onion import apply_policies, authorize
from surface.invocation.precondition import check_precondition
from surface.invocation.records import record_started
from surface.invocation.resolution import check_available, resolve
from surface.invocation.settlement import settle_output
from surface.values import InvocationResult


async def invoke(core: Core, request: Request) -> InvocationResult:
    """Take one request through the phases; returns a result and raises nothing but a cancellation of the awaiting
    task, which settles the call first (PIPE-1)."""
    call = new_call(core, request)
    earlier: Awaitable[InvocationResult] | InvocationResult | None = None
    try:
        earlier = identify(call)  # 1
        if earlier is None:
            call.begin()
            resolve(call)  # 2
            record_started(call)
            check_available(call)  # 3
            await authorize(call, _authorized)  # 4
    except Refused as refused:
        call.begin()
        call.settle(error=refused.error)
    except Settled:
        pass
    except asyncio.CancelledError:
        settle_cancelled(call)
        raise
    except BaseException as error:
        # The last resort: whatever went wrong, the call settles, and whoever joined it hears of it.
        call.settle(error=from_handler(error, call.capability_id).error)
        if isinstance(error, KeyboardInterrupt):
            raise
    finally:
        call.done()
    if earlier is not None:
        return await earlier if isawaitable(earlier) else earlier
    assert call.result is not None
    return call.result


async def _authorized(call: Call) -> None:
    take_input(call)  # 5
    await apply_policies(call, _permitted)  # 6


async def _permitted(call: Call) -> None:
    weigh_evidence(call)  # still 6
    check_precondition(call)  # 7
    ask_approval(call)
    await admit(call)  # 8
    output = await execute(call)  # 9
    settle_output(call, output)  # 10


def settle_cancelled(call: Call) -> None:
    """The awaiting task is being cancelled: settle with what the handler came to, if it had just ended, else
    CANCELLED."""
    if call.task is not None and call.task.done() and call.result is None:
        try:
            settle_output(call, outcome_of(call, call.task.result))
        except Refused as refused:
            call.settle(error=refused.error)
    call.cancelled("the awaiting task was cancelled")
