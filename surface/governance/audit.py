"""What happened, for the people responsible: audit records, the sinks that keep them, and what a payload may show.

Source: core rules §17.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from surface.canonical import NotJSON, json_text
from surface.clock import Clock, iso
from surface.errors import AUTHOR_ERRORS
from surface.limits import AUDIT_RECORDS

logger = logging.getLogger("surface")

Redact = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One thing that happened: its ``kind``, when (``at``, epoch seconds), and the fields of the audit table by their
    wire names."""

    kind: str
    at: float
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def to_wire(self) -> dict[str, Any]:
        """``{kind, at, …}``; ``at`` as ISO text."""
        return {"kind": self.kind, "at": iso(self.at), **self.fields}


class Sink(Protocol):
    """Where records go. It may have a ``redact(payload)`` of its own."""

    def record(self, event: AuditRecord) -> object:
        """Keep or send one record."""


class AuditLog:
    """The default sink: the last 1,000 records, in memory."""

    def __init__(self) -> None:
        self._records: deque[AuditRecord] = deque(maxlen=AUDIT_RECORDS)

    def record(self, event: AuditRecord) -> None:
        """Keep a record; the oldest goes once there are 1,000."""
        self._records.append(event)

    def records(self) -> list[AuditRecord]:
        """What is kept, oldest first."""
        return list(self._records)


class Auditor:
    """Writes records to sinks; a sink that fails is logged and breaks nothing (AUDIT-3)."""

    def __init__(self, sinks: Iterable[Sink], clock: Clock, max_payload_bytes: int) -> None:
        self._sinks = tuple(sinks)
        self._clock = clock
        self._max_payload_bytes = max_payload_bytes

    def write(
        self,
        kind: str,
        fields: Mapping[str, Any],
        *,
        payload: Mapping[str, Any] | None = None,
        redact: Redact | None = None,
        sinks: Iterable[Sink] | None = None,
    ) -> None:
        """Write one record, None fields left out; ``payload`` passes ``redact``, then each sink's own (AUDIT-2)."""
        at = self._clock.now()
        present = {key: value for key, value in fields.items() if value is not None}
        shown = None if payload is None else _redacted(dict(payload), redact)
        for sink in self._sinks if sinks is None else sinks:
            try:
                sink.record(AuditRecord(kind, at, MappingProxyType(present | self._payload(shown, sink))))
            except AUTHOR_ERRORS:
                logger.exception("An audit sink failed on %s", kind)

    def _payload(self, payload: Any, sink: Sink) -> dict[str, Any]:
        shown = None if payload is None else _redacted(payload, getattr(sink, "redact", None))
        if shown is None:
            return {}
        try:
            size = len(json_text(shown).encode())
        except NotJSON:
            return {}
        return {"payload": shown if size <= self._max_payload_bytes else {"truncated": True, "bytes": size}}


def _redacted(payload: Any, redact: Redact | None) -> Any:
    """What a hook lets through; nothing where it fails."""
    if redact is None:
        return payload
    try:
        return redact(payload)
    except AUTHOR_ERRORS:
        logger.exception("A redact hook failed, so the payload was dropped")
        return None
