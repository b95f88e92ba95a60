"""The scripted agent's verdict on pages that are not as they should be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo import prepare
from demo.process import ROOT, start, stop
from demo.start import ADDRESS


@pytest.fixture
def page_without_python(tmp_path: Path) -> Iterator[str]:
    """The demo, served without a runtime bundle."""
    database = tmp_path / "devices.sqlite3"
    server = start([sys.executable, "-m", "demo.backend", "--port", "0", "--db", database])
    try:
        assert server.stdout is not None
        found = ADDRESS.search(server.stdout.readline())
        assert found
        yield found[1]
    finally:
        stop(server)


def agent(address: str, browser: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo.agent", address, "--chromium", browser]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_page_whose_python_does_not_start_fails_and_the_console_is_told(page_without_python: str) -> None:
    played = agent(page_without_python, prepare.chromium())
    assert played.returncode == 1
    lines = played.stdout.splitlines()
    assert lines[-1] == "agent: 2 steps, 0 ok"
    assert "  1  FAILED  The page comes up" in played.stdout
    assert "console error: " in played.stdout


def test_a_browser_that_does_not_start_is_one_sentence() -> None:
    played = agent("http://127.0.0.1:1/", "/bin/false")
    assert played.returncode == 1
    assert played.stderr.startswith("/bin/false could not be started as a browser: ")
    assert played.stderr.count("\n") == 1
