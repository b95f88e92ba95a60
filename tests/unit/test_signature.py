"""The signature is the schema (01, Declaring; SCHEMA-5a)."""

from __future__ import annotations

import dataclasses
import enum
import functools
import sys
from collections.abc import Awaitable, Callable, Coroutine
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from surface import values
from surface.contract.schema import EMPTY_OBJECT, Schema
from surface.contract.signature import Signature, read_signature
from surface.values import ActionContext, ReadContext

if TYPE_CHECKING:
    from elsewhere import TypesOnly


class Options(BaseModel):
    limit: int = 10
    only: list[str] = Field(alias="onlyThese", default=[])


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: float


class Partial(TypedDict, total=False):
    n: int


class Node(BaseModel):
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


def read(function: Any, **options: Any) -> Signature:
    return read_signature(function, **{"method": False, "path": "devices.table.act", **options})


def called(function: Callable[..., Any], value: Any) -> Any:
    """What the function returns when it is called as the pipeline calls it."""
    signature = read(function)
    parsed = signature.input.parse(value)
    assert parsed.issues == ()
    args, kwargs = signature.bind(parsed.value)
    return function(*args, **kwargs)


def test_the_parameters_are_the_properties_of_a_closed_object() -> None:
    class Table:
        async def select_rows(
            self,
            ids: Annotated[list[str], Field(min_length=1, description="Which")],
            mode: Literal["replace", "add"] = "replace",
            *,
            at: datetime | None = None,
            ctx: ActionContext,
        ) -> None: ...

    signature = read(Table.select_rows, method=True)
    assert signature.input.document == {
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Which"},
            "mode": {"type": "string", "enum": ["replace", "add"], "default": "replace"},
            "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "default": None},
        },
        "required": ["ids"],
        "additionalProperties": False,
    }
    assert (signature.output, signature.has_return_annotation) == (None, True)
    assert (signature.context_parameter, signature.takes_self) == ("ctx", True)
    parsed = signature.input.parse({"ids": ["a"]})
    assert signature.bind(parsed.value) == ((), {"ids": ["a"], "mode": "replace", "at": None})


def test_a_misspelt_property_is_an_issue_in_the_agents_names() -> None:
    def act(row_ids: Annotated[list[str], Field(alias="rowIds")]) -> None: ...

    issues = read(act).input.parse({"row_ids": ["a"]}).issues
    assert [issue.path for issue in issues] == ["rowIds", "row_ids"]


def test_aliases_are_what_agents_see_and_parameters_what_python_gets() -> None:
    def act(row_ids: Annotated[list[int], Field(alias="rowIds")], limit: int = Field(default=3, ge=1)) -> Any:
        return row_ids, limit

    assert called(act, {"rowIds": [1.0]}) == ([1], 3)
    assert read(act).input.document["properties"]["limit"] == {"type": "integer", "minimum": 1, "default": 3}


def test_names_that_pydantic_keeps_for_itself_simply_work() -> None:
    def act(
        schema: str, copy: int, json: bool, model_config: str, dict: list[str], self_: int = 1, cls: int = 2
    ) -> Any:
        return schema, copy, json, model_config, dict, self_, cls

    value = {"schema": "s", "copy": 1, "json": True, "model_config": "m", "dict": ["d"]}
    assert called(act, value) == ("s", 1, True, "m", ["d"], 1, 2)
    assert list(read(act).input.document["properties"]) == [*value, "self_", "cls"]


@pytest.mark.parametrize("annotation", [Options, Annotated[Options, Field(description="All")]])
def test_a_single_model_is_the_input_object_itself(annotation: Any) -> None:
    def act(options: Any) -> Any:
        return options

    act.__annotations__["options"] = annotation
    assert called(act, {"onlyThese": ["a"]}) == Options(onlyThese=["a"])
    assert set(read(act).input.document["properties"]) == {"limit", "onlyThese"}


@pytest.mark.parametrize("annotation", [Options | None, Point, Partial, list[Options]])
def test_anything_but_a_single_model_is_a_property(annotation: Any) -> None:
    def act(options: Any) -> Any: ...

    act.__annotations__["options"] = annotation
    assert list(read(act).input.document["properties"]) == ["options"]


def test_two_models_are_two_properties() -> None:
    def act(options: Options, other: Options) -> Any:
        return options, other

    assert called(act, {"options": {}, "other": {"limit": 1}}) == (Options(), Options(limit=1))


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Colour, "red", Colour.RED),
        (date, "2024-05-01", date(2024, 5, 1)),
        (UUID, "123e4567-e89b-12d3-a456-426614174000", UUID("123e4567-e89b-12d3-a456-426614174000")),
        (Point, {"x": 1}, Point(1.0)),
        (Partial, {"n": 1}, {"n": 1}),
        (dict[str, set[int]], {"a": [1]}, {"a": {1}}),
        (Node, {"children": [{}]}, Node(children=[Node()])),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "dog"}, Dog(kind="dog")),
        ("list[Colour]", ["red"], [Colour.RED]),
        (list["Colour"], ["red"], [Colour.RED]),
    ],
)
def test_types_of_every_kind_arrive_as_declared(annotation: Any, value: Any, expected: Any) -> None:
    def act(it: Any, other: int = 0) -> Any:
        return it

    act.__annotations__["it"] = annotation
    assert called(act, {"it": value}) == expected


