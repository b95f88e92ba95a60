"""The small functions an author hangs on a capability (`when`, `precondition`, …), called with what they can use.

In a component class the first positional parameter is the component; a parameter named ``ctx`` gets the handler's
context; what remains is filled from the parsed input, by name or, where the input is one value, by position
(CONTRACT-6, "Settled shapes" of the API).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from surface.errors import SurfaceDefinitionError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Callback:
    """An author's function and what it asks for."""

    function: Callable[..., Any]
    wants_component: bool
    wants_context: bool
    positional: int
    names: frozenset[str]
    wants_every_name: bool

    def __call__(
        self,
        component: object = None,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        ctx: object = None,
    ) -> Any:
        """Call the function with the component, the parsed input as the handler gets it, and the context."""
        given: list[Any] = [component] if self.wants_component else []
        given += args[: self.positional]
        named = {key: value for key, value in (kwargs or {}).items() if self.wants_every_name or key in self.names}
        if self.wants_context:
            named["ctx"] = ctx
        return self.function(*given, **named)


def as_callback(function: object, *, method: bool, what: str, path: str) -> Callback:
    """Read what ``function`` asks for; INVALID_DEFINITION if it cannot be called or is asynchronous (CONTRACT-6)."""
    if not callable(function):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"{what} must be a function, not {function!r}", path)
    if inspect.iscoroutinefunction(function):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"{what} must be a plain function, not async", path)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p for p in parameters if p.kind in _POSITIONAL and p.name != "ctx"]
    wants_component = method and bool(positional)
    rest = positional[1:] if wants_component else positional
    open_ended = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    named = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name != "ctx"]
    return Callback(
        function,
        wants_component,
        any(p.name == "ctx" for p in parameters),
        1_000 if open_ended else len(rest),
        frozenset(p.name for p in [*rest, *named]),
        any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters),
    )
