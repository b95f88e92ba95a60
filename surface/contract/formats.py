"""The formats a schema may name, really checked (SCHEMA-10): RFC 3339, 4122 and 3986, and plain e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from typing import NamedTuple

_DATE_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_LABEL = r"[^\W_](?:[^\W_]|-)*(?<!-)"
_EMAIL = re.compile(rf"[^@\s\x00-\x1f\x7f]+@{_LABEL}(?:\.{_LABEL})+")
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_USERINFO = r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*"
_ADDRESS = r"\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]"
_HOST = rf"(?:{_ADDRESS}|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{{2}})*)"
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:{_USERINFO}@)?{_HOST}(?::\d*)?(?:/{_PCHAR}*)*|/?{_PCHAR}+(?:/{_PCHAR}*)*|/?)"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?",
    re.ASCII,
)


def is_date(text: str) -> bool:
    """A day of the calendar, ``2024-02-29``; years begin at 0001."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """An RFC 3339 date-time with its offset, ``2024-05-01T12:00:00Z``; a 60th second only where UTC may have one."""
    match = _DATE_TIME.fullmatch(text)
    if match is None or not is_date(match[1]):
        return False
    hour, minute, second = int(match[2]), int(match[3]), int(match[4])
    offset_hour, offset_minute = int(match[7] or 0), int(match[8] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    return second < 60 or _is_leap_second(match)


def without_leap_second(text: str) -> str:
    """The last instant before a leap second, for libraries that know none; other texts unchanged."""
    match = _DATE_TIME.fullmatch(text)
    if match is None or match[4] != "60":
        return text
    return f"{text[: match.start(4)]}59.999999{text[match.end(5) if match[5] else match.end(4) :]}"


def is_uuid(text: str) -> bool:
    """Hexadecimal digits grouped 8-4-4-4-12."""
    return _UUID.fullmatch(text) is not None


def is_email(text: str) -> bool:
    """One ``@``, something before it, a dotted host after it."""
    return _EMAIL.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """An absolute URI by RFC 3986: a scheme, and only the characters that may stand in each part."""
    return _URI.fullmatch(text) is not None


class Format(NamedTuple):
    """How a format is checked, and how it is described to somebody who got it wrong."""

    accepts: Callable[[str], bool]
    described: str


FORMATS: Mapping[str, Format] = {
    "date-time": Format(is_date_time, "a date-time with offset, such as 2024-05-01T12:00:00Z"),
    "date": Format(is_date, "a calendar date, such as 2024-05-01"),
    "uuid": Format(is_uuid, "a UUID, such as 123e4567-e89b-12d3-a456-426614174000"),
    "email": Format(is_email, "an e-mail address, such as name@example.org"),
    "uri": Format(is_uri, "an absolute URI, such as https://example.org/path"),
}


def _is_leap_second(match: re.Match[str]) -> bool:
    offset = timedelta(hours=int(match[7] or 0), minutes=int(match[8] or 0))
    local = datetime.fromisoformat(f"{match[1]}T{match[2]}:{match[3]}:59")
    zone = timezone(-offset if match[6] == "-" else offset)
    try:
        utc = local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return False
    return (utc.hour, utc.minute) == (23, 59)
