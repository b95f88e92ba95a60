"""Running commands: shown while they take their time, and never left behind. Standard library only."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 2.0
"""Seconds after which a person is told that something is still going on."""
HEARTBEAT = 15.0
"""Seconds between two such notes in a log; a terminal gets one line that changes."""


# Loaded here, since little may happen between fork and exec.
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Refusal(Exception):
    """Why a command cannot go on: one sentence for a person that says what to do next."""


@dataclass(frozen=True)
class Finished:
    """A command that ended: its exit code, what it wrote, and how long it took in seconds."""

    code: int
    output: str
    seconds: float


def start(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, stdout: int | None = subprocess.PIPE
) -> subprocess.Popen[str]:
    """Start a command in the repository, in a process group of its own, both outputs in one pipe or in ``stdout``.

    On Linux it is ended with this process, however this process ends.
    """
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )


def stop(process: subprocess.Popen[str], grace: float = 10.0) -> None:
    """End a command and all it started: politely first, for ``grace`` seconds."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(
    label: str, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, timeout: float = 1800.0
) -> Finished:
    """Run a command to its end, telling a person what is going on where that takes longer than two seconds.

    A command that takes longer than ``timeout`` seconds is ended; its code is then 124, as ``timeout(1)`` has it.
    """
    lines: list[str] = []
    started = time.monotonic()
    process = start(command, env=env)
    reader = threading.Thread(target=_collect, args=(process, lines), daemon=True)
    reader.start()
    note = _Note(label)
    try:
        while process.poll() is None:
            seconds = time.monotonic() - started
            if seconds > timeout:
                lines.append(f"{label}: ended after {timeout:.0f} s without an answer.\n")
                return Finished(124, "".join(lines), seconds)
            note.show(seconds, lines[-1] if lines else "")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        reader.join(5)
        return Finished(process.returncode, "".join(lines), time.monotonic() - started)
    finally:
        stop(process)
        note.clear()


def end_cleanly_on_signals() -> None:
    """Turn a request to terminate into an exception, so that every ``finally`` ends what it started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _collect(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stdout is not None
    # Line by line, since the last one is shown while the command runs.
    for line in process.stdout:
        lines.append(line)  # noqa: PERF402


class _Note:
    """The line that says that a command is still at work."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.next = PATIENCE
        self.live = sys.stdout.isatty()
        self.shown = False

    def show(self, seconds: float, last: str) -> None:
        if seconds < self.next:
            return
        self.shown = True
        detail = last.strip()
        text = f"  {self.label} … {seconds:.0f} s" + (f"  {detail}" if detail else "")
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[2K{text[:width]}", end="", flush=True)
        else:
            print(text[:160], flush=True)
            self.next = seconds + HEARTBEAT

    def clear(self) -> None:
        if self.live and self.shown:
            print("\r\x1b[2K", end="", flush=True)
