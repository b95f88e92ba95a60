"""The signature is the schema: what a handler takes and returns, read from its annotations (SCHEMA-5a)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Annotated, Any, get_origin

from pydantic import BaseModel, Field, create_model

from surface.contract.annotations import (
    CONTEXT,
    MISSING,
    declared_function,
    has_return_annotation,
    parameter_type,
    parameters_of,
    return_type,
)
from surface.contract.schema import EMPTY_OBJECT, Schema
from surface.contract.schema_typed import BUILD_ERRORS, PYTHON_PATTERNS, build_error
from surface.errors import SurfaceDefinitionError


@dataclass(frozen=True, slots=True)
class Signature:
    """How a handler is called and what it promises.

    ``output`` is None where nothing is returned; ``context_parameter`` names the parameter that gets the
    `ReadContext` or `ActionContext`, always by keyword.
    """

    input: Schema
    output: Schema | None
    has_return_annotation: bool
    context_parameter: str | None
    takes_self: bool
    _parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # (parameter, field of the parsed model)
    _whole: str | None = field(default=None, repr=False)  # the one parameter that is the whole input
    _positional: bool = field(default=False, repr=False)  # the input was declared by a Schema

    def bind(self, parsed: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for a parsed input, without ``self`` and the context."""
        if self._parameters:
            fields = parsed.__dict__
            return (), {parameter: fields[name] for parameter, name in self._parameters}
        if self._whole is not None:
            return (), {self._whole: parsed}
        return ((parsed,), {}) if self._positional else ((), {})


def read_signature(
    function: Callable[..., Any],
    *,
    method: bool,
    path: str,
    explicit_input: Schema | None = None,
    explicit_output: Schema | None = None,
    observation: bool = False,
) -> Signature:
    """Read a handler's signature.

    ``method``: the first parameter is ``self``. ``path`` names the capability in errors. With ``explicit_input`` the
    handler takes the validated value as its one positional parameter. An observation takes no input.

    Raises `SurfaceDefinitionError`: INVALID_DEFINITION naming the parameter, UNSUPPORTED_SCHEMA naming parameter and
    keyword.
    """
    place = f"{path} in {_qualified_name(function)}"
    parameters = _parameters(function, method, place)
    context = None
    taken: list[tuple[Parameter, Any]] = []
    for parameter in parameters:
        annotation = parameter_type(function, parameter.name, place, needed=explicit_input is None)
        if annotation is not CONTEXT:
            taken.append((parameter, annotation))
        elif context is not None:
            raise _invalid(
                f"{context!r} and {parameter.name!r} are both annotated as the context; one is enough", place
            )
        elif parameter.kind is not Parameter.POSITIONAL_OR_KEYWORD and parameter.kind is not Parameter.KEYWORD_ONLY:
            raise _invalid(f"the context parameter {parameter.name!r} must accept its value by keyword", place)
        else:
            context = parameter.name
    output, annotated = _output(function, explicit_output, observation, path, place)
    shape = _Shape(EMPTY_OBJECT)
    if observation:
        if taken:
            name = taken[0][0].name
            raise _invalid(f"an observation takes no input, so it cannot have the parameter {name!r}", place)
    elif explicit_input is not None:
        shape = _explicit(explicit_input, taken, place)
    elif taken:
        shape = _derived(taken, path, place)
    shape.input.published("input", path)
    return Signature(
        shape.input, output, annotated, context, method, shape.parameters, shape.whole, explicit_input is not None
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    input: Schema
    parameters: tuple[tuple[str, str], ...] = ()
    whole: str | None = None


def _parameters(function: Callable[..., Any], method: bool, place: str) -> list[Parameter]:
    """The parameters after ``self``."""
    if isinstance(function, (staticmethod, classmethod)) or not callable(function):
        raise _invalid(f"a handler is a function or a method, not a {type(function).__name__}", place)
    code = declared_function(function)
    if inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code):
        raise _invalid("a handler returns its output; it cannot be a generator", place)
    parameters = parameters_of(function)
    if not method:
        return parameters
    if not parameters or parameters[0].kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
        raise _invalid("a method takes the component as its first parameter, usually called self", place)
    return parameters[1:]


def _explicit(schema: Schema, taken: list[tuple[Parameter, Any]], place: str) -> _Shape:
    if len(taken) != 1 or taken[0][0].kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
        names = ", ".join(parameter.name for parameter, _ in taken) or "none"
        raise _invalid(
            f"with input= a handler takes the validated value as one positional parameter besides the context; "
            f"this one has: {names}",
            place,
        )
    return _Shape(schema)


