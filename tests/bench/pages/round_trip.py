"""No-op capabilities for the round trip bench: one plain, one asynchronous that never waits."""

from __future__ import annotations

from surface import Component

noop = Component("bench.noop", description="Does nothing")


@noop.action("Take a text and do nothing", effect="local-state")
def plain(text: str) -> None: ...


@noop.action("Take a text and do nothing, asynchronously", effect="local-state")
async def eager(text: str) -> None: ...


@noop.observation("Read one number")
def read() -> int:
    return 1


components = [noop]
