"""A person's approval in the pipeline: what an id is worth (phase 6), asking for one (7), spending it (9).

Source: CONFIRM-1, CONFIRM-3 to CONFIRM-5.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from surface.canonical import json_text
from surface.clock import iso
from surface.errors import AUTHOR_ERRORS, cut
from surface.governance.confirmation import Request, binding_of
from surface.invocation.failures import Refused
from surface.invocation.onion import invoke_context
from surface.values import ConfirmationEvidence

if TYPE_CHECKING:
    from surface.governance.policy import Escalation
    from surface.invocation.call import Call

logger = logging.getLogger("surface")


def weigh_evidence(call: Call) -> None:
    """Phase 6: decide whether this call needs approval, and what the id it presents is worth."""
    escalations = call.registration.chains[call.capability_id].escalations
    if call.capability.confirmation != "required" and not escalations:
        return
    active: list[Escalation] = []
    if escalations:
        ctx = invoke_context(call)
        active = [one for one in escalations if one.escalates(ctx)]
    if call.capability.confirmation != "required" and not active:
        return
    call.escalations = tuple(active)
    call.binding = binding_of(
        call.core.store.surface_id,
        call.registration.id,
        call.capability_id,
        call.consumer,
        call.effective_input(),
        call.capability.effect,
    )
    if call.request.confirmation_id is None:
        return
    evidence = call.core.confirmations.evidence(call.request.confirmation_id, call.binding, call.consumer)
    if evidence.verdict not in ("valid", "pending"):
        raise _invalid(evidence.verdict, evidence.denial_reason)
    call.has_evidence = evidence.verdict == "valid"


def ask_approval(call: Call) -> None:
    """Phase 7, once the precondition has passed: missing approval is requested, and the call answers how."""
    if call.binding is None or call.has_evidence:
        return
    capability, core = call.capability, call.core
    request = Request(
        call.binding,
        call.capability_id,
        call.registration.id,
        call.consumer,
        capability.effect,
        call.effective_input(),
        capability.confirmation_ttl or core.limits.confirmation_ttl,
        call.invocation_id,
        capability.audit == "full",
        capability.redact,
    )
    confirmation = core.confirmations.ask(request, lambda: _summary(call))
    if confirmation is None:
        raise Refused("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 1000})
    raise Refused(
        "CONFIRMATION_REQUIRED",
        {
            "confirmationId": confirmation.confirmation_id,
            "summary": confirmation.summary,
            "expiresAt": iso(confirmation.expires_at),
            "effect": confirmation.effect,
            "origin": "client",
        },
        message="A person must approve this in the page first. Ask the user to, then call again with the same input.",
    )


def spend_evidence(call: Call) -> None:
    """Phase 9, at dispatch: the approval is used up, or somebody else was first (CONFIRM-5, CONFIRM-6)."""
    if call.binding is None:
        return
    id = call.request.confirmation_id
    approved_at, lost = call.core.confirmations.spend(id, call.binding, call.invocation_id)
    if approved_at is None:
        raise _invalid(lost, None)
    call.confirmation = ConfirmationEvidence(id, approved_at)


def _invalid(reason: str, denial_reason: str | None) -> Refused:
    details = {"reason": reason}
    if denial_reason is not None:
        details["denialReason"] = denial_reason
    return Refused("CONFIRMATION_INVALID", details, retry="with-confirmation" if reason == "expired" else None)


def _summary(call: Call) -> str:
    """What the person is asked with (CONFIRM-4)."""
    description = call.capability.description
    try:
        if call.escalations:
            own = call.escalations[0].summary(invoke_context(call))
            if own is not None:
                return cut(own) if isinstance(own, str) else cut(description)
        return cut(f"{description} — input: {json_text(call.effective_input())}")
    except AUTHOR_ERRORS:
        logger.exception("The summary of a confirmation could not be composed")
        return cut(description)
