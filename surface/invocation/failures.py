"""How a phase says no, and what becomes of what handlers raise.

Source: core rules §8, PIPE-7 and PIPE-8 and the error catalogue.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from surface.canonical import json_problem
from surface.errors import CATALOGUE, MAX_MESSAGE, SurfaceError, is_text
from surface.values import InvocationError

logger = logging.getLogger("surface")

# PIPE-8: what a handler may raise, with the details that are filled in where it gave none.
_HANDLER_CODES: Mapping[str, Mapping[str, Any]] = {
    "PRECONDITION_FAILED": {},
    "NOT_AUTHORIZED": {"origin": "client"},
    "NOT_AUTHENTICATED": {"origin": "client"},
    "RATE_LIMITED": {"reason": "rate", "retryAfterMs": 1000},
    "CAPABILITY_NOT_AVAILABLE": {"reason": "unavailable"},
    "CANCELLED": {"phase": "mid-flight"},
    "EXECUTION_FAILED": {"reason": "handler-error"},
}

_POLICY_CODES: Mapping[str, Mapping[str, Any]] = {
    **_HANDLER_CODES,
    "CANCELLED": {"phase": "policy"},
    "EXECUTION_FAILED": {"reason": "policy-error"},
    "CAPABILITY_NOT_FOUND": {},
}


class Refused(Exception):
    """The first failing phase answers: raised by a phase, turned into the result by the pipeline."""

    def __init__(
        self,
        code: str,
        details: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        retry: str | None = None,
    ) -> None:
        super().__init__(code)
        if message is not None and not is_text(message):
            message = None
        self.error = InvocationError.of(code, _sendable(details), message=message, retry=retry)


class Settled(Exception):
    """The call was settled from outside while a phase waited; the pipeline unwinds and answers what was settled."""


def handler_error() -> Refused:
    """An unexpected failure, of which nothing but the fact is told (PIPE-7)."""
    return Refused("EXECUTION_FAILED", {"reason": "handler-error"})


def from_handler(error: BaseException, capability_id: str) -> Refused:
    """What an agent hears of an exception that a handler or a precondition raised.

    Everything that PIPE-8 does not allow is logged for the page's author, with its traceback, and becomes
    EXECUTION_FAILED{handler-error}.
    """
    if isinstance(error, SurfaceError):
        refused = _allowed(error, _HANDLER_CODES)
        if refused is not None:
            return refused
    logger.error("%s failed in its handler", capability_id, exc_info=error)
    return handler_error()


def from_policy(error: BaseException, policy: str) -> Refused:
    """What an agent hears of an exception that a policy raised before it went on (POLICY-7)."""
    if isinstance(error, SurfaceError):
        refused = _allowed(error, _POLICY_CODES)
        if refused is not None:
            return refused
    logger.error("The policy %s failed", policy, exc_info=error)
    return Refused("EXECUTION_FAILED", {"reason": "policy-error"})


def policy_error(policy: str, problem: str) -> Refused:
    """The refusal for a policy that is not what a policy must be."""
    logger.error("The policy %s failed: %s", policy, problem)
    return Refused("EXECUTION_FAILED", {"reason": "policy-error"})


def _allowed(error: SurfaceError, codes: Mapping[str, Mapping[str, Any]]) -> Refused | None:
    filled = codes.get(error.code) if isinstance(error.code, str) else None
    if filled is None or not isinstance(error.message, str) or len(error.message) > MAX_MESSAGE:
        return None
    if not isinstance(error.details, dict) or json_problem(error.details) or json_problem(error.message):
        return None
    row = CATALOGUE[error.code]
    retry = error.retry if error.retry in (row.retry, *row.other_retries) else row.retry
    details = {**filled, **error.details}
    if error.code == "CANCELLED":
        details |= filled  # the phase is a fact, not an opinion
    return Refused(error.code, details, message=error.message, retry=retry)


def _sendable(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The details without lone surrogates, which an author's reason or an unknown id may bring along."""
    if not details:
        return None
    if json_problem(dict(details)) is None:
        return details
    text = json.dumps(details, ensure_ascii=False, default=str)
    cleaned: Mapping[str, Any] = json.loads(text.encode(errors="replace"))
    return cleaned
