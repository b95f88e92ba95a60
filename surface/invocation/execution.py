"""Phase 9: the handler runs.

Source: PIPE-6 (dispatch), CONC-4, CONC-5, CONC-7, CONC-8. A handler that never waits never touches the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from surface.contract.effects import EFFECTS
from surface.errors import AUTHOR_ERRORS
from surface.invocation.approval import spend_evidence
from surface.invocation.contexts import context_of
from surface.invocation.failures import Refused, Settled, from_handler
from surface.invocation.records import record_late
from surface.invocation.resolution import check_still_available
from surface.invocation.start import start

if TYPE_CHECKING:
    from surface.invocation.call import Call
    from surface.invocation.start import Started


async def execute(call: Call) -> Any:
    """Dispatch, and come back with what the handler returned; every failure is a `Refused`."""
    _dispatch(call)
    outcome = outcome_of(call, partial(_call_handler, call))
    if type(outcome) is CoroutineType or inspect.isawaitable(outcome):
        _check_not_left(call, outcome)
        task = await _finished(call, outcome)
        outcome = outcome_of(call, task.result)
    return outcome


def _dispatch(call: Call) -> None:
    """PIPE-6, without yielding: still live, not cancelled, available; from here on the call counts as dispatched."""
    if call.registration.status != "active":
        raise Refused("COMPONENT_UNMOUNTED", {"phase": call.phase})
    cancel = call.request.cancel
    if cancel is not None and cancel.cancelled:
        raise Refused("CANCELLED", {"phase": call.phase})
    check_still_available(call)
    if call.result is not None:  # settled by what `when` did; the approval stays unspent
        raise Settled
    spend_evidence(call)
    if call.result is not None:
        raise Settled
    call.phase = "mid-flight"
    call.dispatched_at = call.core.clock.now()


def _call_handler(call: Call) -> Any:
    capability = call.capability
    args, kwargs = call.arguments
    name = capability.signature.context_parameter
    if name is not None:
        kwargs = {**kwargs, name: context_of(call)}
    handler = capability.handler(call.registration.component)
    # What runs here cannot be interrupted: a synchronous handler settles its own call (CONC-5). A coroutine only
    # gets made.
    call.uninterruptible = True
    try:
        return handler(*args, **kwargs)
    finally:
        call.uninterruptible = False


def outcome_of(call: Call, produce: Callable[[], Any]) -> Any:
    """What ``produce`` returns; what it raises as the agent may hear it. A handler that raises CancelledError by
    itself has cancelled its call."""
    try:
        return produce()
    except asyncio.CancelledError:
        raise Refused("CANCELLED", call.progress_details()) from None
    except AUTHOR_ERRORS as error:
        raise from_handler(error, call.capability_id) from None


async def _finished(call: Call, awaitable: Awaitable[Any]) -> Started[Any]:
    """Start an asynchronous handler and wait until it is done, at most the call's timeout (CONC-7)."""
    clock = call.core.clock
    timeout = _timeout(call)
    deadline = clock.now() + timeout
    task = call.task = start(_contained(awaitable))
    if not task.done():
        task.add_done_callback(partial(_ended, call))
        if call.result is None:
            task.add_done_callback(call.wake)
            timer = clock.call_later(max(0.0, deadline - clock.now()), lambda: _timed_out(call, timeout))
            try:
                await call.until(task.done)
            finally:
                timer.cancel()
        else:
            call.stop_handler("settled")
    if call.result is not None:  # settled in the handler's first step, such as by unmounting its own component
        _consume(task)
        raise Settled
    return task


def _timeout(call: Call) -> float:
    """The argument, else the capability's, else the kind's (CONC-7); seconds."""
    limits = call.core.limits
    chosen: float = call.request.timeout or call.capability.timeout or 0
    return chosen or getattr(limits, EFFECTS[call.capability.effect].timeout)


def _timed_out(call: Call, timeout: float) -> None:
    details = {
        "timeoutMs": round(timeout * 1000),
        "idempotent": call.capability.idempotent,
        **call.progress_details(),
    }
    retry = "yes" if call.capability.idempotent else "no"
    message = f"The capability did not finish within {timeout:g} seconds."
    call.fail(Refused("TIMEOUT", details, message=message, retry=retry), "timeout")


def _ended(call: Call, task: Any) -> None:
    """A handler that had to wait has ended: its slot is free, and an outcome after the settlement is told (CONC-8)."""
    call.free_slot()
    if call.result is not None:
        record_late(call, "late-settlement")
        _consume(task)


def _consume(task: Any) -> None:
    """Look at a late outcome, so that asyncio does not report it as never retrieved."""
    # Not result(): it would use up the traceback that the page's author needs.
    with contextlib.suppress(BaseException):
        task.exception()


async def _contained(awaitable: Awaitable[Any]) -> Any:
    """A handler that cannot end the event loop: SystemExit and its like, which asyncio lets through, are failures."""
    try:
        return await awaitable
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"the handler raised {type(error).__name__}") from error


def _check_not_left(call: Call, awaitable: Awaitable[Any]) -> None:
    """A handler that ended its own component before its first step is not run on (CONC-9)."""
    if call.registration.status != "active" and call.capability.effect != "navigation":
        if isinstance(awaitable, CoroutineType):
            awaitable.close()
        raise Refused("COMPONENT_UNMOUNTED", call.progress_details())
