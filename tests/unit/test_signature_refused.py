"""Signatures that make no capability: the parameter and the place are named (SCHEMA-5a, SCHEMA-7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import BaseModel, Field

from surface.contract.schema import EMPTY_OBJECT, Schema
from surface.contract.signature import read_signature
from surface.errors import SurfaceDefinitionError
from surface.values import ActionContext, ReadContext

if TYPE_CHECKING:
    from elsewhere import TypesOnly


class Options(BaseModel):
    limit: int = 10


def refusal(function: Any, **options: Any) -> SurfaceDefinitionError:
    with pytest.raises(SurfaceDefinitionError) as caught:
        read_signature(function, **{"method": False, "path": "devices.table.act", **options})
    return caught.value


def no_annotation(ids) -> None: ...  # type: ignore[no-untyped-def]
def args(*ids: int) -> None: ...
def kwargs(**ids: int) -> None: ...
def positional(ids: int, /) -> None: ...
def underscore(_ids: int) -> None: ...
def types_only(ids: list[TypesOnly]) -> None: ...
def nonsense(ids: "1 +") -> None: ...  # type: ignore[syntax]  # noqa: F722
def default_model(ids: Options = Options()) -> None: ...  # noqa: B008
def same_name(a: Annotated[int, Field(alias="x")], ids: Annotated[int, Field(alias="x")]) -> None: ...
def wrong_default(ids: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013
def factory(ids: list[int] = Field(default_factory=lambda: [1])) -> None: ...  # noqa: B008
def two_contexts(ctx: ActionContext, ids: ReadContext) -> None: ...
def positional_context(ids: ActionContext, /) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        no_annotation,
        args,
        kwargs,
        positional,
        underscore,
        types_only,
        nonsense,
        default_model,
        same_name,
        wrong_default,
        factory,
        two_contexts,
        positional_context,
    ],
)
def test_schema_5a_what_makes_no_input_names_parameter_and_place(function: Callable[..., Any]) -> None:
    error = refusal(function)
    assert error.code == "INVALID_DEFINITION"
    assert "ids" in f"{error.message} {error.path}"
    assert error.path.startswith("devices.table.act")
    assert error.path.endswith(f"{__name__}.{function.__name__}") or "#/properties/ids" in error.path


@pytest.mark.parametrize(
    ("annotation", "keyword"),
    [(tuple[int, str], "prefixItems"), (bytes, "format"), (Annotated[str, Field(pattern="(")], "pattern")],
)
def test_schema_7_an_unsupported_parameter_names_place_and_keyword(annotation: Any, keyword: str) -> None:
    def act(ids: Any, n: int) -> None: ...

    act.__annotations__["ids"] = annotation
    error = refusal(act)
    assert error.code == "UNSUPPORTED_SCHEMA"
    assert repr(keyword) in error.message
    assert error.path.startswith("devices.table.act(")


def test_schema_7_an_unsupported_return_type_names_place_and_keyword() -> None:
    def act() -> tuple[int, str]: ...

    error = refusal(act)
    assert (error.code, error.path) == ("UNSUPPORTED_SCHEMA", "devices.table.act(output)#")


def test_an_observation_takes_no_input_and_returns_something() -> None:
    def filtered(query: str) -> int: ...
    def silent() -> None: ...
    def unknown():  # type: ignore[no-untyped-def]
        ...

    assert "'query'" in refusal(filtered, observation=True).message
    assert "returns None" in refusal(silent, observation=True).message
    assert "no return annotation" in refusal(unknown, observation=True).message
    declared = read_signature(unknown, method=False, path="x", observation=True, explicit_output=Schema.of(int))
    assert declared.output is not None


def test_handlers_that_are_no_handlers_are_definition_errors() -> None:
    def generator() -> Iterator[int]:
        yield 1

    async def async_generator() -> AsyncIterator[int]:
        yield 1

    def no_self() -> None: ...
    def nothing_for_input() -> None: ...

    for function, options in [
        (generator, {}),
        (async_generator, {}),
        (no_self, {"method": True}),
        (staticmethod(no_self), {"method": True}),
        (nothing_for_input, {"explicit_input": EMPTY_OBJECT}),
        (3, {}),
    ]:
        assert refusal(function, **options).code == "INVALID_DEFINITION"
