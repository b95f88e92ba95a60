"""Everything that is alive on a surface, indexed for every question the core asks, and its version.

Source: core rules §4 (LIFE-5 to LIFE-10), §6 (VER-1), §7 (snapshots).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from surface.registry.availability import availability_of
from surface.registry.events import (
    AvailabilityChanged,
    ComponentRegistered,
    ComponentUnregistered,
    EventHub,
)
from surface.registry.registration import Exposure
from surface.registry.snapshot import (
    Budget,
    ComponentDescriptor,
    Snapshot,
    Truncated,
    describe_component,
    in_scope,
    only_available,
    seen_by,
    within_budget,
)
from surface.registry.tombstones import Graveyard

if TYPE_CHECKING:
    from surface.clock import Clock
    from surface.governance.audit import Auditor
    from surface.governance.policy import Policy
    from surface.limits import Limits
    from surface.registry.discovery import Viewer
    from surface.registry.registration import Registration
    from surface.values import Consumer


class Store:
    """The live registrations of one registry.

    ``by_key`` holds one registration per (type, instance id), ``by_capability`` those that offer a capability id.
    """

    def __init__(
        self,
        surface_id: str,
        events: EventHub,
        clock: Clock,
        limits: Limits,
        policies: tuple[Policy, ...],
        audit: Auditor,
    ) -> None:
        self.surface_id = surface_id
        self.policies = policies
        self.audit = audit
        self.events = events
        self.clock = clock
        self.limits = limits
        self.version = 0
        self.by_key: dict[tuple[str, str], Registration] = {}
        self.by_capability: dict[str, dict[str, Registration]] = {}
        self.graveyard = Graveyard(clock, limits)
        self.withdraw: Callable[[str], None] = lambda registration_id: None  # of confirmations; set by who has them
        self._ordered: list[Registration] = []

    def go_live(self, registration: Registration) -> None:
        """Index a registration, raise the version and say so (LIFE-5)."""
        with self.events:
            registration.status = "active"
            self.by_key[registration.key] = registration
            insort(self._ordered, registration, key=lambda one: one.order)
            for capability_id in registration.capabilities:
                self.by_capability.setdefault(capability_id, {})[registration.id] = registration
            self.moved()
            self.events.emit(ComponentRegistered(registration.id, registration.contract.type, registration.instance_id))
            self._record("registration", registration)

    def end(self, registration: Registration) -> None:
        """End a registration in the order of LIFE-7: out of the indexes, remembered, its calls settled, told."""
        with self.events:
            self._remove(registration)
            self.graveyard.bury(registration)
            self.withdraw(registration.id)
            for call in tuple(registration.calls):
                call.unmounted()
            self.moved()
            self.events.emit(
                ComponentUnregistered(registration.id, registration.contract.type, registration.instance_id)
            )
            self._record("unregistration", registration)

    def availability_changed(self, registration: Registration, capability_ids: Sequence[str]) -> None:
        """A registration was switched: tell each changed entry, then move the version once (AVAIL-3, EVENT-4)."""
        with self.events:
            for capability_id in capability_ids:
                capability = registration.capabilities[capability_id]
                available = availability_of(registration, capability).available
                self.events.emit(AvailabilityChanged(registration.id, capability_id, available))
            for call in tuple(registration.calls):
                call.availability_changed()
            self.moved()

    def moved(self) -> None:
        """Raise the surface version and announce it (VER-1)."""
        self.version += 1
        self.events.surface_changed(str(self.version))

    def refresh(self, viewer: Callable[[Consumer], Viewer]) -> None:
        """Evaluate live functions and discovery anew for those who have looked; move if anything differs (EVENT-3)."""
        with self.events:
            if any(self._differs(registration, viewer) for registration in tuple(self._ordered)):
                self.moved()

    def _differs(self, registration: Registration, viewer: Callable[[Consumer], Viewer]) -> bool:
        before = registration.descriptor
        if before is None:
            return False  # nobody has looked
        changed = describe_component(registration) is not before
        for consumer, exposure in registration.lookers() if registration.has_discovery else ():
            who = viewer(consumer)
            for id, capability in registration.capabilities.items():
                outcome = who.decide(registration, capability).outcome
                known = exposure.hidden if outcome == "hide" else exposure.visible
                changed = changed or outcome == "disable" or id not in known
        return changed

    def snapshot(
        self,
        viewer: Viewer,
        scope: Sequence[str],
        budget: Budget | None,
        include_unavailable: bool,
        route: str | None,
    ) -> Snapshot:
        """Capture the surface for one consumer; runs no read function and no executor (SNAP-1)."""
        shown = []
        priorities = []
        for registration in tuple(self._ordered):
            if scope and not in_scope(registration.contract.type, scope):
                continue
            component = self._seen(registration, viewer)
            if component is None:
                continue
            shown.append(component if include_unavailable else only_available(component))
            priorities.append(registration.priority)
        truncated: Truncated | None = None
        components = tuple(shown)
        if budget is not None:
            components, truncated = within_budget(shown, priorities, budget)
        return Snapshot(
            self.surface_id, str(self.version), self.clock.now(), viewer.consumer, route, components, truncated
        )

    def _seen(self, registration: Registration, viewer: Viewer) -> ComponentDescriptor | None:
        component = describe_component(registration)
        seen: ComponentDescriptor | None = component
        exposure = registration.fully_visible
        if registration.has_discovery:
            decisions = {
                id: viewer.decide(registration, capability) for id, capability in registration.capabilities.items()
            }
            hidden = frozenset(id for id, decision in decisions.items() if decision.outcome == "hide")
            exposure = Exposure(exposure.visible - hidden, hidden)
            seen = seen_by(component, decisions)
        registration.saw(viewer.consumer, exposure, self.limits.max_exposure_keys)
        return seen

    def clear(self) -> None:
        """Forget everything, without events or tombstones (LIFE-10)."""
        for registration in self._ordered:
            registration.status = "unregistered"
        self._ordered.clear()
        self.by_key.clear()
        self.by_capability.clear()
        self.graveyard.clear()

    def _record(self, kind: str, registration: Registration) -> None:
        fields = {
            "registrationId": registration.id,
            "componentType": registration.contract.type,
            "instanceId": registration.instance_id,
        }
        self.audit.write(kind, fields)

    def _remove(self, registration: Registration) -> None:
        registration.status = "unregistered"
        if self.by_key.get(registration.key) is registration:
            del self.by_key[registration.key]
        index = bisect_left(self._ordered, registration.order, key=lambda one: one.order)
        del self._ordered[self._ordered.index(registration, index)]
        for capability_id in registration.capabilities:
            offers = self.by_capability[capability_id]
            del offers[registration.id]
            if not offers:
                del self.by_capability[capability_id]
