"""What a person reads while the agent plays: numbered steps, what was done, what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Error as BrowserError

LINE = 150


class Mismatch(Exception):
    """A tool said one thing and the page, the database or the rules another."""


class Stopped(Exception):
    """A step went wrong. What would have followed builds on it."""


class Transcript:
    """Counts the steps and prints each when it is over."""

    def __init__(self) -> None:
        self.steps = 0
        self.ok = 0
        self._lines: list[str] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step. Raises ``Stopped`` where something in it does not match or the browser objects."""
        self.steps += 1
        self._lines = []
        try:
            yield
        except (Mismatch, BrowserError) as error:
            # Playwright adds a log of what it tried.
            self._print("FAILED", title, f"but   {str(error).partition('Call log:')[0].strip()}")
            raise Stopped from error
        self.ok += 1
        self._print("ok", title)

    def called(self, tool: str, given: object) -> None:
        """Note a call."""
        self._lines.append(_short(f"call  {tool} {json.dumps(given, ensure_ascii=False)}"))

    def answered(self, error: bool, text: str) -> None:
        """Note an answer."""
        self._lines.append(_short(f"{'error' if error else 'got  '} {text}"))

    def saw(self, text: str) -> None:
        """Note what the page shows."""
        self._lines.append(_short(f"page  {text}"))

    def summary(self) -> str:
        """The last line."""
        return f"agent: {self.steps} steps, {self.ok} ok"

    def _print(self, result: str, title: str, *more: str) -> None:
        print(f"{self.steps:3}  {result:6}  {title}")
        for line in [*self._lines, *more]:
            print(f"             {line}", flush=True)


def same(what: str, said: Any, seen: Any) -> None:
    """Raises ``Mismatch`` unless what was said is what was seen."""
    if said != seen:
        raise Mismatch(f"{what} differ: {_short(repr(said))} against {_short(repr(seen))}")


def true(what: str, holds: bool) -> None:
    """Raises ``Mismatch`` unless it holds."""
    if not holds:
        raise Mismatch(f"this does not hold: {what}")


def _short(text: str) -> str:
    return text if len(text) <= LINE else f"{text[: LINE - 1]}…"
