"""What can go wrong, as data: definition errors for authors, typed errors for agents, and the catalogue behind both.

Source: core rules §3 (definition errors), §8 (error catalogue).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

# Error message, summary, precondition message, denial reason and progress note (fixed).
MAX_MESSAGE = 300

# What an author's function may end with and is theirs to fix. CancelledError counts where nobody cancelled us: a
# synchronous function raises it by looking at a cancelled task, say.
AUTHOR_ERRORS = (Exception, asyncio.CancelledError, GeneratorExit, SystemExit)


def camel_case(name: str) -> str:
    """A Python name as it stands on the wire: ``select_rows`` → ``selectRows``."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def cut(text: str, length: int = MAX_MESSAGE) -> str:
    """Text of at most ``length`` characters, an ellipsis where something was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def is_text(value: str) -> bool:
    """True if a text has no lone surrogate, so that it can be sent."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class SurfaceDefinitionError(Exception):
    """A contract, a registration or an option is wrong. Raised to the author, never shown to an agent.

    ``code`` is one of INVALID_ID, INVALID_DEFINITION, UNSUPPORTED_SCHEMA, PLANE_VIOLATION, DUPLICATE_CAPABILITY
    and LIMIT_EXCEEDED; ``path`` names the place, such as ``devices.table.selectRows(ids)``.
    """

    def __init__(self, code: str, message: str, path: str = "") -> None:
        self.code = code
        self.message = message
        self.path = path
        super().__init__(f"{code} at {path}: {message}" if path else f"{code}: {message}")


class RegistryDisposed(RuntimeError):
    """The registry was disposed; make a new one. Raised by register, reference, snapshot and invoke."""

    def __init__(self, message: str = "This registry was disposed; make a new Registry.") -> None:
        super().__init__(message)


class SurfaceError(Exception):
    """A typed failure that a handler, a policy or an executor may raise; the agent sees code, message and details.

    ``message`` is at most 300 characters and safe for an agent to read; ``details`` is JSON. ``retry`` may be left
    out: the catalogue knows it.

    >>> raise SurfaceError("RATE_LIMITED", "The export queue is full", details={"retryAfterMs": 2000})
    """

    def __init__(
        self, code: str, message: str = "", *, retry: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        self.message = message
        self.retry = retry
        self.details = dict(details) if details else {}
        super().__init__(f"{code}: {message}" if message else code)


class PreconditionFailed(SurfaceError):
    """A handler or a ``precondition`` says that the call makes no sense now; the agent may change it and try again."""

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__("PRECONDITION_FAILED", message, details=details)


class CatalogueRow(NamedTuple):
    """What the catalogue says of one code: its usual ``retry``, every other ``retry`` it may carry, and a message
    for when nobody wrote one."""

    retry: str
    other_retries: tuple[str, ...]
    message: str


CATALOGUE: Mapping[str, CatalogueRow] = {
    "CAPABILITY_NOT_FOUND": CatalogueRow(
        "after-refresh", (), "There is no such capability. Read the surface again and use an id from it."
    ),
    "CAPABILITY_NOT_AVAILABLE": CatalogueRow(
        "after-refresh", (), "This capability is not available right now; the reason is in details."
    ),
    "AMBIGUOUS_INSTANCE": CatalogueRow(
        "with-changes", (), "Several instances offer this capability. Name one of details.instances."
    ),
    "COMPONENT_UNMOUNTED": CatalogueRow(
        "after-refresh", (), "The component that offered this capability has left the page."
    ),
    "STALE_CAPABILITY": CatalogueRow(
        "after-refresh", (), "This capability was replaced since it was listed. Read the surface again."
    ),
    "INVOCATION_CONFLICT": CatalogueRow(
        "with-changes", (), "This invocation id was used for a different request. Use a new id."
    ),
    "INVALID_INPUT": CatalogueRow("with-changes", (), "The input does not fit the schema; see details."),
    "NOT_AUTHENTICATED": CatalogueRow("no", (), "Nobody is signed in, or the session has ended."),
    "NOT_AUTHORIZED": CatalogueRow("no", (), "The signed-in user may not do this."),
    "PRECONDITION_FAILED": CatalogueRow(
        "with-changes", ("after-refresh",), "The state of the page does not allow this now."
    ),
    "CONFIRMATION_REQUIRED": CatalogueRow(
        "with-confirmation", (), "A person must approve this request first. Ask for it, then call again."
    ),
    "CONFIRMATION_INVALID": CatalogueRow(
        "no", ("with-confirmation",), "This confirmation does not allow the request; the reason is in details."
    ),
    "RATE_LIMITED": CatalogueRow("after-delay", (), "Too many calls. Wait for details.retryAfterMs, then call again."),
    "TIMEOUT": CatalogueRow("no", ("yes",), "The call took longer than it may."),
    "CANCELLED": CatalogueRow("yes", ("no",), "The call was cancelled."),
    "EXECUTION_FAILED": CatalogueRow("no", ("after-delay",), "The capability failed while it ran."),
}
