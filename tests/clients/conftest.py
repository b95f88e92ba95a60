"""The unmodified demo, served once for all clients, and each client on its page."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest

from demo import prepare
from demo.process import start, stop
from tests.clients.drivers import CLIENTS, Client

BOOT_SECONDS = 120


@pytest.fixture(scope="session")
def demo_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the demo is served, on a free port and with a database of its own."""
    database = tmp_path_factory.mktemp("demo") / "devices.sqlite3"
    runtime = prepare.runtime()
    server = start([prepare.PYTHON, "-m", "demo.backend", "--port", "0", "--db", database, "--runtime", runtime])
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        address = re.search(r"http://\S+", said)
        assert address, f"the demo did not start: {said}{server.stdout.read()}"
        threading.Thread(target=server.stdout.read, daemon=True).start()
        yield address[0]
    finally:
        stop(server)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=list(CLIENTS))
async def client(
    request: pytest.FixtureRequest, anyio_backend: str, demo_address: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Client]:
    """One of the three clients, on a page whose tools are served by Python."""
    folder = tmp_path_factory.mktemp(request.param)
    async with CLIENTS[request.param](prepare.chromium(), demo_address, folder) as client:
        deadline = time.monotonic() + BOOT_SECONDS
        while (state := await client.evaluate("() => document.documentElement.dataset.agentSurface")) != "ready":
            assert state != "failed", await client.console_errors()
            assert time.monotonic() < deadline, f"the page is still {state!r} after {BOOT_SECONDS} s"
            await anyio.sleep(0.2)
        # Playwright's server can only call what it has listed.
        await client.tools()
        yield client
