"""Annotations as types: text, names of enclosing functions and names that exist for type checkers only."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from inspect import Parameter
from typing import Annotated, Any, Final, get_args, get_origin

from surface.errors import SurfaceDefinitionError
from surface.values import ActionContext, ReadContext

if sys.version_info >= (3, 14):
    from annotationlib import Format, ForwardRef, get_annotations
else:
    from typing import ForwardRef


class _Sentinel:
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISSING: Final = _Sentinel("MISSING")
"""There is no annotation."""
CONTEXT: Final = _Sentinel("CONTEXT")
"""The annotation asks for the handler context."""

_CONTEXT_NAMES = ("ReadContext", "ActionContext")


def resolved_annotation(function: Callable[..., Any], parameter: Parameter, place: str) -> Any:
    """The type a parameter is annotated with, `CONTEXT` or `MISSING`; INVALID_DEFINITION where a name is unknown."""
    raw = _raw_annotations(function).get(parameter.name, MISSING)
    if raw is MISSING:
        return MISSING
    text = raw.__forward_arg__ if isinstance(raw, ForwardRef) else raw
    if isinstance(text, str) and text.rpartition(".")[2] in _CONTEXT_NAMES:
        return CONTEXT  # often imported for type checkers only
    resolved = _resolved(function, raw, f"the parameter {parameter.name!r}", place)
    return CONTEXT if _is_context(resolved) else resolved


def resolved_return(function: Callable[..., Any], place: str) -> Any:
    """The type a function is annotated to return, or to resolve to; `MISSING` without annotation."""
    raw = _raw_annotations(function).get("return", MISSING)
    if raw is MISSING:
        return MISSING
    resolved = _resolved(function, raw, "the return value", place)
    if get_origin(resolved) in (Awaitable, Coroutine):
        return get_args(resolved)[-1]
    return resolved


def _raw_annotations(function: Callable[..., Any]) -> Mapping[str, Any]:
    function = _plain(function)
    if sys.version_info >= (3, 14):
        return get_annotations(function, format=Format.FORWARDREF)
    return getattr(function, "__annotations__", {})


def _resolved(function: Callable[..., Any], raw: Any, what: str, place: str) -> Any:
    def holder() -> None: ...

    holder.__annotations__ = {"it": raw}
    function = _plain(function)
    namespace = getattr(function, "__globals__", {})
    try:
        return typing.get_type_hints(holder, namespace, _local_names(function), include_extras=True)["it"]
    except NameError as problem:
        reason = f"the name {problem.name!r} is unknown where the function is declared; import it there at run time"
    except Exception as problem:
        reason = str(problem)
    shown = raw.__forward_arg__ if isinstance(raw, ForwardRef) else raw
    raise SurfaceDefinitionError(
        "INVALID_DEFINITION", f"the annotation {shown!r} of {what} cannot be resolved: {reason}", place
    )


def _local_names(function: Any) -> dict[str, Any]:
    """Names that the function sees besides its module's: those of the functions and classes being run around its
    declaration, then those it closes over."""
    names: dict[str, Any] = {}
    module = getattr(function, "__globals__", None)
    frames = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals is module and frame.f_locals is not module:
            frames.append(frame.f_locals)
        frame = frame.f_back
    for local in reversed(frames):
        names.update(local)
    code, closure = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is not None and closure:
        for name, cell in zip(code.co_freevars, closure, strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
    return names


def _is_context(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _is_context(get_args(annotation)[0])
    if origin is not None:
        rest = [member for member in get_args(annotation) if member is not type(None)]
        return len(rest) == 1 and len(get_args(annotation)) == 2 and _is_context(rest[0])
    return annotation is ReadContext or annotation is ActionContext


def _plain(function: Any) -> Any:
    function = inspect.unwrap(function)
    return function.__call__ if not hasattr(function, "__code__") and callable(function) else function
