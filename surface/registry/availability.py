"""Whether a capability can be used right now, and why not (AVAIL-1: the first matching row decides)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from surface.errors import AUTHOR_ERRORS

if TYPE_CHECKING:
    from surface.contract.capability import Capability
    from surface.registry.registration import Registration


class Availability(NamedTuple):
    """``reason`` is None exactly if ``available``."""

    available: bool
    reason: str | None = None


AVAILABLE = Availability(True)


def availability_of(registration: Registration, capability: Capability) -> Availability:
    """Evaluate the table of AVAIL-1 for one capability."""
    if registration.status != "active":
        return Availability(False, "component-unregistered")
    if not registration.enabled:
        return Availability(False, "component-disabled")
    available, reason = registration.overrides.get(capability.id, (True, None))
    if not available:
        return Availability(False, reason or "unavailable")
    if capability.when is None:
        return AVAILABLE
    try:
        answer = capability.when(registration.component)
    except AUTHOR_ERRORS:
        return Availability(False, "when-error")
    return Availability(False, _reason(registration, capability)) if answer is False else AVAILABLE


def _reason(registration: Registration, capability: Capability) -> str:
    reason = capability.unavailable_reason
    if reason is not None and not isinstance(reason, str):
        try:
            reason = reason(registration.component)
        except AUTHOR_ERRORS:
            reason = None
    return reason if isinstance(reason, str) and reason else "Currently unavailable"
