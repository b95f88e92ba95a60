"""An immutable capture of the surface for one consumer: descriptors, never state, never handlers.

Source: core rules §7. Descriptors are cached per registration and shared between snapshots; only live functions run
on each listing (LIMIT-3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surface.canonical import freeze, json_text, thaw
from surface.clock import iso
from surface.contract.effects import Confirmation, highest
from surface.errors import SurfaceDefinitionError
from surface.registry.availability import AVAILABLE, Availability, availability_of

if TYPE_CHECKING:
    from surface.contract.capability import Capability
    from surface.governance.policy import Chain, Decision
    from surface.registry.registration import Registration
    from surface.values import Consumer


@dataclass(frozen=True, slots=True)
class CapabilityDescriptor:
    """An observation or an action as a snapshot shows it; ``input_schema`` is None for an observation."""

    capability_id: str
    kind: str
    name: str
    description: str
    title: str | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    effect: str
    idempotent: bool
    reversible: bool | None
    confirmation: str
    untrusted_content: bool
    meta: Mapping[str, Any] | None
    available: bool = True
    unavailable_reason: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The rows *observation* and *action* of SNAP-8's table."""
        wire: dict[str, Any] = {
            "capabilityId": self.capability_id,
            "name": self.name,
            "description": self.description,
            "available": self.available,
        }
        if self.kind == "action":
            wire |= {
                "inputSchema": thaw(self.input_schema),
                "effect": self.effect,
                "idempotent": self.idempotent,
                "reversible": self.reversible,
                "confirmation": self.confirmation,
            }
        optional = {
            "title": self.title,
            "outputSchema": thaw(self.output_schema),
            "untrustedContent": self.untrusted_content or None,
            "unavailableReason": self.unavailable_reason,
            "meta": thaw(self.meta),
        }
        return wire | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ComponentDescriptor:
    """A component as a snapshot shows it; ``parent`` is (type, instance id)."""

    type: str
    instance_id: str
    registration_id: str
    description: str
    title: str | None
    tags: tuple[str, ...]
    parent: tuple[str, str] | None
    meta: Mapping[str, Any] | None
    capabilities: tuple[CapabilityDescriptor, ...]

    @property
    def observations(self) -> tuple[CapabilityDescriptor, ...]:
        """The observations, in order of declaration."""
        return tuple(item for item in self.capabilities if item.kind == "observation")

    @property
    def actions(self) -> tuple[CapabilityDescriptor, ...]:
        """The actions, in order of declaration."""
        return tuple(item for item in self.capabilities if item.kind == "action")

    def to_wire(self) -> dict[str, Any]:
        """The row *component* of SNAP-8's table."""
        wire: dict[str, Any] = {
            "type": self.type,
            "instanceId": self.instance_id,
            "registrationId": self.registration_id,
            "description": self.description,
            "observations": [item.to_wire() for item in self.observations],
            "actions": [item.to_wire() for item in self.actions],
        }
        parent = None if self.parent is None else {"type": self.parent[0], "instanceId": self.parent[1]}
        optional = {"title": self.title, "tags": list(self.tags) or None, "parent": parent, "meta": thaw(self.meta)}
        return wire | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Truncated:
    """What a budget left out."""

    dropped_components: int
    dropped_procedures: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The surface of one consumer at one moment; ``captured_at`` in epoch seconds, ISO text on the wire."""

    surface_id: str
    surface_version: str
    captured_at: float
    consumer: Consumer = field(repr=False)
    route: str | None
    components: tuple[ComponentDescriptor, ...]
    truncated: Truncated | None = None

    def to_wire(self) -> dict[str, Any]:
        """``{surfaceId, surfaceVersion, capturedAt, route?, components, procedures, truncated?}``."""
        wire: dict[str, Any] = {
            "surfaceId": self.surface_id,
            "surfaceVersion": self.surface_version,
            "capturedAt": iso(self.captured_at),
            "components": [component.to_wire() for component in self.components],
            "procedures": [],
        }
        if self.route is not None:
            wire["route"] = self.route
        if self.truncated is not None:
            wire["truncated"] = {
                "droppedComponents": self.truncated.dropped_components,
                "droppedProcedures": self.truncated.dropped_procedures,
            }
        return wire


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a snapshot may hold (SNAP-6): a number of components, or UTF-8 bytes of compact JSON."""

    max_components: int | None = None
    max_bytes: int | None = None

    @classmethod
    def of(cls, value: Budget | Mapping[str, Any] | None) -> Budget | None:
        """A `Budget` out of one, or of a mapping with its keys; INVALID_DEFINITION for anything else."""
        if value is None or isinstance(value, Budget):
            budget = value
        elif isinstance(value, Mapping) and set(value) <= {"max_components", "max_bytes"}:
            budget = cls(**value)
        else:
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"budget has max_components, max_bytes; not {value!r}")
        for number in (budget.max_components, budget.max_bytes) if budget else ():
            if number is not None and (type(number) is not int or number < 0):
                raise SurfaceDefinitionError("INVALID_DEFINITION", f"a budget is a whole number, not {number!r}")
        return budget


