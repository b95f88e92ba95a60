"""JSON as the core means it: what counts as a value, its compact text, and its canonical text (RFC 8785).

Two departures from RFC 8785, both from the core rules' first table: absent members do not exist here, and integers
beyond ±2^53 keep every digit instead of being rounded to a double.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from surface.limits import MAX_JSON_DEPTH

_MAX_NODES = 200_000  # far beyond any limit on bytes; a value that shares its parts may be larger than it looks
_encode_text = json.encoder.encode_basestring  # C; leaves non-ASCII as it is


def _encoder(*, sort_keys: bool) -> Callable[[Any], str]:
    """The text of a value as one C call: `json.dumps` makes a new encoder each time, which costs more than a small
    value does. Where the C encoder is missing, `json` itself does the work."""
    plain = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False, sort_keys=sort_keys
    )
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    encode = make(None, plain.default, _encode_text, None, ":", ",", sort_keys, False, False)
    return lambda value: "".join(encode(value, 0))


_compact = _encoder(sort_keys=False)
_sorted = _encoder(sort_keys=True)


class NotJSON(ValueError):
    """The value is no JSON value; the message says where and why."""


def json_problem(value: object) -> str | None:
    """Why ``value`` is no JSON value, or None if it is one.

    A JSON value is an object with text keys, an array, text without lone surrogates, a finite number, a boolean or
    null; free of cycles, nested at most 64 deep, and of at most 200,000 members and items.
    """
    try:
        json_text(value)
    except NotJSON as problem:
        return str(problem)
    return None


def json_text(value: object) -> str:
    """Compact JSON text, members in their own order; `NotJSON` if ``value`` is no JSON value."""
    inspect_json(value)
    return _checked(_compact, value)


def canonical_json(value: object) -> str:
    """Canonical JSON text: equal text means equal value; `NotJSON` if ``value`` is no JSON value."""
    return canonical_of(value, inspect_json(value))


def canonical_of(value: object, plain: bool) -> str:
    """Canonical text of a value already known to be JSON; ``plain`` as `inspect_json` answered."""
    return _checked(_sorted if plain else _slow, value)


def inspect_json(value: object) -> bool:
    """Check that ``value`` is JSON (else `NotJSON`), except for lone surrogates and for integers of more digits
    than Python writes, which any text made of it shows.

    Answers whether the plain encoder already writes it canonically: no fractions, and keys whose order by code point
    is their order by UTF-16 unit.
    """
    return _inspect(value, 0, [_MAX_NODES])


def digest(value: object) -> str:
    """The first 16 hex characters of SHA-256 over the canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:16]


def _checked(encode: Callable[[Any], str], value: object) -> str:
    try:
        text = encode(value)
        text.encode()  # a lone surrogate shows here, at C speed
    except UnicodeEncodeError:
        raise NotJSON("text with a lone surrogate") from None
    except ValueError:  # sys.get_int_max_str_digits
        raise NotJSON("an integer of too many digits") from None
    return text


def _inspect(value: object, depth: int, left: list[int]) -> bool:
    kind = type(value)
    if kind is str or value is None or kind is bool or kind is int:
        return True
    if depth >= MAX_JSON_DEPTH and kind in (dict, list):
        raise NotJSON(f"nested more than {MAX_JSON_DEPTH} deep, or a cycle")
    plain = True
    if kind is dict or kind is list:
        left[0] -= len(value)  # type: ignore[arg-type]
        if left[0] < 0:
            raise NotJSON(f"more than {_MAX_NODES} members and items, which is too large")
    if kind is dict:
        for key, member in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise NotJSON(f"an object key of type {type(key).__name__}")
            if not key.isascii() and any(ch >= "\ud800" for ch in key):
                plain = False
            member_kind = type(member)
            if member_kind is not str and member_kind is not int and not _inspect(member, depth + 1, left):
                plain = False
        return plain
    if kind is list:
        for item in value:  # type: ignore[attr-defined]
            item_kind = type(item)
            if item_kind is not str and item_kind is not int and not _inspect(item, depth + 1, left):
                plain = False
        return plain
    if kind is float:
        if not math.isfinite(value):  # type: ignore[arg-type]
            raise NotJSON("a number that is not finite")
        return False
    raise NotJSON(f"a value of type {kind.__name__}")


def _slow(value: Any) -> str:
    kind = type(value)
    if kind is dict:
        members = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_encode_text(key)}:{_slow(member)}" for key, member in members) + "}"
    if kind is list:
        return "[" + ",".join(_slow(item) for item in value) + "]"
    if kind is float:
        return _number(value)
    return _compact(value)


def _number(value: float) -> str:
    """ECMAScript's Number::toString; Python's repr finds the same shortest digits and only lays them out otherwise."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # position of the decimal point relative to the first significant digit
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"


def freeze(value: Any) -> Any:
    """A deeply immutable copy of a JSON value: objects become read-only mappings, arrays tuples."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(member) for key, member in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """A fresh, plain JSON value out of one that `freeze` made."""
    if isinstance(value, Mapping):
        return {key: thaw(member) for key, member in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
