"""WIRE-1 to WIRE-4."""

import re

import pytest

from surface import decode_wire_name, encode_wire_name, parse_id
from surface.projection import wire_names


def test_wire_1_colon_and_dots_become_underscores():
    assert encode_wire_name("view:devices.table.selectRows") == "view_devices__table__selectRows"
    assert encode_wire_name("view:devices.table.read", "left") == "view_devices__table__read_at_left"
    assert encode_wire_name(parse_id("domain:devices.disable")) == "domain_devices__disable"


def test_wire_2_a_long_name_is_cut_and_hashed_to_64():
    name = encode_wire_name("view:" + "a" * 100 + ".read")
    assert len(name) == 64
    assert re.fullmatch(r"view_a{51}_[0-9a-z]{7}", name)
    other = encode_wire_name("view:" + "a" * 100 + ".write")
    assert other != name


def test_wire_2_underscores_before_the_hash_are_stripped():
    name = encode_wire_name("view:" + "a" * 50 + "." + "b" * 50 + ".read")
    assert re.fullmatch(r"view_a{50}_[0-9a-z]{7}", name)


@pytest.mark.parametrize("capability_id", ["view:a.b", "view:a-b.c.readAll", "domain:x.y-z.Do"])
def test_wire_4_decode_gives_the_id_back(capability_id):
    assert decode_wire_name(encode_wire_name(capability_id)) == capability_id


@pytest.mark.parametrize(
    "name",
    [
        "",
        "view",
        "view_a",
        "surface_discover",
        "view_a__b_at_left",
        "view_a___b",
        encode_wire_name("view:" + "a" * 100 + ".read"),
    ],
)
def test_wire_4_decode_gives_none_for_everything_else(name):
    assert decode_wire_name(name) is None


def test_wire_3_colliding_entries_grow_hashes_whatever_their_order(monkeypatch):
    def hash_with_equal_ends(entry):  # 7 and 9 digits collide, 11 do not
        return f"{entry[0][-1]:>041}{'0' * 9}"

    monkeypatch.setattr(wire_names, "_hash", hash_with_equal_ends)
    long = "view:" + "a" * 100
    entries = [(f"{long}.x", None), (f"{long}.y", None), (f"{long}.z", "main"), ("view:a.b", None)]
    names = wire_names.catalog_names(entries)
    assert sorted(len(name) for name in names.values()) == [9, 64, 64, 64]
    assert names[entries[0]].endswith("_0x000000000")
    assert wire_names.catalog_names(reversed(entries)) == names


def test_wire_4_only_letters_digits_underscore_and_dash_occur():
    name = encode_wire_name("view:" + "a-" * 40 + ".read", "Left_1-2")
    assert re.fullmatch(r"[A-Za-z0-9_-]{64}", name)