def test_no_parameters_is_the_empty_object() -> None:
    def act(ctx: ActionContext) -> None: ...

    assert read(act).input is EMPTY_OBJECT
    assert read(act).bind({}) == ((), {})


@pytest.mark.parametrize(
    "annotation",
    [ActionContext, ReadContext, "ActionContext", "values.ReadContext", "renamed.ActionContext", ActionContext | None],
)
def test_the_context_is_found_by_class_and_where_types_exist_for_checkers_only_by_name(annotation: Any) -> None:
    def act(n: int, *, where: Any = None) -> None: ...

    act.__annotations__["where"] = annotation
    signature = read(act)
    assert signature.context_parameter == "where"
    assert list(signature.input.document["properties"]) == ["n"]
    assert values.ActionContext is ActionContext


def test_types_of_enclosing_functions_resolve_where_python_can() -> None:
    class Local(BaseModel):
        n: int

    def act(it: Local) -> list[Local]:
        return [it]

    def outer(tp: type[BaseModel]) -> Any:
        def inner(it: tp) -> tp:  # type: ignore[valid-type]
            return tp and it

        return inner

    assert called(act, {"n": 1}) == [Local(n=1)]
    assert called(outer(Local), {"n": 1}) == Local(n=1)


EAGER = """
def make(BaseModel):
    class Local(BaseModel):
        n: int
    def act(it: Local, *, ctx: "checkers_only.ActionContext" = None) -> "list[int] | None":
        return it
    return act, Local
"""
LAZY = """
def make(BaseModel):
    def act(it: list[Local], *, ctx: checkers_only.ActionContext = None) -> Local:
        return it[0]
    class Local(BaseModel):
        n: int
    return act, Local
"""


@pytest.mark.parametrize(
    "source",
    [
        EAGER,
        pytest.param(LAZY, marks=pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are eager here")),
    ],
)
def test_annotations_that_are_no_text_resolve_after_their_function_has_returned(source: str) -> None:
    namespace: dict[str, Any] = {}
    exec(compile(source, "module", "exec", dont_inherit=True), namespace)
    act, local = namespace["make"](BaseModel)
    assert called(act, {"n": 1} if source is EAGER else {"it": [{"n": 1}]}) == local(n=1)
    assert read(act).context_parameter == "ctx"


def test_types_of_a_class_body_resolve_and_methods_named_like_types_do_not_get_in_the_way() -> None:
    class Table:
        Mode = Literal["a", "b"]

        def list(self) -> None: ...

        def act(self, names: list[str], mode: Mode) -> None: ...

        signature = read_signature(act, method=True, path="x")

    assert Table.signature.input.document["properties"]["names"]["type"] == "array"
    assert Table.signature.input.document["properties"]["mode"]["enum"] == ["a", "b"]


def test_decorated_partial_and_callable_handlers_are_read_as_written() -> None:
    def act(a: int, b: int = 2) -> int:
        return a + b

    @functools.wraps(act)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return act(*args, **kwargs)

    class Handler:
        def __call__(self, a: int, b: int = 2) -> int:
            return a + b

        def method(self, a: int) -> int:
            return a

    assert called(wrapped, {"a": 1}) == 3
    assert called(functools.partial(act, b=5), {"a": 1}) == 6
    assert called(Handler(), {"a": 1}) == 3
    assert called(Handler().method, {"a": 1}) == 1


@pytest.mark.parametrize("annotation", [Awaitable[Options], Coroutine[Any, Any, Options], Options])
def test_the_return_annotation_is_the_output_schema(annotation: Any) -> None:
    def act() -> Any: ...

    act.__annotations__["return"] = annotation
    signature = read(act, observation=True)
    assert signature.output is not None
    assert set(signature.output.output_document["properties"]) == {"limit", "onlyThese"}
    assert signature.has_return_annotation


def test_an_action_without_return_annotation_has_no_declared_output() -> None:
    def act():  # type: ignore[no-untyped-def]
        ...

    assert (read(act).output, read(act).has_return_annotation) == (None, False)


def test_explicit_schemas_replace_the_annotations() -> None:
    output = Schema.of(int)

    def act(value: TypesOnly, *, ctx: ActionContext) -> TypesOnly: ...

    schema = Schema.from_json_schema({"type": "object", "properties": {"a": {"type": "integer"}}})
    signature = read(act, explicit_input=schema, explicit_output=output)
    assert (signature.input, signature.output, signature.context_parameter) == (schema, output, "ctx")
    assert signature.has_return_annotation
    assert signature.bind({"a": 1}) == (({"a": 1},), {})
