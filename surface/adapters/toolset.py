"""The toolset: one registry as plain tools for an agent loop in the same process, one tool per capability.

Source: core rules §19.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from surface.canonical import thaw
from surface.errors import CATALOGUE, RegistryDisposed, SurfaceDefinitionError
from surface.projection.presentation import Presentation
from surface.projection.projector import ProjectedTool, project
from surface.values import Consumer, InvocationError, InvocationResult

if TYPE_CHECKING:
    from surface.facade import Registry
    from surface.registry.events import Event
    from surface.registry.snapshot import Budget


@dataclass(frozen=True, slots=True)
class ToolState:
    """Whether a tool can be used now, and a note of the moment (TOOLSET-5)."""

    available: bool
    unavailable_reason: str | None = None
    note: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """``{available, unavailableReason?, note?}``."""
        wire: dict[str, Any] = {"available": self.available}
        if self.unavailable_reason is not None:
            wire["unavailableReason"] = self.unavailable_reason
        if self.note is not None:
            wire["note"] = self.note
        return wire


@dataclass(frozen=True, slots=True)
class Tool:
    """One capability as a tool; `execute` runs it through the registry."""

    name: str
    capability_id: str
    kind: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, bool]
    state: ToolState
    _run: Callable[[Any, str | None, str | None], Any]

    async def execute(
        self, input: Any = None, *, tool_call_id: str | None = None, confirmation_id: str | None = None
    ) -> InvocationResult:
        """Call the capability; ``tool_call_id`` becomes the invocation id, so a repeated delivery runs once.

        Never raises; after the toolset or its registry was disposed the answer is CANCELLED, retry no (TOOLSET-6).
        """
        result: InvocationResult = await self._run(input, tool_call_id, confirmation_id)
        return result

    def to_wire(self) -> dict[str, Any]:
        """``{name, title, description, inputSchema, annotations, state}``."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": thaw(self.input_schema),
            "annotations": dict(self.annotations),
            "state": self.state.to_wire(),
        }


class Toolset:
    """What one consumer may use of a registry, as tools.

    >>> toolset = Toolset(registry, consumer=Consumer("embedded", "copilot"), topology="embedded")
    >>> {tool.name: tool for tool in toolset.tools()}["view_devices__table__readState"]
    """

    def __init__(
        self,
        registry: Registry,
        *,
        consumer: Consumer,
        topology: str,
        presentation: Presentation | None = None,
        scope: Sequence[str] | None = None,
        budget: Budget | None = None,
        mode: str = "direct",
    ) -> None:
        if topology not in ("embedded", "remote"):
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"topology is embedded or remote, not {topology!r}")
        if budget is not None and mode == "direct":
            raise SurfaceDefinitionError("INVALID_DEFINITION", "a budget goes with mode='meta' only (TOOLSET-1)")
        self.consumer = consumer
        self.topology = topology
        self._registry = registry
        self._presentation = Presentation.of(presentation, scope=scope, budget=budget, mode=mode)
        self._disposed = False
        self._listeners: list[Callable[[], object]] = []
        self._shown: tuple[object, ...] = ()
        self._unsubscribe = registry.subscribe(self._on_event, kinds=["surface-changed"])
        self.tools()

    @property
    def wire_names(self) -> Mapping[str, str]:
        """Wire name → capability id of the catalog as it is now; authoritative (WIRE-4)."""
        return MappingProxyType({tool.name: tool.capability_id for tool in self.tools()})

    def tools(self) -> list[Tool]:
        """The tools as they are now, unavailable ones included, in the snapshot's order; empty after dispose."""
        if self._disposed or self._registry.disposed:
            return []
        snapshot = self._registry.snapshot(consumer=self.consumer, scope=self._presentation.selection.scope)
        projection = project(snapshot, self._presentation, two_phase=self.topology == "remote")
        self._shown = projection.tools
        return [self._tool(tool, snapshot.surface_version) for tool in projection.tools]

    def subscribe(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Be called after a surface change that altered a name, description, schema or state; returns the removal."""
        self._listeners.append(callback)

        def unsubscribe() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return unsubscribe

    def dispose(self) -> None:
        """Let go of the registry; tools answer CANCELLED from now on. Repeatable."""
        self._disposed = True
        self._listeners.clear()
        self._unsubscribe()

    def _tool(self, tool: ProjectedTool, version: str) -> Tool:
        async def run(input: Any, tool_call_id: str | None, confirmation_id: str | None) -> InvocationResult:
            return await self._execute(tool, version, input, tool_call_id, confirmation_id)

        return Tool(
            tool.name,
            tool.capability_id,
            tool.kind,
            tool.title,
            tool.description,
            tool.input_schema,
            tool.annotations,
            ToolState(tool.available, tool.unavailable_reason),
            run,
        )

    async def _execute(
        self, tool: ProjectedTool, version: str, input: Any, tool_call_id: str | None, confirmation_id: str | None
    ) -> InvocationResult:
        invocation_id = tool_call_id or f"tool_{secrets.token_hex(8)}"
        if not self._disposed:
            try:
                return await self._registry.invoke(
                    tool.capability_id,
                    input,
                    consumer=self.consumer,
                    instance_id=tool.instance_id,
                    registration_id=tool.registration_id,
                    surface_version=version,
                    invocation_id=invocation_id,
                    confirmation_id=confirmation_id,
                )
            except RegistryDisposed:
                pass
        error = InvocationError("CANCELLED", CATALOGUE["CANCELLED"].message, "no")
        return InvocationResult("error", invocation_id, tool.capability_id, self._registry.version, error=error)

    def _on_event(self, event: Event) -> None:
        if self._disposed or not self._listeners:
            return
        before = self._shown
        self.tools()
        if before != self._shown:
            for listener in tuple(self._listeners):
                listener()
