"""SCHEMA-10: formats are really checked."""

from __future__ import annotations

import pytest

from surface.contract.formats import FORMATS, without_leap_second
from surface.contract.schema import Schema

GOOD = {
    "date-time": [
        "2024-05-01T12:00:00Z",
        "2024-05-01t12:00:00z",
        "2024-05-01T12:00:00.123456789+23:59",
        "0001-01-01T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2016-12-31T15:59:60.5-08:00",
    ],
    "date": ["2024-02-29", "0001-01-01", "9999-12-31"],
    "uuid": [
        "123e4567-e89b-12d3-a456-426614174000",
        "00000000-0000-0000-0000-000000000000",
        "A" * 8 + "-AAAA" * 3 + "-" + "b" * 12,
    ],
    "email": ["a@b.c", "first.last+tag@sub.example.org", "ü@exämple.org", "x@1.2"],
    "uri": [
        "https://example.org/a?b=c#d",
        "http://[2001:db8::7]:8080/",
        "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
        "mailto:a@b.c",
        "urn:isbn:0451450523",
        "file:///x/y",
        "tel:+1-816-555-1212",
    ],
}
BAD = {
    "date-time": [
        "2024-05-01T12:00:00",
        "2024-05-01 12:00:00Z",
        "2024-05-01T24:00:00Z",
        "2024-02-30T12:00:00Z",
        "2024-05-01T12:60:00Z",
        "2024-05-01T12:00:60Z",
        "2016-12-31T22:59:60Z",
        "9999-12-31T23:59:60-23:59",
        "2024-05-01T12:00:00+24:00",
        "2024-05-01T12:00:00+0200",
        "2024-05-01T12:00Z",
        "２024-05-01T12:00:00Z",
        "1700000000",
        "2024-05-01T12:00:00Z\n",
        "",
    ],
    "date": [
        "2023-02-29",
        "2024-13-01",
        "2024-1-1",
        "20240101",
        "2024-W01-1",
        "0000-01-01",
        "2024-05-01T00:00:00",
        "2024-02-29\n",
    ],
    "uuid": [
        "123e4567e89b12d3a456426614174000",
        "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
        "{123e4567-e89b-12d3-a456-426614174000}",
        "g23e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-426614174000\n",
    ],
    "email": ["a", "@b.c", "a@", "a@b", "a@@b.c", "a@b@c.d", "a b@c.d", "a@b..c", "a@-b.c", "a@b.c-", "a@b.c\n"],
    "uri": [
        "abc",
        "//example.org",
        "/a",
        "http://a b",
        "http://exa<mple",
        "1a:b",
        ":a",
        "http://a/%zz",
        "http://a:b/",
        "a\\b:c",
        "http://[x",
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in GOOD for text in GOOD[name]])
def test_schema_10_a_format_accepts_what_its_standard_allows(name: str, text: str) -> None:
    assert FORMATS[name].accepts(text)
    assert not Schema.from_json_schema({"type": "string", "format": name}).parse(text).issues


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in BAD for text in BAD[name]])
def test_schema_10_a_format_refuses_everything_else(name: str, text: str) -> None:
    assert not FORMATS[name].accepts(text)
    (issue,) = Schema.from_json_schema({"type": "string", "format": name}).parse(text).issues
    assert FORMATS[name].described in issue.message


def test_schema_10_a_format_says_nothing_about_other_types() -> None:
    assert not Schema.from_json_schema({"format": "date"}).parse(12).issues


def test_schema_10_leap_seconds_are_told_to_libraries_that_know_none() -> None:
    assert without_leap_second("2016-12-31T23:59:60Z") == "2016-12-31T23:59:59.999999Z"
    assert without_leap_second("2016-12-31T15:59:60.5-08:00") == "2016-12-31T15:59:59.999999-08:00"
    assert without_leap_second("2024-05-01T12:00:00Z") == "2024-05-01T12:00:00Z"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_schema_10_hostile_text_is_checked_in_no_time(name: str) -> None:
    for text in (
        "a" * 60_000,
        "a@" + "b-" * 30_000,
        "a:" + "/%41" * 15_000 + "|",
        "1" * 60_000,
        "http://" + "a:" * 30_000 + "|",
    ):
        assert FORMATS[name].accepts(text) in (True, False)
