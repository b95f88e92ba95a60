"""What unit tests share: a registry on a fake clock."""

from __future__ import annotations

import pytest

from surface import Registry
from surface.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_000.0)


@pytest.fixture
def registry(clock: FakeClock) -> Registry:
    return Registry(clock=clock)
