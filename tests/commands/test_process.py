"""Commands are watched while they run, and what they start never outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.process import ROOT, run, start, stop

# Starts a child of its own, says that child's number, and waits.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def alive(number: int) -> bool:
    """Whether the process runs. One that waits for its parent to notice its end does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except FileNotFoundError:
        return False


def soon(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_output_of_both_kinds_and_the_exit_code_are_kept() -> None:
    script = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    done = run("A command", [sys.executable, "-c", script])
    assert (done.code, done.output) == (3, "out\nerr\n")


def test_a_command_that_is_quick_is_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    run("A quick command", [sys.executable, "-c", ""])
    assert capsys.readouterr().out == ""


def test_a_command_that_takes_longer_than_two_seconds_is_shown_with_its_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("A slow command", [sys.executable, "-uc", "import time; print('unpacking'); time.sleep(2.5)"])
    assert "A slow command … 2 s  unpacking" in capsys.readouterr().out


def test_a_command_that_never_ends_is_ended_with_all_it_started() -> None:
    done = run("A stuck command", [sys.executable, "-c", PARENT], timeout=1)
    assert done.code == 124
    assert "ended after 1 s without an answer" in done.output
    assert soon(lambda: not alive(int(done.output.split()[0])))


def test_stop_ends_a_command_and_all_it_started() -> None:
    process = start([sys.executable, "-c", PARENT])
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert alive(child)
    stop(process)
    assert not alive(process.pid)
    assert soon(lambda: not alive(child))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_command_ends_when_this_process_is_killed() -> None:
    starter = (
        "import sys, time; from demo.process import start\n"
        "process = start([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", starter], cwd=ROOT, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        child = int(killed.stdout.readline())
        assert alive(child)
        killed.kill()
    assert soon(lambda: not alive(child))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_demo_and_its_server_end_with_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    starter = (
        "import sys; from demo.start import serve\n"
        "from demo.process import end_cleanly_on_signals\n"
        "from pathlib import Path\n"
        "end_cleanly_on_signals()\n"
        "sys.exit(serve(Path(sys.executable), 'chromium', None, 0))"
    )
    with subprocess.Popen(
        [sys.executable, "-uc", starter], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as demo:
        assert demo.stdout is not None
        assert "http://127.0.0.1:" in demo.stdout.readline()
        children = Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()
        assert len(children) == 1
        os.kill(demo.pid, number)
        assert demo.wait(20) == (0 if number == signal.SIGINT else 128 + number)
    assert soon(lambda: not alive(int(children[0])))
