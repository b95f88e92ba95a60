"""Capability ids as tool names that every transport accepts, reversible where they are neither cut nor qualified.

Source: core rules §21.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from surface.ids import CapabilityId, parse_id
from surface.limits import MAX_WIRE_NAME

Entry = tuple[str, str | None]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FIRST_HASH = 7
_HASH_STEP = 2


def encode_wire_name(id: str | CapabilityId, instance_id: str | None = None) -> str:
    """The wire name of a capability id, qualified by an instance id where several instances offer it.

    >>> encode_wire_name("view:devices.table.selectRows")
    'view_devices__table__selectRows'
    """
    id = str(id)
    plain = _plain((id, instance_id))
    return plain if len(plain) <= MAX_WIRE_NAME else _hashed((id, instance_id), _FIRST_HASH)


def decode_wire_name(name: str) -> str | None:
    """The id behind a wire name, or None for one that is shortened, qualified or no wire name (WIRE-4)."""
    plane, _, rest = name.partition("_")
    capability_id = f"{plane}:{rest.replace('__', '.')}"
    if parse_id(capability_id) is None or encode_wire_name(capability_id) != name:
        return None
    return capability_id


def catalog_names(entries: Iterable[Entry]) -> dict[Entry, str]:
    """One distinct name per (id, qualifier); colliding entries grow a longer hash until all differ (WIRE-3)."""
    hashes = {entry: _FIRST_HASH if len(_plain(entry)) > MAX_WIRE_NAME else 0 for entry in entries}
    while True:
        names = {entry: _hashed(entry, length) if length else _plain(entry) for entry, length in hashes.items()}
        if len(set(names.values())) == len(names):
            return names
        takers: dict[str, list[Entry]] = {}
        for entry, name in names.items():
            takers.setdefault(name, []).append(entry)
        for colliding in takers.values():
            for entry in colliding if len(colliding) > 1 else ():
                hashes[entry] += _HASH_STEP if hashes[entry] else _FIRST_HASH


def _plain(entry: Entry) -> str:
    capability_id, qualifier = entry
    name = capability_id.replace(":", "_", 1).replace(".", "__")
    return name if qualifier is None else f"{name}_at_{qualifier}"


def _hashed(entry: Entry, length: int) -> str:
    prefix = _plain(entry)[: MAX_WIRE_NAME - 1 - length].rstrip("_")
    return f"{prefix}_{_hash(entry)[-length:]}"


@lru_cache(maxsize=1_024)
def _hash(entry: Entry) -> str:
    capability_id, qualifier = entry
    text = capability_id if qualifier is None else f"{capability_id}#{qualifier}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    digits = []
    while number:
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits)).rjust(50, "0")