def describe_capability(capability: Capability, chain: Chain) -> CapabilityDescriptor:
    """The parts of a descriptor that hold for the registration's whole life."""
    is_action = capability.kind == "action"
    return CapabilityDescriptor(
        capability_id=capability.id,
        kind=capability.kind,
        name=capability.name,
        description=capability.description,
        title=capability.title,
        input_schema=freeze(capability.input.document) if is_action else None,
        output_schema=freeze(capability.output.output_document) if capability.output else None,
        effect=capability.effect,
        idempotent=capability.idempotent,
        reversible=capability.reversible,
        confirmation=_confirmation(capability, chain),
        untrusted_content=capability.untrusted_content,
        meta=freeze(capability.meta),
    )


def describe_component(registration: Registration) -> ComponentDescriptor:
    """The descriptor of one registration as it is now; cached where no live function could change it."""
    cached = registration.descriptor
    if cached is not None and not registration.has_live_functions:
        return cached
    contract = registration.contract
    static = cached or ComponentDescriptor(
        contract.type,
        registration.instance_id,
        registration.id,
        contract.description,
        contract.title,
        contract.tags,
        registration.parent,
        freeze(contract.meta),
        tuple(
            describe_capability(capability, registration.chains[capability.id])
            for capability in registration.capabilities.values()
        ),
    )
    now = [availability_of(registration, capability) for capability in registration.capabilities.values()]
    items = tuple(_available(item, state) for item, state in zip(static.capabilities, now, strict=True))
    if items != static.capabilities:
        static = replace(static, capabilities=items)
    registration.descriptor = static
    return static


def seen_by(component: ComponentDescriptor, decisions: Mapping[str, Decision]) -> ComponentDescriptor | None:
    """The component as discovery lets a consumer see it: without what is hidden, with a policy's reason before any
    other (AVAIL-4); None where everything it has is hidden (SNAP-5)."""
    shown = []
    for item in component.capabilities:
        outcome, reason = decisions[item.capability_id]
        if outcome == "disable":
            shown.append(replace(item, available=False, unavailable_reason=reason))
        elif outcome == "expose":
            shown.append(item)
    if not shown and component.capabilities:
        return None
    return replace(component, capabilities=tuple(shown))


def only_available(component: ComponentDescriptor) -> ComponentDescriptor:
    """The component without the capabilities that cannot be used now."""
    if all(item.available for item in component.capabilities):
        return component
    return replace(component, capabilities=tuple(item for item in component.capabilities if item.available))


def in_scope(component_type: str, scope: Sequence[str]) -> bool:
    """True if a type is one of the scope's prefixes or stands below one (SNAP-3); an empty scope means all."""
    return not scope or any(component_type == one or component_type.startswith(f"{one}.") for one in scope)


def within_budget(
    components: list[ComponentDescriptor], priorities: Sequence[int], budget: Budget
) -> tuple[tuple[ComponentDescriptor, ...], Truncated | None]:
    """Drop components until the budget holds: lowest priority first, ties from the end (SNAP-6)."""
    kept = dict(enumerate(components))
    sizes = [len(json_text(one.to_wire()).encode()) for one in components] if budget.max_bytes is not None else []
    used = 4 + sum(sizes) + max(len(sizes) - 1, 0)  # two arrays, and commas between the members
    for index in sorted(kept, key=lambda index: (priorities[index], -index)):
        too_many = budget.max_components is not None and len(kept) > budget.max_components
        too_large = budget.max_bytes is not None and used > budget.max_bytes
        if not (too_many or too_large):
            break
        del kept[index]
        if sizes:
            used -= sizes[index] + (1 if kept else 0)
    dropped = len(components) - len(kept)
    return tuple(kept.values()), Truncated(dropped) if dropped else None


def _confirmation(capability: Capability, chain: Chain) -> Confirmation:
    """What a descriptor says (SNAP-8): an escalation that always applies requires, a conditional one may."""
    levels: list[Confirmation] = ["optional" if one.conditional else "required" for one in chain.escalations]
    return highest(capability.confirmation, *levels)


def _available(item: CapabilityDescriptor, state: Availability) -> CapabilityDescriptor:
    if item.available == state.available and item.unavailable_reason == state.reason:
        return item
    if state == AVAILABLE:
        return replace(item, available=True, unavailable_reason=None)
    return replace(item, available=False, unavailable_reason=state.reason)