def _derived(taken: list[tuple[Parameter, Any]], path: str, place: str) -> _Shape:
    """The closed object of the parameters, or the model that is the whole input."""
    for parameter, annotation in taken:
        _check_parameter(parameter, annotation, place)
    first, annotation = taken[0]
    if len(taken) == 1 and _is_model(annotation):
        if first.default is not Parameter.empty:
            raise _invalid(
                f"the parameter {first.name!r} is the whole input, so it cannot have a default; give defaults to the "
                "fields of its model",
                place,
            )
        return _Shape(_schema(annotation, f"{path}({first.name})"), whole=first.name)
    # Fields get names of our own, so that a parameter may be called `schema`, `copy` or `model_config`; the alias is
    # what agents see.
    names = {f"p{index}": parameter.name for index, (parameter, _) in enumerate(taken)}
    fields: dict[str, Any] = {
        internal: (
            _named(annotation, parameter.name),
            ... if parameter.default is Parameter.empty else parameter.default,
        )
        for internal, (parameter, annotation) in zip(names, taken, strict=True)
    }
    try:
        model = create_model("Input", __config__=PYTHON_PATTERNS, **fields)
    except BUILD_ERRORS as problem:
        raise build_error(tuple(names.values()), problem, f"{path}({', '.join(names.values())})") from None
    _check_aliases(model, names, place)
    return _Shape(_schema(model, path), tuple((parameter, internal) for internal, parameter in names.items()))


def _named(annotation: Any, name: str) -> Any:
    """The annotation with the parameter's name as alias, which an alias of the author's own overrides."""
    if get_origin(annotation) is Annotated:
        return Annotated[(annotation.__origin__, Field(alias=name), *annotation.__metadata__)]
    return Annotated[annotation, Field(alias=name)]


def _check_parameter(parameter: Parameter, annotation: Any, place: str) -> None:
    name = parameter.name
    if parameter.kind is Parameter.VAR_POSITIONAL:
        raise _invalid(f"*{name} has no place in an input object; take a list instead", place)
    if parameter.kind is Parameter.VAR_KEYWORD:
        raise _invalid(f"**{name} has no place in a closed input object; name the parameters, or take a dict", place)
    if parameter.kind is Parameter.POSITIONAL_ONLY:
        raise _invalid(f"the parameter {name!r} is positional-only; inputs are passed by name", place)
    if name.startswith("_"):
        raise _invalid(f"the parameter {name!r} begins with an underscore; agents see parameter names", place)
    if annotation is MISSING:
        raise _invalid(f"the parameter {name!r} has no annotation; the signature is the schema", place)


def _check_aliases(model: type[BaseModel], names: dict[str, str], place: str) -> None:
    seen: dict[Any, str] = {}
    for internal, info in model.model_fields.items():
        name = info.validation_alias if info.validation_alias is not None else info.alias
        if not isinstance(name, str):
            raise _invalid(f"the parameter {names[internal]!r} needs one name for agents, not alternatives", place)
        if name in seen:
            raise _invalid(f"the parameters {seen[name]!r} and {names[internal]!r} have the same name {name!r}", place)
        seen[name] = names[internal]


def _output(
    function: Callable[..., Any], explicit: Schema | None, observation: bool, path: str, place: str
) -> tuple[Schema | None, bool]:
    """The output schema, and whether there is a return annotation; with ``explicit`` it is not even resolved."""
    output, annotated = explicit, has_return_annotation(function)
    if output is None and annotated:
        annotation = return_type(function, place)
        output = None if annotation is type(None) else _schema(annotation, f"{path}(return)")
    if output is not None:
        output.published("output", path)
    elif observation:
        why = "returns None, so there is nothing to observe" if annotated else "has no return annotation"
        raise _invalid(f"this observation {why}; annotate what it returns, or give output=", place)
    return output, annotated


def _schema(tp: Any, path: str) -> Schema:
    try:
        return Schema.of(tp)
    except SurfaceDefinitionError as error:
        raise SurfaceDefinitionError(error.code, error.message, path) from None


def _is_model(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _qualified_name(function: Any) -> str:
    function = declared_function(function) if callable(function) else function
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', '?')}.{name}"


def _invalid(problem: str, place: str) -> SurfaceDefinitionError:
    return SurfaceDefinitionError("INVALID_DEFINITION", problem, place)
