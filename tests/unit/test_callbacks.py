"""The author's small functions get what they can use (settled shapes of the API)."""

import pytest

from surface.contract.callbacks import as_callback

CASES = [
    (True, lambda: "none", "none"),
    (True, lambda self: self, "component"),
    (True, lambda self, ids: (self, ids), ("component", ["d1"])),
    (True, lambda self, mode, ids: (mode, ids), ("add", ["d1"])),
    (True, lambda self, *, ctx: ctx, "context"),
    (True, lambda self, ctx: ctx, "context"),
    (True, lambda self, **input: sorted(input), ["ids", "mode"]),
    (False, lambda: "none", "none"),
    (False, lambda ids: ids, ["d1"]),
    (False, lambda *, mode: mode, "add"),
]


@pytest.mark.parametrize(("method", "function", "expected"), CASES)
def test_what_a_function_asks_for_is_what_it_gets(method, function, expected):
    callback = as_callback(function, method=method, what="precondition", path="box")
    assert callback("component", (), {"ids": ["d1"], "mode": "add"}, "context") == expected


@pytest.mark.parametrize(
    ("method", "function"),
    [(True, lambda self, value: value), (False, lambda value: value), (False, lambda *all: all[0])],
)
def test_a_single_value_comes_by_position(method, function):
    callback = as_callback(function, method=method, what="precondition", path="box")
    assert callback("component", ("value",), {}, None) == "value"
