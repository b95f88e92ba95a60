"""What a handler may know of its call, made only where the handler asks for it (PIPE-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surface.values import ActionContext, CancelSignal, Progress, ReadContext

if TYPE_CHECKING:
    from surface.invocation.call import Call


def context_of(call: Call) -> ReadContext:
    """A `ReadContext` for an observation, an `ActionContext` for an action."""
    if call.capability.kind == "observation":
        return ReadContext(call.capability_id, call.registration.id, call.consumer, call.viewer.host)
    if call.signal is None:
        call.signal = CancelSignal()

    def report(progress: Progress) -> None:
        call.progress = progress

    return ActionContext(
        call.capability_id,
        call.registration.id,
        call.consumer,
        call.viewer.host,
        call.invocation_id,
        call.signal,
        call.confirmation,
        report,
    )
