"""Run a coroutine of a test that is not itself asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on a loop of its own."""
    return asyncio.run(coroutine)
