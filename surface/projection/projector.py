"""The one projector: from what a snapshot describes to the tools that a transport shows.

Every adapter and the manifest call `project`, so that what is mounted is what was reviewed (core rules §19, 03
"Mapping").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from surface.canonical import freeze, thaw
from surface.contract.schema import EMPTY_OBJECT
from surface.errors import SurfaceDefinitionError
from surface.ids import CONFIRMATION_PROPERTY
from surface.projection.presentation import Presentation, Replacement
from surface.projection.wire_names import Entry, catalog_names
from surface.registry.snapshot import CapabilityDescriptor, ComponentDescriptor, Snapshot, in_scope

_CONSEQUENTIAL = frozenset({"destructive", "external-side-effect"})
_AUTHORED = Replacement()
_EMPTY_INPUT = freeze(EMPTY_OBJECT.document)
_CONFIRMATION_SCHEMA = {
    "type": "string",
    "description": "Only when repeating a call that asked for confirmation: the confirmationId it answered.",
}


@dataclass(frozen=True, slots=True)
class ProjectedTool:
    """A tool as a transport shows it, and, behind it, the registration it was made for and its state of the moment."""

    name: str
    capability_id: str
    kind: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, bool]
    registration_id: str = ""
    instance_id: str | None = None
    available: bool = True
    unavailable_reason: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """``{name, title, description, inputSchema, annotations}``, plain JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": thaw(self.input_schema),
            "annotations": dict(self.annotations),
        }


@dataclass(frozen=True, slots=True)
class Projection:
    """The tools of one snapshot, the map from wire name to capability id, and the ids that were left out."""

    tools: tuple[ProjectedTool, ...]
    wire_names: Mapping[str, str]
    omitted: tuple[str, ...]


def project(snapshot: Snapshot, presentation: Presentation, *, two_phase: bool) -> Projection:
    """Show a snapshot: one tool per selected capability, in the snapshot's order (TOOLSET-2).

    ``two_phase`` adds the reserved property ``_confirmationId`` to tools that may ask for confirmation (TOOLSET-4).
    Raises INVALID_DEFINITION where replaced names are not unique.
    """
    selection = presentation.selection
    shown: list[tuple[ComponentDescriptor, CapabilityDescriptor]] = []
    omitted: list[str] = []
    for component in snapshot.components:
        if not in_scope(component.type, selection.scope):
            continue
        for item in (*component.observations, *component.actions):
            if selection.shows(item.capability_id):
                shown.append((component, item))
            else:
                omitted.append(item.capability_id)
    offered = Counter(item.capability_id for _, item in shown)
    entries: list[Entry] = [
        (item.capability_id, component.instance_id if offered[item.capability_id] > 1 else None)
        for component, item in shown
    ]
    names = catalog_names(entries)
    tools = tuple(
        _tool(component, item, names[entry], selection.replace.get(item.capability_id, _AUTHORED), two_phase)
        for (component, item), entry in zip(shown, entries, strict=True)
    )
    wire_names = {tool.name: tool.capability_id for tool in tools}
    if len(wire_names) != len(tools):
        twice = next(name for name, count in Counter(tool.name for tool in tools).items() if count > 1)
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"two tools would be named {twice!r}", "replace")
    return Projection(tools, MappingProxyType(wire_names), tuple(omitted))


def _tool(
    component: ComponentDescriptor, item: CapabilityDescriptor, name: str, replacement: Replacement, two_phase: bool
) -> ProjectedTool:
    confirms = item.confirmation == "required"
    mark = f"[{item.capability_id.partition(':')[0]} · {item.effect}{' · requires confirmation' if confirms else ''}]"
    schema = item.input_schema or _EMPTY_INPUT
    if two_phase and item.confirmation != "never":
        schema = _with_confirmation(schema)
    reads = item.effect in ("read", "server-query")
    return ProjectedTool(
        name=replacement.name or name,
        capability_id=item.capability_id,
        kind=item.kind,
        title=replacement.title or item.title or item.name,
        description=f"{mark} {replacement.description or item.description}",
        input_schema=schema,
        annotations=MappingProxyType(
            {
                "readOnlyHint": reads,
                "destructiveHint": item.effect == "destructive",
                "idempotentHint": item.idempotent,
                "consequentialHint": confirms or item.effect in _CONSEQUENTIAL,
                "untrustedContentHint": item.untrusted_content,
            }
        ),
        registration_id=component.registration_id,
        instance_id=component.instance_id,
        available=item.available,
        unavailable_reason=item.unavailable_reason,
    )


def _with_confirmation(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {**schema.get("properties", {}), CONFIRMATION_PROPERTY: freeze(_CONFIRMATION_SCHEMA)}
    return MappingProxyType({**schema, "properties": MappingProxyType(properties)})
