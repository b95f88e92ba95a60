"""ID-1 to ID-8: which texts are ids, and what opaque ids look like."""

import re

import pytest

from surface import CapabilityId, SurfaceDefinitionError, ids, parse_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("view:devices.table.selectRows", CapabilityId("view", "devices.table", "selectRows")),
        ("view:a.b", CapabilityId("view", "a", "b")),
        ("domain:devices.disable", CapabilityId("domain", path="devices.disable")),
        ("domain:A", CapabilityId("domain", path="A")),
    ],
)
def test_id_3_and_4_a_capability_id_parses_and_prints_back(text, expected):
    assert parse_id(text) == expected
    assert str(parse_id(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "view:", "view:a", "view:A.b", "view:a.B", "view:a..b", "View:a.b", "view:a.b_c", "other:a.b", "domain:",
     "domain:a_b", "domain:1a", "view:a.b\n", "view:" + "a" * 130 + ".b", None, 5, b"view:a.b"],
)  # fmt: skip
def test_id_6_parsing_anything_else_gives_none(text):
    assert parse_id(text) is None


def test_id_1_an_id_has_at_most_128_characters():
    longest = "view:" + "a" * 121 + ".b"
    assert len(longest) == 128
    assert parse_id(longest) is not None
    assert parse_id(longest + "b") is None


@pytest.mark.parametrize("value", ["", "a b", "ä", "x" * 129, None, 3])
def test_id_5_an_instance_id_out_of_shape_is_refused(value):
    with pytest.raises(SurfaceDefinitionError) as error:
        ids.check_instance_id(value)
    assert error.value.code == "INVALID_ID"


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (ids.new_surface_id, r"srf_[0-9A-Za-z]{22}"),
        (ids.new_registration_id, r"reg_[0-9A-Za-z]{12}"),
        (ids.new_confirmation_id, r"cnf_[0-9A-Za-z]{22}"),
        (ids.new_invocation_id, r"inv_[0-9A-Za-z]{12}"),
    ],
)
def test_id_8_opaque_ids_are_base62_and_differ(make, shape):
    made = {make() for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch(shape, one) for one in made)
