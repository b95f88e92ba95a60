"""What the registry tells its listeners, and the one place that tells them.

Source: core rules §16. Events follow the change they speak of, one at a time; an event that a listener causes waits
until the current one has reached everybody.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from surface.errors import AUTHOR_ERRORS, camel_case

logger = logging.getLogger("surface")


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events: a ``kind`` and the fields of the event table."""

    kind: ClassVar[str]

    def to_wire(self) -> dict[str, Any]:
        """``kind`` and the fields in camelCase; fields that do not apply are left out."""
        wire: dict[str, Any] = {"kind": self.kind}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                wire[camel_case(field.name)] = value
        return wire


@dataclass(frozen=True, slots=True)
class SurfaceChanged(Event):
    """The surface moved; coalesced to one per event-loop turn, with the latest version (EVENT-2)."""

    kind: ClassVar[str] = "surface-changed"
    surface_version: str


@dataclass(frozen=True, slots=True)
class ComponentRegistered(Event):
    """A registration went live."""

    kind: ClassVar[str] = "component-registered"
    registration_id: str
    component_type: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class ComponentUnregistered(Event):
    """A registration ended."""

    kind: ClassVar[str] = "component-unregistered"
    registration_id: str
    component_type: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class ComponentRejected(Event):
    """A newcomer was turned away; ``reason`` is duplicate or guard."""

    kind: ClassVar[str] = "component-rejected"
    component_type: str
    instance_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AvailabilityChanged(Event):
    """`Registration.update` switched one capability on or off."""

    kind: ClassVar[str] = "availability-changed"
    registration_id: str
    capability_id: str
    available: bool


@dataclass(frozen=True, slots=True)
class InvocationStarted(Event):
    """An invocation began; joined and replayed calls tell nothing."""

    kind: ClassVar[str] = "invocation-started"
    invocation_id: str
    capability_id: str
    consumer_kind: str
    consumer_id: str


@dataclass(frozen=True, slots=True)
class InvocationSettled(Event):
    """An invocation ended; ``status`` is ok or error, ``code`` the error's, ``duration_ms`` since it started."""

    kind: ClassVar[str] = "invocation-settled"
    invocation_id: str
    capability_id: str
    status: str
    code: str | None
    duration_ms: float


@dataclass(frozen=True, slots=True)
class ConfirmationRequested(Event):
    """A person is asked; ``expires_at`` as ISO text."""

    kind: ClassVar[str] = "confirmation-requested"
    confirmation_id: str
    capability_id: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class ConfirmationResolved(Event):
    """``outcome`` is approved, denied or expired; ``reason`` is component-unmounted where that is why."""

    kind: ClassVar[str] = "confirmation-resolved"
    confirmation_id: str
    outcome: str
    reason: str | None


Listener = Callable[[Event], object]
_EVERY_KIND: frozenset[str] = frozenset()


class EventHub:
    """Delivers events to listeners in order, and gathers surface changes into one event a turn."""

    def __init__(self) -> None:
        self._listeners: list[tuple[Listener, frozenset[str]]] = []
        self._queue: deque[Event] = deque()
        self._delivering = False
        self._closed = False
        self._depth = 0
        self._changed: str | None = None
        self._flush_scheduled = False

    def hears(self, kind: str) -> bool:
        """True if anybody listens to events of this kind; saves making events that nobody would get."""
        return any(not kinds or kind in kinds for _, kinds in self._listeners)

    def subscribe(self, listener: Listener, kinds: Collection[str] = _EVERY_KIND) -> Callable[[], None]:
        """Add a listener to events of these kinds, none given meaning all; returns its removal, which may be called
        twice."""
        entry = (listener, frozenset(kinds))
        self._listeners.append(entry)

        def unsubscribe() -> None:
            if entry in self._listeners:
                self._listeners.remove(entry)

        return unsubscribe

    def emit(self, event: Event) -> None:
        """Tell everybody, now or, from inside a listener, as soon as the current event has reached all."""
        if self._closed or not self._listeners:
            return
        self._queue.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._queue:
                current = self._queue.popleft()
                for listener, kinds in tuple(self._listeners):
                    if kinds and current.kind not in kinds:
                        continue
                    try:
                        listener(current)
                    except AUTHOR_ERRORS:
                        logger.exception("A listener failed on %s", current.kind)
        finally:
            self._delivering = False

    def surface_changed(self, version: str) -> None:
        """Note that the surface moved; the event comes once per event-loop turn, or, without a running loop, when
        the outermost mutation returns (EVENT-2)."""
        if self._closed:
            return
        self._changed = version
        if self._flush_scheduled:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            if self._depth == 0:
                self._flush()
            return
        self._flush_scheduled = True
        loop.call_soon(self._flush)

    def __enter__(self) -> EventHub:
        """Open a mutation: without a running loop, surface-changed waits for the outermost one to close."""
        self._depth += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._changed is not None and not self._flush_scheduled:
            self._flush()

    def close(self) -> None:
        """Drop all listeners; nothing is told from now on."""
        self._closed = True
        self._listeners.clear()
        self._queue.clear()
        self._changed = None

    def _flush(self) -> None:
        self._flush_scheduled = False
        version, self._changed = self._changed, None
        if version is not None:
            self.emit(SurfaceChanged(version))
