"""Phases 2 and 3: which registration answers this call, and is it available?

Source: core rules §6 (VER-2 to VER-5), §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surface.ids import parse_id
from surface.invocation.failures import Refused
from surface.registry.availability import availability_of

if TYPE_CHECKING:
    from surface.invocation.call import Call
    from surface.registry.registration import Registration


def resolve(call: Call) -> None:
    """Phase 2: find the one registration that this call is for (VER-2), and enter it into that registration's calls.

    Discovery comes first: what a policy hides from this consumer is no candidate (PIPE-3).
    """
    call.viewer.host  # noqa: B018  # computed here, whether a policy or the handler will ask or not (PIPE-4)
    candidates = [one for one in _candidates(call) if _visible(call, one)]
    if not candidates:
        raise _gone(call)
    chosen = candidates[0]
    if call.request.registration_id not in (None, chosen.id):
        raise _stale(call, candidates)
    if len(candidates) > 1:
        raise _ambiguous(candidates)
    call.registration = chosen
    call.capability = chosen.capabilities[call.capability_id]
    chosen.calls.add(call)


def _visible(call: Call, registration: Registration) -> bool:
    """What discovery says of one candidate; its answer is remembered (VER-5), a *disable* for phase 3."""
    visible = True
    if registration.has_discovery:
        decision = call.viewer.decide(registration, registration.capabilities[call.capability_id])
        call.disabled[registration.id] = decision.reason if decision.outcome == "disable" else None
        visible = decision.outcome != "hide"
    registration.saw_one(call.consumer, call.capability_id, visible, call.core.limits.max_exposure_keys)
    return visible


def _candidates(call: Call) -> list[Registration]:
    """The live registrations that offer the capability, after the instance filter; the one asked for alone where it
    is among them, so that a call which names its registration costs the same on any surface (LIMIT-3)."""
    offers = call.core.store.by_capability.get(call.capability_id)
    if offers is None:
        return []
    instance_id = call.request.instance_id
    named = offers.get(call.request.registration_id)
    if named is not None and instance_id in (None, named.instance_id):
        return [named]
    return [one for one in offers.values() if instance_id in (None, one.instance_id)]


def check_available(call: Call) -> None:
    """Phase 3: a policy's *disable* first, then AVAIL-1."""
    reason = call.disabled.get(call.registration.id)
    if reason is not None:
        raise Refused("CAPABILITY_NOT_AVAILABLE", {"reason": reason})
    check_still_available(call)


def check_still_available(call: Call) -> None:
    """AVAIL-1 alone, as at dispatch (AVAIL-4)."""
    state = availability_of(call.registration, call.capability)
    if not state.available:
        raise Refused("CAPABILITY_NOT_AVAILABLE", {"reason": state.reason})


def _gone(call: Call) -> Refused:
    """VER-5: it was here and this consumer may know it, or there is no such thing."""
    if parse_id(call.capability_id) is not None:
        wanted = call.request.registration_id
        for tombstone in call.core.store.graveyard.of(call.capability_id, call.request.instance_id):
            if wanted in (None, tombstone.registration_id) and tombstone.admits(
                call.capability_id, call.consumer.key, wanted
            ):
                return Refused("COMPONENT_UNMOUNTED", {"phase": "resolve"})
    return Refused("CAPABILITY_NOT_FOUND")


def _stale(call: Call, candidates: list[Registration]) -> Refused:
    wanted = call.request.registration_id
    known = any(
        tombstone.registration_id == wanted and tombstone.admits(call.capability_id, call.consumer.key, wanted)
        for tombstone in call.core.store.graveyard.of(call.capability_id, call.request.instance_id)
    )
    first = min(candidates, key=lambda one: one.instance_id)
    return Refused(
        "STALE_CAPABILITY",
        {"reason": "registration-replaced" if known else "surface-reloaded", "liveRegistrationId": first.id},
    )


def _ambiguous(candidates: list[Registration]) -> Refused:
    instances = [
        {"instanceId": one.instance_id, "registrationId": one.id, "description": one.contract.description}
        for one in sorted(candidates, key=lambda one: one.instance_id)
    ]
    return Refused("AMBIGUOUS_INSTANCE", {"instances": instances})
