"""What the audit is told of a call (core rules §17): started after resolution, settled once, and what came too late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surface.contract.effects import AuditLevel

if TYPE_CHECKING:
    from surface.invocation.call import Call


def record_started(call: Call) -> None:
    """One record once it is known what the call is for."""
    _write(call, "invocation-started", {})


def record_settled(call: Call) -> None:
    """One record of how the call ended, with its payload at level full (AUDIT-1)."""
    result = call.result
    assert result is not None
    now = call.core.clock.now()
    dispatched, queued = call.dispatched_at, call.queued_at
    waited_until = dispatched if dispatched is not None else now
    fields = {
        "status": result.status,
        "code": result.error.code if result.error else None,
        "durationMs": (now - call.started_at) * 1000,
        "queueWaitMs": None if queued is None else (waited_until - queued) * 1000,
        "executionMs": None if dispatched is None else (now - dispatched) * 1000,
        "progress": call.progress.to_wire() if call.progress else None,
        "shortCircuit": call.short_circuit,
    }
    payload: dict[str, Any] = {}
    if call.accepted is not None:
        payload["input"] = call.effective_input()
    if result.has_output:
        payload["output"] = result.output
    _write(call, "invocation-settled", fields, payload)


def record_late(call: Call, kind: str) -> None:
    """A handler's outcome that came after the settlement, or a handler that was given up (CONC-4, CONC-8)."""
    started = call.dispatched_at
    elapsed = None if started is None else (call.core.clock.now() - started) * 1000
    call.core.store.audit.write(kind, {**_who(call), "executionMs": elapsed})


def record_policy_error(call: Call, policy: str) -> None:
    """A policy that failed where it could change nothing any more (POLICY-5)."""
    call.core.store.audit.write("policy-error", {**_who(call), "policy": policy})


def _write(call: Call, kind: str, fields: dict[str, Any], payload: dict[str, Any] | None = None) -> None:
    capability = call.capability
    level: AuditLevel = "metadata" if capability is None else capability.audit
    redact = None if capability is None else capability.redact
    fields = {**_who(call), **fields}
    audit = call.core.store.audit
    if level != "none":
        audit.write(kind, fields, payload=payload if level == "full" else None, redact=redact)
    if capability is not None:
        for own in call.registration.chains[call.capability_id].audits:
            if own.level != "none":
                shown = payload if own.level == "full" else None
                audit.write(kind, fields, payload=shown, redact=redact, sinks=(own.sink,))


def _who(call: Call) -> dict[str, Any]:
    return {
        "invocationId": call.invocation_id,
        "capabilityId": call.capability_id,
        "registrationId": call.registration.id if call.registration is not None else None,
        "consumerKind": call.consumer.kind,
        "consumerId": call.consumer.id,
    }
