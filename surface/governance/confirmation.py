"""A person's approval of exactly one request: asked for, given or refused, spent once, or run out.

Source: core rules §13 (CONFIRM-2 to CONFIRM-10). Nothing here can be reached by an agent: an agent only ever holds ids.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from surface.canonical import canonical_json
from surface.clock import Clock, iso
from surface.errors import AUTHOR_ERRORS, MAX_MESSAGE
from surface.ids import new_confirmation_id
from surface.limits import RESOLVED_CONFIRMATIONS, Limits
from surface.values import Consumer

if TYPE_CHECKING:
    from surface.clock import Timer
    from surface.governance.audit import Auditor, Redact

logger = logging.getLogger("surface")

Told = Callable[["Confirmation", str, str | None], None]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """One request for approval; times in epoch seconds, ISO text on the wire.

    ``input`` is a copy of the effective input, what will run if it is approved.
    """

    confirmation_id: str
    capability_id: str
    registration_id: str
    consumer: Consumer
    effect: str
    summary: str
    input: Any
    requested_at: float
    expires_at: float

    def to_wire(self) -> dict[str, Any]:
        """The fields in camelCase; ``consumer`` is ``{kind, id}``."""
        return {
            "confirmationId": self.confirmation_id,
            "capabilityId": self.capability_id,
            "registrationId": self.registration_id,
            "consumer": {"kind": self.consumer.kind, "id": self.consumer.id},
            "effect": self.effect,
            "summary": self.summary,
            "input": self.input,
            "requestedAt": iso(self.requested_at),
            "expiresAt": iso(self.expires_at),
        }


class Request(NamedTuple):
    """What a confirmation is asked for, as the pipeline knows it; ``binding`` is what evidence is bound to."""

    binding: str
    capability_id: str
    registration_id: str
    consumer: Consumer
    effect: str
    input: Any
    ttl: float
    invocation_id: str
    shows_payload: bool
    redact: Redact | None


class Evidence(NamedTuple):
    """What a presented id is worth: ``valid``, ``pending``, or why it is not (expired, denied, consumed, mismatch)."""

    verdict: str
    denial_reason: str | None = None


class _Record:
    """A confirmation and what became of it: pending, approved, denied, expired or consumed."""

    def __init__(self, confirmation: Confirmation, request: Request) -> None:
        self.confirmation = confirmation
        self.request = request
        self.state = "pending"
        self.approved_at = 0.0
        self.denial_reason: str | None = None
        self.timer: Timer | None = None
        self.waiters: list[asyncio.Future[str]] = []


class Confirmations:
    """The confirmations of one registry, for the page that shows them to a person.

    >>> for request in registry.confirmations.pending():
    ...     registry.confirmations.resolve(request.confirmation_id, approved=True, actor="ada")
    """

    def __init__(self, clock: Clock, limits: Limits, audit: Auditor, tell: Told) -> None:
        self._clock = clock
        self._limits = limits
        self._audit = audit
        self._tell = tell
        self._open: dict[str, _Record] = {}  # pending and approved
        self._resolved: OrderedDict[str, _Record] = OrderedDict()
        self._listeners: list[Callable[[list[Confirmation]], object]] = []

    # For the page.

    def pending(self) -> list[Confirmation]:
        """The requests that wait for a person, oldest first."""
        return [record.confirmation for record in self._open.values() if record.state == "pending"]

    def resolve(
        self,
        id: str,
        *,
        approved: bool,
        reason: str | None = None,
        agent_visible: bool = False,
        actor: str | None = None,
    ) -> bool:
        """Approve or deny a pending request; False where there is none of this id (CONFIRM-8).

        ``reason`` (at most 300 characters) reaches the agent only with ``agent_visible``; ``actor`` is for the audit.
        An approval extends nothing: it must be used before the request expires.
        """
        record = self._open.get(id)
        if record is None or record.state != "pending":
            return False
        reason = None if reason is None else reason[:MAX_MESSAGE]
        if approved:
            record.state = "approved"
            record.approved_at = self._clock.now()
            self._settle(record, "approved", None, actor=actor, audit_reason=reason)
        else:
            record.denial_reason = reason if agent_visible else None
            self._close(record, "denied", None, actor=actor, audit_reason=reason)
        return True

    def state(self, id: str) -> str:
        """What became of a request: pending, approved, denied, expired or consumed; an unknown one has expired."""
        record = self._open.get(id) or self._resolved.get(id)
        return record.state if record is not None else "expired"

    async def wait(self, id: str) -> str:
        """Wait until a request is approved, denied or expired, and say which; an unknown one has expired."""
        record = self._open.get(id) or self._resolved.get(id)
        if record is None:
            return "expired"
        if record.state != "pending":
            return "approved" if record.state == "consumed" else record.state
        waiter: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        record.waiters.append(waiter)
        try:
            return await waiter
        finally:
            if waiter in record.waiters:
                record.waiters.remove(waiter)

    def subscribe(self, callback: Callable[[list[Confirmation]], object]) -> Callable[[], None]:
        """Get the list of pending requests at every change of it; returns the removal."""
        self._listeners.append(callback)

        def unsubscribe() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return unsubscribe

    # For the pipeline.

    def evidence(self, id: str, binding: str, consumer: Consumer) -> Evidence:
        """What a presented id is worth for a request (the table under CONFIRM-4); changes nothing."""
        record = self._open.get(id) or self._resolved.get(id)
        if record is None or record.request.consumer.key != consumer.key:
            return Evidence("mismatch")
        if record.state in ("denied", "expired", "consumed"):
            return Evidence(record.state, record.denial_reason)
        if record.request.binding != binding:
            return Evidence("mismatch")
        return Evidence("valid" if record.state == "approved" else "pending")

    def ask(self, request: Request, compose: Callable[[], str]) -> Confirmation | None:
        """The pending confirmation of an equal request, or a new one; None where the store is full (CONFIRM-3)."""
        for record in self._open.values():
            if record.state == "pending" and record.request.binding == request.binding:
                return record.confirmation
        if len(self.pending()) >= self._limits.max_pending_confirmations:
            return None
        now = self._clock.now()
        confirmation = Confirmation(
            new_confirmation_id(),
            request.capability_id,
            request.registration_id,
            request.consumer,
            request.effect,
            compose(),
            copy.deepcopy(request.input),
            now,
            now + request.ttl,
        )
        record = self._open[confirmation.confirmation_id] = _Record(confirmation, request)
        record.timer = self._clock.call_later(request.ttl, partial(self._expire, record, None))
        self._tell(confirmation, "requested", None)
        self._write("requested", record, request.invocation_id)
        self._announce()
        return confirmation

    def spend(self, id: str, binding: str, invocation_id: str) -> tuple[float | None, str]:
        """Use an approval up, once (CONFIRM-5): when it was given, or None and why it is worth nothing any more."""
        record = self._open.get(id)
        if record is None or record.state != "approved" or record.request.binding != binding:
            kept = self._resolved.get(id)
            return None, kept.state if kept is not None else "mismatch"
        self._take(record, "consumed")
        self._write("consumed", record, invocation_id)
        return record.approved_at, ""

    def withdraw(self, registration_id: str) -> None:
        """The registration has ended: its open requests and approvals are void (CONFIRM-9)."""
        for record in tuple(self._open.values()):
            if record.request.registration_id == registration_id:
                self._expire(record, "component-unmounted")

    def expire_all(self) -> None:
        """The registry is being disposed: everything open expires (LIFE-10)."""
        for record in tuple(self._open.values()):
            self._expire(record, None)
        self._listeners.clear()

    # How a record ends.

    def _expire(self, record: _Record, reason: str | None) -> None:
        if record.confirmation.confirmation_id in self._open:
            self._close(record, "expired", reason, audit_reason=reason)

    def _close(self, record: _Record, state: str, reason: str | None, **audited: str | None) -> None:
        self._take(record, state)
        self._settle(record, state, reason, **audited)

    def _take(self, record: _Record, state: str) -> None:
        id = record.confirmation.confirmation_id
        del self._open[id]
        record.state = state
        if record.timer is not None:
            record.timer.cancel()
        self._resolved[id] = record
        while len(self._resolved) > RESOLVED_CONFIRMATIONS:
            self._resolved.popitem(last=False)

    def _settle(
        self,
        record: _Record,
        outcome: str,
        reason: str | None,
        *,
        actor: str | None = None,
        audit_reason: str | None = None,
    ) -> None:
        self._tell(record.confirmation, outcome, reason)
        self._write(outcome, record, record.request.invocation_id, actor=actor, reason=audit_reason)
        waiters, record.waiters = record.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(outcome)
        self._announce()

    def _announce(self) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(self.pending())
            except AUTHOR_ERRORS:
                logger.exception("A listener of confirmations failed")

    def _write(
        self,
        what: str,
        record: _Record,
        invocation_id: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        request = record.request
        fields = {
            "confirmationId": record.confirmation.confirmation_id,
            "registrationId": request.registration_id,
            "capabilityId": request.capability_id,
            "invocationId": invocation_id,
            "consumerKind": request.consumer.kind,
            "consumerId": request.consumer.id,
            "actor": actor,
            "reason": reason,
        }
        payload: Mapping[str, Any] | None = {"input": record.confirmation.input} if request.shows_payload else None
        self._audit.write(f"confirmation-{what}", fields, payload=payload, redact=request.redact)


def binding_of(
    surface_id: str, registration_id: str, capability_id: str, consumer: Consumer, effective_input: Any, effect: str
) -> str:
    """What evidence is bound to, as exact canonical text (CONFIRM-2)."""
    return canonical_json(
        [surface_id, registration_id, capability_id, consumer.kind, consumer.id, effective_input, effect]
    )
