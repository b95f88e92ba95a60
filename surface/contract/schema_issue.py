"""What is wrong with a value, and where: issues as agents read them (SCHEMA-11)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from surface.errors import cut

MAX_ISSUES = 32
_MAX_STEP = 128

Step: TypeAlias = str | int
Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that does not fit: ``path`` in the agent's names (``""``, ``a.b``, ``a[0].c``), ``message`` for it."""

    path: str
    message: str

    def to_wire(self) -> dict[str, str]:
        """``{path, message}``."""
        return {"path": self.path, "message": self.message}


class Parsed(NamedTuple):
    """A value that fits, or the issues why it does not; no issues means that ``value`` counts."""

    value: Any
    issues: tuple[Issue, ...] = ()

    @classmethod
    def failed(cls, found: Iterable[tuple[Steps, str]]) -> Parsed:
        """The outcome for what was found wrong, at most 32 issues of at most 300 characters."""
        issues: dict[Issue, None] = {}
        for steps, message in found:
            issues[Issue(issue_path(steps), cut(message))] = None
            if len(issues) == MAX_ISSUES:
                break
        return cls(None, tuple(issues))


def issue_path(steps: Steps) -> str:
    """Steps into a value as SCHEMA-11 writes them.

    >>> issue_path(("a", 0, "c"))
    'a[0].c'
    """
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{cut(step, _MAX_STEP)}" if path else cut(step, _MAX_STEP)
    return path
