"""The one tool an adapter may add of its own: why a tool that was there is not (03, "Mapping")."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from surface.canonical import freeze
from surface.contract.schema import EMPTY_OBJECT
from surface.projection.projector import ProjectedTool

UNAVAILABLE = ProjectedTool(
    name="surface_unavailable",
    capability_id="meta:surface.unavailable",
    kind="observation",
    title="Unavailable tools",
    description="[meta · read] What this page cannot do right now, and why.",
    input_schema=freeze(EMPTY_OBJECT.document),
    annotations=MappingProxyType(
        {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "consequentialHint": False,
            "untrustedContentHint": False,
        }
    ),
)


def unavailable_output(tools: Iterable[ProjectedTool], dropped: int) -> dict[str, Any]:
    """``{unavailable: [{capabilityId, name, reason}], dropped}``; ``dropped`` counts what a budget left out."""
    return {
        "unavailable": [
            {"capabilityId": tool.capability_id, "name": tool.name, "reason": tool.unavailable_reason}
            for tool in tools
            if not tool.available
        ],
        "dropped": dropped,
    }
