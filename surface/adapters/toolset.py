"""The toolset: one registry as plain tools for an agent loop in the same process, one tool per capability.

Source: core rules §19.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from surface.errors import AUTHOR_ERRORS, RegistryDisposed, SurfaceDefinitionError
from surface.ids import CONFIRMATION_PROPERTY
from surface.projection.presentation import Presentation
from surface.projection.projector import ProjectedTool, project
from surface.values import Consumer, InvocationError, InvocationResult

if TYPE_CHECKING:
    from surface.facade import Registry
    from surface.registry.events import Event
    from surface.registry.snapshot import Budget

logger = logging.getLogger("surface")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ProjectedTool):
    """One capability as a tool; `execute` runs it through the registry."""

    state: ToolState
    _run: Callable[[Any, str | None, str | None], Awaitable[InvocationResult]] = field(repr=False, compare=False)

    async def execute(
        self, input: Any = None, *, tool_call_id: str | None = None, confirmation_id: str | None = None
    ) -> InvocationResult:
        """Call the capability; ``tool_call_id`` becomes the invocation id, so a repeated delivery runs once.

        Never raises; after the toolset or its registry was disposed the answer is CANCELLED, retry no (TOOLSET-6).
        """
        return await self._run(input, tool_call_id, confirmation_id)

    def to_wire(self) -> dict[str, Any]:
        """``{name, title, description, inputSchema, annotations, state}``."""
        return {**ProjectedTool.to_wire(self), "state": self.state.to_wire()}


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
        topology: str | None = None,
        confirmations: str | None = None,
        presentation: Presentation | None = None,
        mode: str = "direct",
        scope: Sequence[str] | None = None,
        budget: Budget | None = None,
        wait_timeout: float | None = None,
    ) -> None:
        if budget is not None and mode == "direct":
            raise SurfaceDefinitionError("INVALID_DEFINITION", "a budget goes with mode='meta' only (TOOLSET-1)")
        self.consumer = consumer
        self.topology = topology
        self.confirmations = _confirmation_mode(topology, confirmations, wait_timeout)
        self._registry = registry
        self._presentation = Presentation.of(presentation, scope=scope, budget=budget, mode=mode)
        self._wait_timeout = wait_timeout
        self._waits: set[asyncio.Future[str]] = set()
        self._disposed = False
        self._listeners: list[Callable[[], object]] = []
        self._shown: tuple[ProjectedTool, ...] = ()
        self._told: tuple[ProjectedTool, ...] = ()
        self._unsubscribe = registry.subscribe(self._on_event, kinds=["surface-changed"])
        self.tools()
        self._told = self._shown

    @property
    def wire_names(self) -> Mapping[str, str]:
        """Wire name → capability id of the catalog as it is now; authoritative (WIRE-4)."""
        return MappingProxyType({tool.name: tool.capability_id for tool in self.tools()})

    def tools(self) -> list[Tool]:
        """The tools as they are now, unavailable ones included, in the snapshot's order; empty after dispose."""
        if self._disposed or self._registry.disposed:
            return []
        snapshot = self._registry.snapshot(consumer=self.consumer, scope=self._presentation.selection.scope)
        projection = project(snapshot, self._presentation, two_phase=self.confirmations == "two-phase")
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
        for wait in tuple(self._waits):
            wait.cancel()

    def _tool(self, tool: ProjectedTool, version: str) -> Tool:
        async def run(input: Any, tool_call_id: str | None, confirmation_id: str | None) -> InvocationResult:
            return await self._execute(tool, version, input, tool_call_id, confirmation_id)

        facts = {one.name: getattr(tool, one.name) for one in fields(tool)}
        return Tool(**facts, state=ToolState(tool.available, tool.unavailable_reason), _run=run)

    async def _execute(
        self, tool: ProjectedTool, version: str, input: Any, tool_call_id: str | None, confirmation_id: str | None
    ) -> InvocationResult:
        invocation_id = tool_call_id or f"tool_{secrets.token_hex(8)}"

        async def invoke(confirmation_id: str | None) -> InvocationResult:
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

        if self.confirmations == "two-phase" and isinstance(input, Mapping) and CONFIRMATION_PROPERTY in input:
            presented = input[CONFIRMATION_PROPERTY]
            input = {key: value for key, value in input.items() if key != CONFIRMATION_PROPERTY}
            if confirmation_id not in (None, presented):
                return self._error(tool, invocation_id, "INVALID_INPUT", _TWO_IDS)
            confirmation_id = presented
        try:
            if self._disposed:
                raise RegistryDisposed
            result = await invoke(confirmation_id)
            if self.confirmations == "wait" and _asks_here(result):
                id = ((result.error and result.error.details) or {})["confirmationId"]
                return await invoke(id) if await self._answered(id) else result
            return result
        except RegistryDisposed:
            return self._error(tool, invocation_id, "CANCELLED", None, retry="no")

    async def _answered(self, confirmation_id: str) -> bool:
        """Wait for a person, once; False where the time is over or the toolset was disposed (TOOLSET-7)."""
        wait = asyncio.ensure_future(self._registry.confirmations.wait(confirmation_id))

        def give_up() -> None:
            wait.cancel()

        timer = None
        if self._wait_timeout is not None:
            timer = self._registry.clock.call_later(self._wait_timeout, give_up)
        self._waits.add(wait)
        try:
            await asyncio.wait({wait})
            return not wait.cancelled()
        finally:
            wait.cancel()
            self._waits.discard(wait)
            if timer is not None:
                timer.cancel()

    def _error(
        self,
        tool: ProjectedTool,
        invocation_id: str,
        code: str,
        details: Mapping[str, Any] | None,
        *,
        retry: str | None = None,
    ) -> InvocationResult:
        error = InvocationError.of(code, details, retry=retry)
        return InvocationResult("error", invocation_id, tool.capability_id, self._registry.version, error=error)

    def _on_event(self, event: Event) -> None:
        if self._disposed or not self._listeners:
            return
        self.tools()
        told, self._told = self._told, self._shown
        if told == self._shown:
            return
        for listener in tuple(self._listeners):
            try:
                listener()
            except AUTHOR_ERRORS:
                logger.exception("A listener of a toolset failed")


_TWO_IDS = {
    "issues": [{"path": CONFIRMATION_PROPERTY, "message": "differs from the confirmation_id that came with the call"}]
}


def _confirmation_mode(topology: str | None, confirmations: str | None, wait_timeout: float | None) -> str:
    """How confirmations are dealt with: what was said, else what the topology means (TOOLSET-1)."""
    if topology not in (None, "embedded", "remote"):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"topology is embedded or remote, not {topology!r}")
    if confirmations not in (None, "wait", "two-phase"):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"confirmations is wait or two-phase, not {confirmations!r}")
    if topology is None and confirmations is None:
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", "say how this toolset is used: topology='embedded' or 'remote', or confirmations="
        )
    if wait_timeout is not None and not (type(wait_timeout) in (int, float) and wait_timeout > 0):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"wait_timeout is seconds above 0, not {wait_timeout!r}")
    mode = confirmations or ("wait" if topology == "embedded" else "two-phase")
    if topology == "remote" and mode == "wait" and wait_timeout is None:
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", "waiting over a transport needs wait_timeout=, below the transport's own"
        )
    return mode


def _asks_here(result: InvocationResult) -> bool:
    """True if a person in this page is asked; a server's demand is the caller's to bring about."""
    error = result.error
    if error is None or error.code != "CONFIRMATION_REQUIRED":
        return False
    return (error.details or {}).get("origin") == "client"
