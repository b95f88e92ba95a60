"""What is remembered of a registration that ended, so that a late caller hears the right answer (LIFE-8, VER-5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from surface.clock import Clock
    from surface.limits import Limits
    from surface.registry.registration import ConsumerKey, Exposure, Registration


class Tombstone(NamedTuple):
    """Ids and discovery outcomes of an ended registration; nothing that could run."""

    registration_id: str
    component_type: str
    instance_id: str
    capability_ids: frozenset[str]
    exposures: Mapping[ConsumerKey, Exposure]
    ended_at: float

    def admits(self, capability_id: str, consumer: ConsumerKey, registration_id: str | None) -> bool:
        """True if ``consumer`` may learn that the capability was here: it saw it, or, where nothing is recorded,
        it presents the registration's id. A recorded *hidden* wins (VER-5)."""
        seen = self.exposures.get(consumer)
        if seen is not None and capability_id in seen.visible:
            return True
        known_hidden = seen is not None and capability_id in seen.hidden
        return not known_hidden and registration_id == self.registration_id


class Graveyard:
    """The tombstones of one registry: bounded in number and time, oldest dropped first."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._tombstones: OrderedDict[str, Tombstone] = OrderedDict()

    def bury(self, registration: Registration) -> None:
        """Remember an ended registration."""
        self._tombstones[registration.id] = Tombstone(
            registration.id,
            registration.contract.type,
            registration.instance_id,
            frozenset(registration.capabilities),
            dict(registration.exposures()),
            self._clock.now(),
        )
        while len(self._tombstones) > self._limits.tombstone_size:
            self._tombstones.popitem(last=False)

    def of(self, capability_id: str, instance_id: str | None) -> Iterator[Tombstone]:
        """The live tombstones that offered the capability, latest first."""
        deadline = self._clock.now() - self._limits.tombstone_ttl
        for tombstone in reversed(self._tombstones.values()):
            if tombstone.ended_at <= deadline:
                return
            if capability_id in tombstone.capability_ids and instance_id in (None, tombstone.instance_id):
                yield tombstone

    def clear(self) -> None:
        """Forget everybody."""
        self._tombstones.clear()
