"""Ids: what they look like, how to read one, and how opaque ones are made.

Source: core rules §1 (ID-1 to ID-8).
"""

from __future__ import annotations

import re
import secrets
import string
from typing import NamedTuple

from surface.errors import SurfaceDefinitionError
from surface.limits import MAX_ID_LENGTH

DEFAULT_INSTANCE = "default"

# The one property that every two-phase tool may carry beside its own; no input may declare it (TOOLSET-4).
CONFIRMATION_PROPERTY = "_confirmationId"

_TYPE = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*")
_NAME = re.compile(r"[a-z][A-Za-z0-9]*")
_PATH = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z][A-Za-z0-9-]*)*")
_INSTANCE = re.compile(r"[A-Za-z0-9_-]{1,128}")
_BASE62 = (string.digits + string.ascii_uppercase + string.ascii_lowercase).encode()
_TO_BASE62 = bytes(_BASE62[byte % 62] for byte in range(256))
_UNUSED = bytes(range(248, 256))


class CapabilityId(NamedTuple):
    """A parsed capability id; ``str()`` gives the id back.

    ``component_type`` and ``name`` are set for plane ``view``, ``path`` for plane ``domain``; the others are None.
    """

    plane: str
    component_type: str | None = None
    name: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return f"view:{self.component_type}.{self.name}" if self.plane == "view" else f"domain:{self.path}"


def parse_id(text: object) -> CapabilityId | None:
    """Read a capability id; None for anything that is not one. Never raises (ID-6).

    >>> parse_id("view:devices.table.selectRows")
    CapabilityId(plane='view', component_type='devices.table', name='selectRows', path=None)
    """
    if not isinstance(text, str) or len(text) > MAX_ID_LENGTH:
        return None
    plane, _, rest = text.partition(":")
    if plane == "domain" and _PATH.fullmatch(rest):
        return CapabilityId("domain", path=rest)
    component_type, _, name = rest.rpartition(".")
    if plane == "view" and _TYPE.fullmatch(component_type) and _NAME.fullmatch(name):
        return CapabilityId("view", component_type=component_type, name=name)
    return None


def _refuse(what: str, value: object, expected: str, path: str) -> SurfaceDefinitionError:
    return SurfaceDefinitionError("INVALID_ID", f"{what} {value!r} is not {expected}", path)


def check_component_type(value: object, path: str = "") -> str:
    """The value if it is a component type (ID-2), else INVALID_ID."""
    if not isinstance(value, str) or len(value) > MAX_ID_LENGTH or not _TYPE.fullmatch(value):
        raise _refuse(
            "component type", value, "1-128 characters of dotted lower-case segments like devices.table", path
        )
    return value


def check_capability_name(value: object, path: str = "") -> str:
    """The value if it is the name of a view capability (ID-3), else INVALID_ID."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise _refuse("capability name", value, "camelCase letters and digits like selectRows; set name=", path)
    return value


def check_procedure_path(value: object, path: str = "") -> str:
    """The value if it is a procedure path (ID-4), else INVALID_ID."""
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise _refuse("procedure path", value, "dotted segments like devices.disable", path)
    check_id_length(f"domain:{value}", path)
    return value


def check_id_length(capability_id: str, path: str = "") -> str:
    """The id if it fits the 128 characters of ID-1, else INVALID_ID."""
    if len(capability_id) > MAX_ID_LENGTH:
        raise _refuse("capability id", capability_id, f"at most {MAX_ID_LENGTH} characters long", path)
    return capability_id


def check_instance_id(value: object, path: str = "") -> str:
    """The value if it is an instance id (ID-5), else INVALID_ID."""
    if not isinstance(value, str) or not _INSTANCE.fullmatch(value):
        raise _refuse("instance id", value, "1-128 characters of letters, digits, _ and -", path)
    return value


def _opaque(prefix: str, length: int) -> str:
    # Bytes of 248 and above are thrown away rather than folded, so that every character stays equally likely.
    text = ""
    while len(text) < length:
        text += secrets.token_bytes(length + 4).translate(_TO_BASE62, _UNUSED).decode()
    return prefix + text[:length]


def new_surface_id() -> str:
    """``srf_`` and 22 base62 characters (ID-8)."""
    return _opaque("srf_", 22)


def new_registration_id() -> str:
    """``reg_`` and 12 base62 characters (ID-8); the staleness token of one registration."""
    return _opaque("reg_", 12)


def new_confirmation_id() -> str:
    """``cnf_`` and 22 base62 characters (ID-8)."""
    return _opaque("cnf_", 22)


def new_invocation_id() -> str:
    """``inv_`` and 12 base62 characters (ID-8); made when a caller gives none."""
    return _opaque("inv_", 12)
