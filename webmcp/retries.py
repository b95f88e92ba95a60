"""Which external call is a repeat of which: the memory that lets an agent approve-and-repeat without knowing ids.

Source: 03, "Calls". A repeat gets the invocation id of the first attempt, so it joins or replays instead of running
again; a plain repeat (same tool, same input, no id) gets the confirmation's id attached as long as that is pending or
approved, and once after it was denied.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from surface.ids import new_invocation_id
from surface.values import InvocationResult

Key = tuple[str, str, str]  # registration id, capability id, the input as canonical JSON

Invoke = Callable[[str, str | None], Awaitable[InvocationResult]]

_KEPT = 200
# Answers that come before an approval is spent and leave it usable for the next repeat (CONFIRM-5).
_LEAVES_APPROVAL = frozenset({"RATE_LIMITED", "PRECONDITION_FAILED", "CAPABILITY_NOT_AVAILABLE"})


@dataclass(slots=True)
class Attempt:
    """One request of an agent, over all its repeats."""

    key: Key
    invocation_id: str
    confirmation_id: str | None = None
    running: int = 0


class Retries:
    """What one adapter remembers of requests that asked for confirmation; bounded, oldest forgotten first.

    ``state`` tells what became of a confirmation: pending, approved, denied, expired or consumed.
    """

    def __init__(self, state: Callable[[str], str]) -> None:
        self._state = state
        self._by_key: OrderedDict[Key, Attempt] = OrderedDict()
        self._by_confirmation: OrderedDict[str, tuple[Key, str]] = OrderedDict()

    async def through(self, key: Key, confirmation_id: str | None, invoke: Invoke) -> InvocationResult:
        """Make a call as the attempt that it belongs to: ``invoke`` gets the invocation and the confirmation id."""
        attempt = self._presented(key, confirmation_id) if confirmation_id is not None else self._plain(key)
        attempt.running += 1
        try:
            result = await invoke(attempt.invocation_id, attempt.confirmation_id)
        finally:
            attempt.running -= 1
        error = result.error
        if error is not None and error.code == "CONFIRMATION_REQUIRED":
            attempt.confirmation_id = (error.details or {}).get("confirmationId")
            self._remember(attempt)
        elif error is None or error.code not in _LEAVES_APPROVAL:
            self._forget(attempt)
        return result

    def _presented(self, key: Key, confirmation_id: str) -> Attempt:
        attempt = self._by_key.get(key)
        if attempt is not None and attempt.confirmation_id == confirmation_id:
            return attempt
        asked_for, invocation_id = self._by_confirmation.get(confirmation_id, (key, None))
        if invocation_id is None or asked_for != key:  # an id for another input is the registry's to refuse
            invocation_id = new_invocation_id()
        return Attempt(key, invocation_id, confirmation_id)

    def _plain(self, key: Key) -> Attempt:
        attempt = self._by_key.get(key)
        if attempt is None or attempt.confirmation_id is None:
            return Attempt(key, new_invocation_id())
        state = self._state(attempt.confirmation_id)
        if state in ("pending", "approved") or attempt.running:
            return attempt
        self._forget(attempt)
        # A denial is told once; after that, and after anything else, the same words are a new request.
        return attempt if state == "denied" else Attempt(key, new_invocation_id())

    def _remember(self, attempt: Attempt) -> None:
        self._by_key[attempt.key] = attempt
        self._by_key.move_to_end(attempt.key)
        if attempt.confirmation_id is not None:
            self._by_confirmation[attempt.confirmation_id] = (attempt.key, attempt.invocation_id)
        while len(self._by_key) > _KEPT:
            self._by_key.popitem(last=False)
        while len(self._by_confirmation) > _KEPT:
            self._by_confirmation.popitem(last=False)

    def _forget(self, attempt: Attempt) -> None:
        if self._by_key.get(attempt.key) is attempt:
            del self._by_key[attempt.key]
