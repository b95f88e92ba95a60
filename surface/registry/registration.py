"""One lifetime of one component instance: what it offers, how it is switched, and who is calling it.

Source: core rules §4 (LIFE-6) and §5 (AVAIL-3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from surface.contract.capability import Capability
from surface.contract.component import Component
from surface.errors import SurfaceDefinitionError
from surface.governance.policy import Chain, Meta, Policy, chain_of
from surface.ids import new_registration_id

if TYPE_CHECKING:
    from surface.registry.snapshot import ComponentDescriptor
    from surface.registry.store import Store
    from surface.values import Consumer

Override = tuple[bool, str | None]
ConsumerKey = tuple[str, str]


class Exposure(NamedTuple):
    """Which capability ids discovery showed to a consumer, and which it hid; of the others nothing is known."""

    visible: frozenset[str]
    hidden: frozenset[str]


NOTHING_SEEN = Exposure(frozenset(), frozenset())


class InFlight(Protocol):
    """What a registration asks of a call that uses it."""

    def unmounted(self) -> None:
        """The registration has ended: settle."""

    def availability_changed(self) -> None:
        """The registration was switched: a call that still waits looks again."""


class Registration:
    """A live component instance; its ``id`` is the staleness token. Also a context manager that unregisters.

    ``status`` is ``active``, ``rejected`` (turned away at the door) or ``unregistered``; once it is not active,
    every method does nothing.

    >>> table = registry.register(DevicesTable(page), instance_id="main")
    >>> table.update(availability={"selectRows": (False, "Rows are loading")})
    """

    def __init__(
        self,
        store: Store,
        contract: Component,
        capabilities: Mapping[str, Capability],
        component: object,
        *,
        instance_id: str,
        policies: Sequence[Policy] = (),
        parent: tuple[str, str] | None = None,
        internal: Any = None,
        origin: str = "first-party",
        priority: int = 0,
        enabled: bool = True,
    ) -> None:
        self.id = new_registration_id()
        self.status = "rejected"
        self.contract = contract
        self.component = component
        self.instance_id = instance_id
        self.parent = parent
        self.internal = internal
        self.origin = origin
        self.priority = priority
        self.enabled = enabled
        self.capabilities = capabilities  # by capability id, in order of declaration; frozen at registration
        registry_wide, own = store.policies, (*contract.policies, *policies)
        self.chains: Mapping[str, Chain] = {
            id: chain_of(registry_wide, own, capability.policies) for id, capability in capabilities.items()
        }
        self.has_discovery = any(chain.discovery for chain in self.chains.values())
        self.overrides: dict[str, Override] = {}
        self.calls: set[InFlight] = set()
        self.has_live_functions = any(capability.when for capability in capabilities.values())
        self.descriptor: ComponentDescriptor | None = None
        self.fully_visible = Exposure(frozenset(capabilities), frozenset())
        self._exposures: dict[ConsumerKey, Exposure] = {}
        self._consumers: dict[ConsumerKey, Consumer] = {}
        self._store = store

    def __repr__(self) -> str:
        return f"<Registration {self.id} {self.contract.type}#{self.instance_id} {self.status}>"

    @property
    def key(self) -> tuple[str, str]:
        """(component type, instance id): one live registration per key (ID-7)."""
        return (self.contract.type, self.instance_id)

    @property
    def order(self) -> tuple[int, str, str]:
        """Where the component stands in a snapshot (SNAP-4)."""
        return (-self.priority, self.contract.type, self.instance_id)

    def update(self, *, enabled: bool | None = None, availability: Mapping[str, Any] | None = None) -> None:
        """Switch the instance or single capabilities on or off.

        ``availability`` maps a name or full id to True, False, ``(False, "reason")`` or None, which clears an
        earlier override. An unknown key or a malformed value raises INVALID_DEFINITION and changes nothing (AVAIL-3).
        """
        if self.status != "active":
            return
        changes = {self._capability(key).id: _override(value, key) for key, value in (availability or {}).items()}
        if enabled is not None and not isinstance(enabled, bool):
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"enabled must be True or False, not {enabled!r}")
        changed = [key for key, override in changes.items() if self.overrides.get(key) != override]
        for key in changed:
            override = changes[key]
            if override is None:
                self.overrides.pop(key, None)
            else:
                self.overrides[key] = override
        switched = enabled is not None and enabled != self.enabled
        if switched:
            self.enabled = bool(enabled)
        if changed or switched:
            self.descriptor = None
            self._store.availability_changed(self, changed)

    def invalidate(self) -> None:
        """Say that the surface moved in a way the registry cannot see; raises the version (VER-1)."""
        if self.status == "active":
            self.descriptor = None
            self._store.moved()

    def unregister(self) -> None:
        """End this lifetime; calls that use it settle with COMPONENT_UNMOUNTED. Repeatable (LIFE-6)."""
        if self.status == "active":
            self._store.end(self)

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exc: object) -> None:
        self.unregister()

    def saw(self, consumer: Consumer, exposure: Exposure, limit: int) -> None:
        """Keep what discovery last told ``consumer`` (VER-5), of at most ``limit`` consumers."""
        key = consumer.key
        if self._exposures.get(key) != exposure:
            if key not in self._exposures and len(self._exposures) >= limit:
                oldest = next(iter(self._exposures))
                del self._exposures[oldest], self._consumers[oldest]
            self._exposures[key] = exposure
        self._consumers[key] = consumer

    def saw_one(self, consumer: Consumer, capability_id: str, visible: bool, limit: int) -> None:
        """Keep what discovery last told ``consumer`` of one capability."""
        before = self._exposures.get(consumer.key, NOTHING_SEEN)
        if capability_id in (before.visible if visible else before.hidden):
            return
        one = frozenset((capability_id,))
        after = (
            Exposure(before.visible | one, before.hidden - one)
            if visible
            else Exposure(before.visible - one, before.hidden | one)
        )
        self.saw(consumer, after, limit)

    def exposures(self) -> Mapping[ConsumerKey, Exposure]:
        """The latest discovery outcomes by consumer."""
        return self._exposures

    def lookers(self) -> list[tuple[Consumer, Exposure]]:
        """The consumers that have looked, and what they saw."""
        return [(self._consumers[key], exposure) for key, exposure in self._exposures.items()]

    def meta(self, capability: Capability) -> Meta:
        """What policies see of the contract's ``meta``."""
        return Meta(self.contract.meta or {}, capability.meta or {})

    def _capability(self, key: object) -> Capability:
        if isinstance(key, str):
            found = self.capabilities.get(key) or self.capabilities.get(f"view:{self.contract.type}.{key}")
            if found is not None:
                return found
        names = ", ".join(capability.name for capability in self.capabilities.values())
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", f"update() knows no capability {key!r}; there are: {names}", self.contract.type
        )


def _override(value: object, key: object) -> Override | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return (value, None)
    if (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], bool)
        and (value[1] is None or isinstance(value[1], str))
    ):
        return (value[0], value[1])
    raise SurfaceDefinitionError(
        "INVALID_DEFINITION", f"availability of {key!r} must be True, False, (False, reason) or None, not {value!r}"
    )
