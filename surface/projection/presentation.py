"""What is shown, as data: which capabilities, under which names and texts, and how.

Everything here can be written down in a manifest, so that a live mount and its manifest row come from the same value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from surface.errors import SurfaceDefinitionError
from surface.registry.snapshot import Budget


@dataclass(frozen=True, slots=True)
class Replacement:
    """Texts that take the place of the authored ones; the ``[plane · effect]`` mark always stays."""

    name: str | None = None
    title: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which capabilities are shown, by id.

    ``scope`` lists component-type prefixes (empty: all), ``include`` the only ids (None: all), ``skip`` ids left out,
    ``replace`` texts by id.
    """

    scope: Sequence[str] = ()
    include: Sequence[str] | None = None
    skip: Sequence[str] = ()
    replace: Mapping[str, Replacement] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for name in ("scope", "include", "skip"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise SurfaceDefinitionError("INVALID_DEFINITION", f"{name} is a list of texts, not one text", name)
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "replace", MappingProxyType(dict(self.replace)))

    def shows(self, capability_id: str) -> bool:
        """True if the selection lets this capability through (its scope aside)."""
        return capability_id not in self.skip and (self.include is None or capability_id in self.include)


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a selection is shown: one tool per capability (``direct``), in a schema dialect, within a budget."""

    selection: Selection = field(default_factory=Selection)
    mode: str = "direct"
    dialect: str = "portable"
    budget: Budget | None = None
    announce_unavailable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", Budget.of(self.budget))
        if self.mode == "meta":
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", "mode 'meta' is not there yet; use mode='direct'", "mode"
            )
        if self.mode != "direct":
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"mode is direct or meta, not {self.mode!r}", "mode")
        if self.dialect != "portable":
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"unknown dialect {self.dialect!r}", "dialect")

    @classmethod
    def of(
        cls,
        presentation: Presentation | None,
        *,
        scope: Sequence[str] | None = None,
        mode: str = "direct",
        budget: Budget | Mapping[str, int] | None = None,
    ) -> Presentation:
        """The presentation an adapter was given, or the one that its short keywords mean; both is an error."""
        if presentation is None:
            return cls(Selection(scope=scope or ()), mode, budget=Budget.of(budget))
        if scope or budget or mode != "direct":
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", "give either presentation= or scope=, mode=, budget=, not both", "presentation"
            )
        return presentation
