"""What unit tests share: a registry on a fake clock, and a way to run a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from surface import Registry
from surface.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_000.0)


@pytest.fixture
def registry(clock: FakeClock) -> Registry:
    return Registry(clock=clock)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on a loop of its own."""
    return asyncio.run(coroutine)
