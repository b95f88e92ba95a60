"""The policies that most pages need (the table of core rules §12)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from surface.contract.effects import AUDIT_LEVELS, AuditLevel
from surface.errors import AUTHOR_ERRORS, SurfaceDefinitionError, SurfaceError
from surface.governance.audit import Sink
from surface.governance.policy import (
    AuditPolicy,
    CallNext,
    Decision,
    Escalation,
    InvokeContext,
    Policy,
    PolicyContext,
    expose,
    hide,
)
from surface.values import InvocationResult

_DEFAULT_KEYS = 1_000


class _Gate(Policy):
    """Shared by `authenticated` and `has_permission`: hide, or expose and refuse."""

    def __init__(self, name: str, allows: Callable[[PolicyContext], bool], code: str, hides: bool) -> None:
        self.name = name
        self._allows, self._code, self._hides = allows, code, hides

    def on_discovery(self, ctx: PolicyContext) -> Decision:
        return hide() if self._hides and not self._allows(ctx) else expose()

    async def on_authorize(self, ctx: PolicyContext, call_next: CallNext) -> InvocationResult:
        if not self._allows(ctx):
            raise SurfaceError(self._code, details={"origin": "client"})
        return await call_next()


def authenticated(key: str = "user", hide: bool = True) -> Policy:
    """Needs a truthy ``host[key]``. Hides what it guards, or with ``hide=False`` answers NOT_AUTHENTICATED."""
    return _Gate("authenticated", lambda ctx: bool(ctx.host.get(key)), "NOT_AUTHENTICATED", hide)


def has_permission(name: str, check: Callable[[PolicyContext], bool] | None = None, hide: bool = True) -> Policy:
    """Needs a permission, by default ``name in consumer.grants``; ``check(ctx)`` decides otherwise.

    Hides what it guards, or with ``hide=False`` answers NOT_AUTHORIZED; the permission's name is never told.
    """

    def allows(ctx: PolicyContext) -> bool:
        return bool(check(ctx)) if check is not None else name in ctx.consumer.grants

    return _Gate("has_permission", allows, "NOT_AUTHORIZED", hide)


class _Hiding(Policy):
    def __init__(self, name: str, allows: Callable[[PolicyContext], bool]) -> None:
        self.name = name
        self._allows = allows

    def on_discovery(self, ctx: PolicyContext) -> Decision:
        return expose() if self._allows(ctx) else hide()


def tenant_boundary(*, current: Callable[[PolicyContext], Any], expected: Callable[[PolicyContext], Any]) -> Policy:
    """Hides unless ``current(ctx)`` equals ``expected(ctx)``; None on either side is undefined and hides too."""

    def allows(ctx: PolicyContext) -> bool:
        here, wanted = current(ctx), expected(ctx)
        return here is not None and wanted is not None and bool(here == wanted)

    return _Hiding("tenant_boundary", allows)


def environment(names: Iterable[str]) -> Policy:
    """Hides outside the named environments.

    >>> Registry(environment="staging", policies=[environment(["development", "staging"])])
    """
    allowed = frozenset([names] if isinstance(names, str) else names)
    return _Hiding("environment", lambda ctx: ctx.environment in allowed)


class _RateLimit(Policy):
    """A token bucket per (consumer, capability), refilled continuously; constant work per call, bounded memory."""

    name = "rate_limit"
    max_keys = _DEFAULT_KEYS  # the registry sets its own limit

    def __init__(self, limit: int, window: float) -> None:
        self._limit, self._window = limit, window
        self._buckets: OrderedDict[tuple[str, str, str], tuple[float, float]] = OrderedDict()

    async def on_authorize(self, ctx: PolicyContext, call_next: CallNext) -> InvocationResult:
        wait = self._take(ctx)
        if wait > 0:
            # up to the next whole millisecond, so that who waits as told is let in
            retry_after = max(1, -int(-wait * 1000 // 1))
            raise SurfaceError("RATE_LIMITED", details={"reason": "rate", "retryAfterMs": retry_after})
        return await call_next()

    def _take(self, ctx: PolicyContext) -> float:
        """Take a token; 0, or the seconds until there is one."""
        key = (ctx.consumer.kind, ctx.consumer.id, ctx.capability_id)
        now = ctx.now()
        tokens, filled_at = self._buckets.get(key, (float(self._limit), now))
        tokens = min(float(self._limit), tokens + max(0.0, now - filled_at) * self._limit / self._window)
        enough = tokens >= 1 - 1e-9
        self._buckets[key] = (tokens - 1 if enough else tokens, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > self.max_keys:
            self._buckets.popitem(last=False)
        return 0.0 if enough else (1 - tokens) * self._window / self._limit


def rate_limit(limit: int, window: float) -> Policy:
    """At most ``limit`` calls per consumer and capability in ``window`` seconds, as a token bucket.

    Invalid and unconfirmed calls count, joined and replayed ones do not. Over it: RATE_LIMITED with the wait for one
    token.
    """
    if type(limit) is not int or limit < 1:
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"limit must be a whole number of 1 or more, not {limit!r}")
    if isinstance(window, bool) or not isinstance(window, (int, float)) or not 0 < window < float("inf"):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"window must be seconds above 0, not {window!r}")
    return _RateLimit(limit, float(window))


class _RequireConfirmation(Escalation):
    name = "require_confirmation"

    def __init__(
        self, when: Callable[[InvokeContext], object] | None, summary: Callable[[InvokeContext], str] | None
    ) -> None:
        self._when, self._summary = when, summary
        self.conditional = when is not None

    def escalates(self, ctx: InvokeContext) -> bool:
        if self._when is None:
            return True
        try:
            return bool(self._when(ctx))
        except AUTHOR_ERRORS:
            return True

    def summary(self, ctx: InvokeContext) -> str | None:
        return None if self._summary is None else self._summary(ctx)


def require_confirmation(
    when: Callable[[InvokeContext], object] | None = None, summary: Callable[[InvokeContext], str] | None = None
) -> Policy:
    """Ask a person before the call, always or when ``when(ctx)`` says so; ``ctx.effective_input`` is what will run.

    ``summary(ctx)`` gives the words the person is asked with, at most 300 characters.
    """
    return _RequireConfirmation(when, summary)


def audit(sink: Sink, level: AuditLevel = "metadata") -> Policy:
    """Also record started and settled calls of what this guards in ``sink``; with payloads at level ``full``."""
    if level not in AUDIT_LEVELS:
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"level must be none, metadata or full, not {level!r}")
    return AuditPolicy("audit", sink, level)
