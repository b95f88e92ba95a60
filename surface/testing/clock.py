"""A clock that only moves when a test says so."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count


class _Timer:
    __slots__ = ("callback", "cancelled", "due")

    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self.due, self.callback, self.cancelled = due, callback, False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """A `surface.clock.Clock` for tests: nothing sleeps, `advance` fires what became due (LIMIT-2).

    >>> clock = FakeClock()
    >>> registry = Registry(clock=clock)
    >>> await clock.advance(10.0)
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)
        self._timers: list[tuple[float, int, _Timer]] = []
        self._order = count()

    def now(self) -> float:
        """Seconds since the epoch, as this clock has it."""
        return self._now

    def call_later(self, seconds: float, callback: Callable[[], None]) -> _Timer:
        """Call back once the clock was advanced by ``seconds``."""
        timer = _Timer(self._now + max(0.0, seconds), callback)
        heapq.heappush(self._timers, (timer.due, next(self._order), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Move the clock: due timers fire in order, and what each of them wakes runs before the next one."""
        until = self._now + seconds
        await _let_run()
        while self._fire_next(until):
            await _let_run()
        self._now = until
        await _let_run()

    def advance_now(self, seconds: float) -> None:
        """Move the clock from inside a synchronous handler: due timers fire, nothing else runs."""
        until = self._now + seconds
        while self._fire_next(until):
            pass
        self._now = until

    def _fire_next(self, until: float) -> bool:
        while self._timers and self._timers[0][0] <= until:
            due, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled:
                self._now = max(self._now, due)
                timer.callback()
                return True
        return False


async def _let_run() -> None:
    # Enough turns for a chain of tasks, callbacks and futures to come to rest.
    for _ in range(20):
        await asyncio.sleep(0)
