"""Annotations as types: text, names of enclosing functions, and names that exist for type checkers only."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import FrameType
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


def declared_function(function: Any) -> Any:
    """The function an author wrote, beneath decorators, partial applications and callable objects."""
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = inspect.unwrap(function.func)
    if not hasattr(function, "__code__") and callable(function):
        return function.__call__
    return function


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters a call may give, without evaluating an annotation."""
    function = inspect.unwrap(function)
    if sys.version_info >= (3, 14):
        return list(inspect.signature(function, annotation_format=Format.FORWARDREF).parameters.values())
    return list(inspect.signature(function).parameters.values())


def parameter_type(function: Callable[..., Any], name: str, place: str, *, needed: bool) -> Any:
    """The type a parameter is annotated with, `CONTEXT` or `MISSING`.

    INVALID_DEFINITION where a name is unknown, unless the type is not ``needed``: then that is `MISSING` too.
    """
    raw = _raw_annotations(function).get(name, MISSING)
    if raw is MISSING:
        return MISSING
    text = raw.__forward_arg__ if isinstance(raw, ForwardRef) else raw
    if isinstance(text, str) and text.rpartition(".")[2] in _CONTEXT_NAMES:
        return CONTEXT  # often imported for type checkers only
    try:
        resolved = _resolved(function, raw, f"the parameter {name!r}", place)
    except SurfaceDefinitionError:
        if needed:
            raise
        return MISSING
    return CONTEXT if _is_context(resolved) else resolved


def has_return_annotation(function: Callable[..., Any]) -> bool:
    """Whether anything, be it None, is annotated to be returned."""
    return "return" in _raw_annotations(function)


def return_type(function: Callable[..., Any], place: str) -> Any:
    """The type a function is annotated to return or, if awaited, to give."""
    resolved = _resolved(function, _raw_annotations(function)["return"], "the return value", place)
    if get_origin(resolved) in (Awaitable, Coroutine):
        return get_args(resolved)[-1]
    return resolved


def _raw_annotations(function: Callable[..., Any]) -> Mapping[str, Any]:
    function = declared_function(function)
    if sys.version_info >= (3, 14):
        return get_annotations(function, format=Format.FORWARDREF)
    return getattr(function, "__annotations__", {})


def _resolved(function: Callable[..., Any], raw: Any, what: str, place: str) -> Any:
    def holder() -> None: ...

    holder.__annotations__ = {"it": raw}
    function = declared_function(function)
    try:
        module = getattr(function, "__globals__", {})
        return typing.get_type_hints(holder, module, _local_names(function, module), include_extras=True)["it"]
    except NameError as problem:
        reason = f"the name {problem.name!r} is unknown where the function is declared; import it there at run time"
    except Exception as problem:
        reason = str(problem)
    shown = raw.__forward_arg__ if isinstance(raw, ForwardRef) else raw
    raise SurfaceDefinitionError(
        "INVALID_DEFINITION", f"the annotation {shown!r} of {what} cannot be resolved: {reason}", place
    )


def _local_names(function: Any, module: Mapping[str, Any]) -> dict[str, Any]:
    """Names a function sees besides its module's: those of functions and class bodies that are being run around its
    declaration, then those it closes over."""
    names: dict[str, Any] = {}
    for frame in _frames_of(module):
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            names.update(frame.f_locals)
        else:  # a class body, whose methods may be called like types: `list`, `set`
            known = {**vars(builtins), **module}
            names.update((name, value) for name, value in frame.f_locals.items() if name not in known)
    code, closure = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is not None and closure:
        for name, cell in zip(code.co_freevars, closure, strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
    return names


def _frames_of(module: Mapping[str, Any]) -> list[FrameType]:
    """Running functions and class bodies of one module, outermost first."""
    frames = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals is module and frame.f_locals is not module:
            frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _is_context(annotation: Any) -> bool:
    """A context class, also as ``Annotated[…]`` or as an optional one."""
    if get_origin(annotation) is Annotated:
        return _is_context(get_args(annotation)[0])
    members = get_args(annotation)
    if type(None) in members and len(members) == 2:
        return any(_is_context(member) for member in members)
    return annotation is ReadContext or annotation is ActionContext
