"""Plain values that every room hands around: consumers, results, handler contexts, signals.

Source: core rules §8 (contexts, errors), §15 (results).
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from surface.errors import AUTHOR_ERRORS, CATALOGUE, MAX_MESSAGE, is_text

logger = logging.getLogger("surface")


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who a snapshot or an invocation is for; identified by the pair (kind, id), never by joined text.

    ``grants`` is what the host says this consumer may do; policies read it.
    """

    kind: str
    id: str
    grants: Collection[str] = field(default=(), compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """(kind, id), what identifies the consumer."""
        return (self.kind, self.id)


ANONYMOUS = Consumer("embedded", "anonymous")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a handler has come; ``total`` and ``note`` (at most 300 characters) may be unknown."""

    done: float
    total: float | None = None
    note: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """``{done, total?, note?}``."""
        wire: dict[str, Any] = {"done": self.done}
        if self.total is not None:
            wire["total"] = self.total
        if self.note is not None:
            wire["note"] = self.note
        return wire


class CancelSignal:
    """A one-way switch: `cancel` once, with a reason; everybody who holds it can look, wait or be told.

    Given to `Registry.invoke` it cancels that call; in a handler's context it says why the handler is being
    cancelled, which a synchronous handler can poll.
    """

    __slots__ = ("_callbacks", "cancelled", "reason")

    def __init__(self) -> None:
        self.cancelled = False
        self.reason: str | None = None
        self._callbacks: list[Callable[[], None]] = []

    def cancel(self, reason: str | None = None) -> None:
        """Cancel; a second call changes nothing."""
        if self.cancelled:
            return
        self.cancelled, self.reason = True, reason
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback()
            except AUTHOR_ERRORS:
                logger.exception("A callback of a CancelSignal failed")

    async def wait(self) -> str | None:
        """Return the reason as soon as the signal is cancelled."""
        if not self.cancelled:
            fired = asyncio.get_running_loop().create_future()
            forget = self.on_cancel(lambda: None if fired.done() else fired.set_result(None))
            try:
                await fired
            finally:
                forget()
        return self.reason

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back on cancellation (at once if it has happened); returns the removal."""
        if self.cancelled:
            callback()
            return lambda: None
        self._callbacks.append(callback)

        def forget() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return forget


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a read function may know of its call: annotate a parameter with this class to get it.

    ``host`` is the mapping that the registry's ``context`` gave for this invocation.
    """

    capability_id: str
    registration_id: str
    consumer: Consumer
    host: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConfirmationEvidence:
    """The approval that was spent for this call; ``approved_at`` in epoch seconds."""

    id: str
    approved_at: float


@dataclass(frozen=True, slots=True)
class ActionContext(ReadContext):
    """What an action may know of its call, and how it reports progress."""

    invocation_id: str
    signal: CancelSignal
    confirmation: ConfirmationEvidence | None
    report: Callable[[Progress], None] = field(repr=False)

    def progress(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Say how far the action has come; replaces what was said before (PIPE-11).

        Raises ValueError for what is no finite number or no text.
        """
        for number in (done, total):
            if number is not None and (type(number) not in (int, float) or not math.isfinite(number)):
                raise ValueError(f"progress is counted in finite numbers, not {number!r}")
        if note is not None and (not isinstance(note, str) or not is_text(note)):
            raise ValueError("the note of a progress is text")
        self.report(Progress(done, total, None if note is None else note[:MAX_MESSAGE]))


@dataclass(frozen=True, slots=True)
class InvocationError:
    """Why a call failed: a catalogue ``code``, an agent-safe ``message``, when to ``retry``, and JSON ``details``."""

    code: str
    message: str
    retry: str
    details: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        code: str,
        details: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        retry: str | None = None,
    ) -> InvocationError:
        """The error of a code, with the catalogue's words and retry where none are given."""
        row = CATALOGUE[code]
        return cls(code, message or row.message, retry or row.retry, details or None)

    def to_wire(self) -> dict[str, Any]:
        """``{code, message, retry, details?}``."""
        wire: dict[str, Any] = {"code": self.code, "message": self.message, "retry": self.retry}
        if self.details:
            wire["details"] = dict(self.details)
        return wire


@dataclass(frozen=True, slots=True)
class InvocationResult:
    """How one invocation ended (OUT-1).

    ``output`` is JSON; ``has_output`` tells a null output from none. ``surface_version`` is that of the settlement;
    ``surface_changed`` says that it moved since the call began.
    """

    status: str
    invocation_id: str
    capability_id: str
    surface_version: str
    surface_changed: bool = False
    output: Any = None
    has_output: bool = False
    error: InvocationError | None = None

    @property
    def ok(self) -> bool:
        """True if the capability ran and its output was accepted."""
        return self.error is None

    def to_wire(self) -> dict[str, Any]:
        """``{status, invocationId, capabilityId, surfaceVersion, surfaceChanged?, output?, error?}``."""
        wire: dict[str, Any] = {
            "status": self.status,
            "invocationId": self.invocation_id,
            "capabilityId": self.capability_id,
            "surfaceVersion": self.surface_version,
        }
        if self.surface_changed:
            wire["surfaceChanged"] = True
        if self.has_output:
            wire["output"] = self.output
        if self.error is not None:
            wire["error"] = self.error.to_wire()
        return wire
