"""Canonical JSON (RFC 8785 with whole integers) and what counts as a JSON value."""

import pytest

from surface.canonical import NotJSON, canonical_json, digest, freeze, json_problem, thaw


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"\U0001f600": 1, "\uff5e": 2}, '{"\U0001f600":1,"\uff5e":2}'),  # by UTF-16 unit, not by code point
        (-0.0, "0"),
        (1.0, "1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (5e-324, "5e-324"),
        (123456789.125, "123456789.125"),
        (2**60, "1152921504606846976"),
        ("ü\n\u2028", '"ü\\n\u2028"'),
    ],
)
def test_canonical_text_is_rfc_8785(value, text):
    assert canonical_json(value) == text


def test_equal_values_have_equal_text_whatever_their_key_order():
    assert canonical_json({"a": 1, "b": {"d": 1.0, "c": 2}}) == canonical_json({"b": {"c": 2, "d": 1}, "a": 1})
    assert digest({"a": 1}) == digest({"a": 1.0})
    assert len(digest({})) == 16


def shared(levels):
    value = []
    for _ in range(levels):
        value = [value, value]
    return value


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ((1,), "tuple"),
        ({1: 2}, "key of type int"),
        (float("nan"), "not finite"),
        ([float("inf")], "not finite"),
        ("\ud800", "surrogate"),
        ({"\udfff": 1}, "surrogate"),
        (nested(65), "64 deep"),
        (object(), "object"),
        pytest.param(10**5000, "too many digits", id="an integer of 5,000 digits"),
        pytest.param({"a": [-(10**5000), 0.5]}, "too many digits", id="one inside"),
        pytest.param(shared(22), "too large", id="shared parts"),
        pytest.param([0] * 200_001, "too large", id="many items"),
    ],
)
def test_what_is_no_json_value_is_named(value, says):
    assert says in json_problem(value)
    with pytest.raises(NotJSON, match=says):
        canonical_json(value)


def test_a_cycle_is_no_json_value():
    cycle = []
    cycle.append(cycle)
    assert "cycle" in json_problem(cycle)


def test_200000_items_are_json():
    assert json_problem([0] * 200_000) is None


def test_nesting_of_64_is_json():
    assert json_problem(nested(64)) is None


def test_freezing_copies_deeply_and_thaws_back():
    value = {"a": [1, {"b": 2}]}
    frozen = freeze(value)
    value["a"][1]["b"] = 3
    assert frozen["a"][1]["b"] == 2
    assert thaw(frozen) == {"a": [1, {"b": 2}]}
    with pytest.raises(TypeError):
        frozen["a"] = 1
