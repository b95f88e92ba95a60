"""What each effect means: the table of defaults of core rules §3, and the ladder of confirmation levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Effect = Literal[
    "read",
    "local-state",
    "navigation",
    "server-query",
    "server-mutation",
    "external-side-effect",
    "destructive",
]
ActionEffect = Literal["local-state", "navigation"]
Confirmation = Literal["never", "optional", "required"]
AuditLevel = Literal["none", "metadata", "full"]

CONFIRMATION_LEVELS: tuple[Confirmation, ...] = ("never", "optional", "required")
AUDIT_LEVELS: tuple[AuditLevel, ...] = ("none", "metadata", "full")


class EffectRow(NamedTuple):
    """One row of the table; ``reversible`` is None where the notion does not apply, ``slots`` names the default
    concurrency group, ``timeout`` the row of `Limits` that holds."""

    kind: str
    plane: str
    idempotent: bool
    idempotent_fixed: bool
    reversible: bool | None
    confirmation: Confirmation
    audit: AuditLevel
    timeout: str
    slots: str


EFFECTS: Mapping[str, EffectRow] = {
    "read": EffectRow("observation", "view", True, True, None, "never", "none", "observation_timeout", "observations"),
    "local-state": EffectRow("action", "view", False, False, True, "never", "metadata", "action_timeout", "instance"),
    "navigation": EffectRow("action", "view", False, False, True, "never", "metadata", "action_timeout", "instance"),
    "server-query": EffectRow(
        "procedure", "domain", True, True, None, "never", "metadata", "procedure_timeout", "capability"
    ),
    "server-mutation": EffectRow(
        "procedure", "domain", False, True, None, "optional", "metadata", "procedure_timeout", "capability"
    ),
    "external-side-effect": EffectRow(
        "procedure", "domain", False, True, None, "required", "full", "procedure_timeout", "capability"
    ),
    "destructive": EffectRow(
        "procedure", "domain", False, True, None, "required", "full", "procedure_timeout", "capability"
    ),
}


def highest(*levels: Confirmation) -> Confirmation:
    """The highest of several confirmation levels: never < optional < required (CONTRACT-2)."""
    return max(levels, key=CONFIRMATION_LEVELS.index)
