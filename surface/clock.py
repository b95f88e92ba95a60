"""One source of time for the whole core (LIMIT-2): wall time in epoch seconds, and timers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    """A pending call that can be taken back."""

    def cancel(self) -> None:
        """Forget the call; harmless once it has been made."""


class Clock(Protocol):
    """What the core asks of time. `surface.testing.FakeClock` is the one to use in tests."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call back after ``seconds``; needs a running event loop where the clock is the system's."""
        ...


class SystemClock:
    """The machine's clock and the running event loop's timers."""

    def now(self) -> float:
        return time.time()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


def iso(seconds: float) -> str:
    """Epoch seconds as ISO-8601 UTC text with milliseconds, the form of every stamp on the wire.

    >>> iso(0.0)
    '1970-01-01T00:00:00.000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
