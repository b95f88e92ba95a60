"""Phases 4 and 6: the policies around the rest of the pipeline (POLICY-4a).

A registry has no policies yet, so each phase goes straight on; this is where the chain will wrap ``proceed``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surface.invocation.call import Call

Proceed = Callable[["Call"], Awaitable[None]]


async def authorize(call: Call, proceed: Proceed) -> None:
    """Phase 4: `on_authorize` policies around phases 5 to 10. From here on the caller's signal can cancel."""
    call.phase = "policy"
    call.heed_cancellation()
    await proceed(call)


async def apply_policies(call: Call, proceed: Proceed) -> None:
    """Phase 6: `on_invoke` policies around phases 7 to 10."""
    await proceed(call)
