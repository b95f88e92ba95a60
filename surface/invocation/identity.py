"""Phase 1, identity: is the request well formed, and was it asked before?

Source: core rules §9 (IDENT-1 to IDENT-5), PIPE-2.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, NamedTuple

from surface.canonical import NotJSON, canonical_of, inspect_json
from surface.errors import is_text
from surface.ids import new_invocation_id
from surface.invocation.call import Call, Core, Fingerprint, Request, copy_of
from surface.invocation.failures import Refused
from surface.values import ANONYMOUS, CancelSignal, Consumer, InvocationResult

if TYPE_CHECKING:
    from surface.clock import Clock
    from surface.limits import Limits

_OPTIONAL_TEXTS = {
    "instance_id": "instanceId",
    "registration_id": "registrationId",
    "surface_version": "surfaceVersion",
    "invocation_id": "invocationId",
    "confirmation_id": "confirmationId",
}
_LONGEST = 31_536_000.0  # seconds
Key = tuple[str, str, str]


class Kept(NamedTuple):
    """What is remembered of a settled call; ``result`` is None where only the fingerprint stays reserved."""

    fingerprint: Fingerprint
    result: InvocationResult | None
    expires: float


class Identities:
    """Invocations by (consumer kind, consumer id, invocation id): those in flight, and those that settled.

    The settled ones live ``dedupe_cache_ttl`` seconds, ``dedupe_cache_size`` of them, least recently used first to go.
    """

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._in_flight: dict[Key, Call] = {}
        self._kept: OrderedDict[Key, Kept] = OrderedDict()

    def claim(self, call: Call) -> Call | InvocationResult | None:
        """The call in flight to join, the result to replay, or None: the identity is this call's now.

        Raises INVOCATION_CONFLICT where the id belongs to a different request (IDENT-3).
        """
        key = _key(call)
        running = self._in_flight.get(key)
        if running is not None:
            return running if running.fingerprint == call.fingerprint else self._conflict(call)
        kept = self._kept.get(key)
        if kept is not None and self._clock.now() < kept.expires:
            self._kept.move_to_end(key)
            if kept.fingerprint != call.fingerprint:
                return self._conflict(call)
            if kept.result is not None:
                return copy_of(kept.result)
        self._in_flight[key] = call
        return None

    def settled(self, call: Call, *, dispatched: bool) -> None:
        """Keep a call's result if it was dispatched, else its fingerprint alone (IDENT-4)."""
        key = _key(call)
        if self._in_flight.get(key) is not call:
            return
        del self._in_flight[key]
        self._kept[key] = Kept(
            call.fingerprint, call.result if dispatched else None, self._clock.now() + self._limits.dedupe_cache_ttl
        )
        self._kept.move_to_end(key)
        while len(self._kept) > self._limits.dedupe_cache_size:
            self._kept.popitem(last=False)

    def in_flight(self) -> list[Call]:
        """The calls that have not settled, whether their registration still lives or not."""
        return list(self._in_flight.values())

    def clear(self) -> None:
        """Forget everything."""
        self._in_flight.clear()
        self._kept.clear()

    def _conflict(self, call: Call) -> Call:
        raise Refused("INVOCATION_CONFLICT", {"reason": "id-reused-with-different-request"})


def new_call(core: Core, request: Request) -> Call:
    """A call for a request, with whatever of its identity can be read."""
    given = request.invocation_id
    return Call(
        core,
        request,
        request.consumer if _is_consumer(request.consumer) else ANONYMOUS,
        given if isinstance(given, str) and given else new_invocation_id(),
    )


def identify(call: Call) -> Awaitable[InvocationResult] | InvocationResult | None:
    """Check the request's shape and claim its identity; what to answer instead, if it was asked before."""
    issues = _issues(call.request)
    if issues:
        raise Refused("INVALID_INPUT", {"issues": issues})
    text = _input_text(call.request.input, call.core.limits.max_input_bytes)
    call.fingerprint = (call.capability_id, call.request.instance_id, text)
    earlier = call.core.identities.claim(call)
    return earlier.followed() if isinstance(earlier, Call) else earlier


def _is_consumer(value: object) -> bool:
    return isinstance(value, Consumer) and type(value.kind) is str and type(value.id) is str


def _key(call: Call) -> Key:
    return (call.consumer.kind, call.consumer.id, call.invocation_id)


def _issues(request: Request) -> list[dict[str, str]]:
    """Fields of the wrong type, by their wire names (PIPE-2)."""
    issues = []
    if type(request.capability_id) is not str or not is_text(request.capability_id):
        issues.append({"path": "capabilityId", "message": "must be text"})
    for name, wire in _OPTIONAL_TEXTS.items():
        value = getattr(request, name)
        if value is not None and (type(value) is not str or not is_text(value)):
            issues.append({"path": wire, "message": "must be text"})
    if request.invocation_id == "":
        issues.append({"path": "invocationId", "message": "must not be empty"})
    if not (request.consumer is None or _is_consumer(request.consumer)):
        issues.append({"path": "consumer", "message": "must be a Consumer whose kind and id are text"})
    if not (request.cancel is None or isinstance(request.cancel, CancelSignal)):
        issues.append({"path": "cancel", "message": "must be a CancelSignal"})
    timeout = request.timeout
    if timeout is not None and (type(timeout) not in (int, float) or not 0 < timeout <= _LONGEST):
        issues.append({"path": "timeoutMs", "message": "must be a time above 0, at most a year"})
    return issues


def _input_text(value: Any, max_bytes: int) -> str:
    if value is None:
        return "null"
    try:
        text = canonical_of(value, inspect_json(value))
    except NotJSON as problem:
        raise Refused("INVALID_INPUT", {"issues": [{"path": "", "message": f"is no JSON value: {problem}"}]}) from None
    size = len(text) if text.isascii() else len(text.encode())
    if size > max_bytes:
        message = f"has {size} bytes of JSON; at most {max_bytes} are taken"
        raise Refused("INVALID_INPUT", {"issues": [{"path": "", "message": message}]})
    return text
