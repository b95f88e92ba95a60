"""Phases 4 and 6: the policies around the rest of the pipeline.

Source: POLICY-3 to POLICY-7. `on_authorize` hooks wrap phases 5 to 10, `on_invoke` hooks wrap 7 to 10; what a hook
gets from ``call_next()`` is final, so the call is settled by then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from surface.errors import CATALOGUE
from surface.governance.policy import CallNext, InvokeContext, Policy
from surface.invocation.failures import Refused, Settled, from_policy, policy_error
from surface.invocation.records import record_policy_error
from surface.invocation.settlement import settle_output
from surface.invocation.start import Started, start
from surface.values import InvocationResult

if TYPE_CHECKING:
    from surface.clock import Timer
    from surface.invocation.call import Call

logger = logging.getLogger("surface")
Proceed = Callable[["Call"], Awaitable[None]]
Enter = Callable[[Policy, CallNext], Coroutine[Any, Any, InvocationResult]]


async def authorize(call: Call, proceed: Proceed) -> None:
    """Phase 4: `on_authorize` hooks around phases 5 to 10. From here on the caller's signal can cancel."""
    call.phase = "policy"
    call.heed_cancellation()
    hooks = call.registration.chains[call.capability_id].authorize
    if not hooks:
        return await proceed(call)
    ctx = call.viewer.context(call.registration, call.capability)
    return await _around(call, hooks, lambda policy, call_next: policy.on_authorize(ctx, call_next), proceed)


async def apply_policies(call: Call, proceed: Proceed) -> None:
    """Phase 6: `on_invoke` hooks around phases 7 to 10."""
    hooks = call.registration.chains[call.capability_id].invoke
    if not hooks:
        return await proceed(call)
    ctx = invoke_context(call)
    return await _around(call, hooks, lambda policy, call_next: policy.on_invoke(ctx, call_next), proceed)


def invoke_context(call: Call) -> InvokeContext:
    """What `on_invoke` hooks and escalations may know of the call."""
    return InvokeContext(
        **call.viewer.facts(call.registration, call.capability),
        invocation_id=call.invocation_id,
        effective_input=call.effective_input(),
    )


async def _around(call: Call, hooks: tuple[Policy, ...], enter: Enter, proceed: Proceed) -> None:
    """Run ``proceed`` inside the hooks, the first of them outermost; comes back settled."""
    if not hooks:
        return await proceed(call)
    layer = _Layer(call, hooks[0], lambda: _around(call, hooks[1:], enter, proceed))
    return await layer.run(enter)


class _Layer:
    """One hook of one call, with the time it may take outside of ``call_next()`` (POLICY-4)."""

    def __init__(self, call: Call, policy: Policy, inner: Callable[[], Awaitable[None]]) -> None:
        self._call = call
        self._policy = policy
        self._inner = inner
        self._entered = False
        self._task: Started[InvocationResult] | None = None
        self._timer: Timer | None = None
        self._left = call.core.limits.policy_timeout
        self._since = 0.0

    async def run(self, enter: Enter) -> None:
        """Run the hook to where the call is settled; what the hook does after that is only watched."""
        self._count()
        task = self._task = _started(enter(self._policy, self._call_next), self._policy.name)
        if task.done():
            self._done(task)
        else:
            task.add_done_callback(self._done)
            self._call.layers.append(self.cancel)
            await self._call.until(task.done)
        if not self._entered:
            self._answer(task)

    def cancel(self) -> None:
        """The call was settled from outside: a hook that has not gone on is ended."""
        if self._task is not None and not self._entered:
            self._task.cancel()

    async def _call_next(self) -> InvocationResult:
        if self._entered:
            raise RuntimeError("call_next() was called twice")
        self._entered = True
        self._stop()
        call = self._call
        try:
            await self._inner()
        except Refused as refused:
            call.settle(error=refused.error)
        except Settled:
            pass
        assert call.result is not None
        self._count()
        return call.result

    def _done(self, task: Started[InvocationResult]) -> None:
        """The hook has ended. After ``call_next()`` nothing it does counts any more (POLICY-5)."""
        self._stop()
        self._call.wake()
        if not self._entered:
            return
        try:
            kept = task.result() is self._call.result
        except asyncio.CancelledError:
            return  # its time was over, and that is in the audit
        except Exception:
            logger.exception("The policy %s failed after call_next()", self._policy.name)
            kept = False
        if not kept:
            record_policy_error(self._call, self._policy.name)

    def _answer(self, task: Started[InvocationResult]) -> None:
        """The hook did not go on: a refusal, or a result of its own."""
        try:
            result = task.result()
        except asyncio.CancelledError:
            raise Refused("CANCELLED", {"phase": "policy"}) from None
        except Exception as error:
            raise from_policy(error, self._policy.name) from None
        self._short_circuit(result)

    def _short_circuit(self, result: object) -> None:
        """A hook that answers by itself: its payload and code are checked, ids and version become the registry's
        (POLICY-6)."""
        call = self._call
        if not isinstance(result, InvocationResult):
            raise policy_error(self._policy.name, f"it answered {result!r} without call_next()")
        call.short_circuit = self._policy.name
        error = result.error
        if error is None:
            settle_output(call, result.output)
        elif error.code not in CATALOGUE:
            raise policy_error(self._policy.name, f"it answered the unknown code {error.code!r}")
        else:
            raise Refused(error.code, error.details, message=error.message[:300], retry=error.retry)

    # The clock of the hook.

    def _count(self) -> None:
        clock = self._call.core.clock
        self._since = clock.now()
        self._timer = clock.call_later(self._left, self._expired)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left -= self._call.core.clock.now() - self._since

    def _expired(self) -> None:
        call = self._call
        if self._entered:
            record_policy_error(call, self._policy.name)
        else:
            details = {"phase": "policy", "timeoutMs": round(call.core.limits.policy_timeout * 1000)}
            details["idempotent"] = call.capability.idempotent
            call.fail(Refused("TIMEOUT", details, retry="yes"), "policy-timeout")
        if self._task is not None:
            self._task.cancel()


def _started(hook: object, name: str) -> Started[InvocationResult]:
    if not asyncio.iscoroutine(hook):
        raise policy_error(name, "its hook is not async")
    return start(hook)
