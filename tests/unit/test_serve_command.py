"""``surface serve`` as a person meets it: one line with the address, and one sentence where it cannot start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from surface.cli.failure import CommandError
from surface.cli.serve import address, listen

COMMAND = [sys.executable, "-c", "from surface.cli import main; main()", "serve"]


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def refused(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=30)


def test_it_says_where_and_serves_there_and_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>hello</p>")
    with serving(str(tmp_path), "--port", "0") as (process, line):
        found = re.fullmatch(r"Serving .+ at (http://127\.0\.0\.1:\d+/)\n", line)
        assert found
        with urllib.request.urlopen(found[1], timeout=10) as response:
            assert response.read() == b"<p>hello</p>"
            assert response.headers["Content-Security-Policy"] is None
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=10)
        assert (process.returncode, out, errors) == (0, "", "")


def test_csp_and_verbose_do_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>hello</p>")
    with serving(str(tmp_path), "--port", "0", "--csp", "--verbose") as (process, line):
        with urllib.request.urlopen(line.split()[-1], timeout=10) as response:
            assert "'wasm-unsafe-eval'" in response.headers["Content-Security-Policy"]
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=10)
        assert "GET / HTTP/1.1" in out + errors


def test_a_port_in_use_is_one_sentence_and_2(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        run = refused(str(tmp_path), "--port", port)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"surface: Port {port} is in use by another program; choose another with --port")
    assert run.stderr.count("\n") == 1


def test_a_folder_that_does_not_exist_is_one_sentence_and_2(tmp_path: Path) -> None:
    run = refused(str(tmp_path / "missing"))
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.endswith("missing does not exist; name the folder to serve.\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("host", ["no..name", "192.0.2.1"])
def test_a_host_that_is_not_of_this_machine_is_one_sentence(host: str) -> None:
    with pytest.raises(CommandError, match=f"{re.escape(host)} is not an address of this machine"):
        listen(host, 0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the system's own ports are open to root")
def test_a_port_of_the_system_is_one_sentence() -> None:
    with pytest.raises(CommandError, match="choose one above 1023"):
        listen("127.0.0.1", 80)


def test_the_address_is_one_a_browser_takes() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}/"


def test_the_address_of_a_host_in_ipv6_has_its_brackets() -> None:
    try:
        listening = listen("::1", 0)
    except CommandError:
        pytest.skip("this machine has no IPv6 loopback")
    with listening:
        assert address(listening) == f"http://[::1]:{listening.getsockname()[1]}/"
