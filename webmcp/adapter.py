"""The WebMCP adapter: one registry as tools of the browser's own model context.

Source: 03, and core rules §18. Each tool is pinned to the registration it was made for; a change of the surface
touches only the tools that changed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from surface.canonical import NotJSON, canonical_json
from surface.errors import RegistryDisposed, SurfaceDefinitionError
from surface.ids import CONFIRMATION_PROPERTY
from surface.projection.presentation import Presentation
from surface.projection.projector import ProjectedTool, Projection, project
from surface.values import Consumer, InvocationError, InvocationResult
from webmcp.browser import find_model_context
from webmcp.catalog import Expose, curated, difference, dropped_by_budget, without_names
from webmcp.envelope import envelope_text, error_text, output_text
from webmcp.retries import Retries
from webmcp.unavailable import UNAVAILABLE, unavailable_output

if TYPE_CHECKING:
    from surface.facade import Registry
    from surface.registry.events import Event
    from surface.registry.snapshot import Budget, Snapshot
    from surface.values import CancelSignal
    from webmcp.model_context import Handle, ModelContext

logger = logging.getLogger("webmcp")


class WebMCPAdapter:
    """Shows a registry to the agents of a WebMCP browser: one tool per available capability.

    ``scope``, ``budget`` and ``mode`` are short for a ``presentation``. ``expose`` is asked about every capability's
    descriptor: False leaves it out, a dict replaces ``name``, ``title`` or ``description``. ``exposed_to`` lists
    further origins that may see the tools; ``announce_unavailable`` adds a tool that says what is missing and why;
    above ``tool_budget`` tools a warning is logged. ``model_context`` finds what to show the tools to.

    >>> adapter = WebMCPAdapter(registry, scope=["devices"])
    >>> await adapter.start()
    """

    name = "webmcp"
    topology = "remote"

    def __init__(
        self,
        registry: Registry,
        *,
        presentation: Presentation | None = None,
        scope: Sequence[str] | None = None,
        budget: Budget | Mapping[str, Any] | None = None,
        mode: str = "direct",
        exposed_to: Sequence[str] = (),
        expose: Expose | None = None,
        consumer_id: str | None = None,
        tool_budget: int = 40,
        announce_unavailable: bool = False,
        model_context: Callable[[], Awaitable[ModelContext | None]] = find_model_context,
    ) -> None:
        if isinstance(exposed_to, str) or not all(isinstance(origin, str) for origin in exposed_to):
            raise SurfaceDefinitionError("INVALID_DEFINITION", "exposed_to is a list of origins", "exposed_to")
        if type(tool_budget) is not int or tool_budget < 0:
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"tool_budget is a number of tools, not {tool_budget!r}")
        if expose is not None and not callable(expose):
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"expose is a function, not {expose!r}", "expose")
        self.consumer = Consumer("webmcp", consumer_id or f"webmcp_{secrets.token_hex(8)}")
        self._registry = registry
        self._presentation = Presentation.of(presentation, scope=scope, mode=mode, budget=budget)
        self._announces = announce_unavailable or self._presentation.announce_unavailable
        self._exposed_to = tuple(exposed_to)
        self._expose = expose
        self._tool_budget = tool_budget
        self._find = model_context
        self._lock = asyncio.Lock()
        self._context: ModelContext | None = None
        self._unsubscribe: list[Callable[[], None]] = []
        self._shown: dict[str, tuple[ProjectedTool, Handle]] = {}
        self._version = ""
        self._unavailable: dict[str, Any] = {}
        self._told: set[object] = set()
        self._retries = Retries(registry.confirmations.state)

    @property
    def started(self) -> bool:
        """True while the adapter shows tools; False too where the browser has no model context."""
        return self._context is not None

    @property
    def wire_names(self) -> Mapping[str, str]:
        """Tool name → capability id of what is shown now."""
        return {name: tool.capability_id for name, (tool, _) in self._shown.items()}

    async def start(self) -> None:
        """Show the tools and keep them up to date; without a model context nothing happens. Repeatable.

        Raises `SurfaceDefinitionError` where ``expose`` or the presentation gives names that are not unique.
        """
        async with self._lock:
            if self._context is not None:
                return
            self._context = await self._find()
            if self._context is None:
                if self._first_time("absent"):
                    logger.debug("This browser has no model context, so the page's tools are shown to nobody.")
                return
            try:
                self._refresh(strict=True)
            except BaseException:
                self._withdraw()
                raise
            self._unsubscribe = [
                self._registry.subscribe(self._on_event, kinds=["surface-changed"]),
                # The registry itself settles what is running then.
                self._registry.on_dispose(partial(self._withdraw, cancel=False)),
            ]

    async def stop(self) -> None:
        """Take every tool back; calls that are running settle CANCELLED. Repeatable; `start` may follow."""
        async with self._lock:
            self._withdraw()

    def _withdraw(self, *, cancel: bool = True) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe = []
        self._shown.clear()
        context, self._context = self._context, None
        if context is not None:
            context.close(cancel=cancel)

    # Showing.

    def _on_event(self, event: Event) -> None:
        if event.kind == "surface-changed" and self._context is not None:
            self._refresh(strict=False)

    def _refresh(self, *, strict: bool) -> None:
        """Bring what is shown in line with the surface, touching only what differs."""
        context = self._context
        assert context is not None
        snapshot = self._registry.snapshot(consumer=self.consumer, scope=self._presentation.selection.scope)
        snapshot, dropped = self._within_budget(snapshot)
        tools = self._project(snapshot, strict=strict).tools
        wanted = [tool for tool in tools if tool.available]
        if self._announces:
            wanted.append(UNAVAILABLE)
            self._unavailable = unavailable_output(tools, len(dropped))
        changes = difference({name: tool for name, (tool, _) in self._shown.items()}, wanted)
        for name in changes.remove:
            _, handle = self._shown.pop(name)
            context.remove(handle)
        for tool in changes.add:
            call = self._tell_unavailable if tool is UNAVAILABLE else partial(self._call, tool)
            handle = context.register(
                tool.to_wire(), call, exposed_to=self._exposed_to, on_refused=self._report_refusal
            )
            self._shown[tool.name] = (tool, handle)
        self._version = snapshot.surface_version
        self._report_size(len(wanted))

    def _project(self, snapshot: Snapshot, *, strict: bool) -> Projection:
        presentation = self._presentation
        if self._expose is not None:
            presentation = curated(snapshot, presentation, self._expose, strict=strict)
        try:
            return project(snapshot, presentation, two_phase=True)
        except SurfaceDefinitionError as error:
            if strict:
                raise
            if self._first_time(error.message):
                logger.warning("%s; the names of the capabilities are used instead", error.message)
            return project(snapshot, without_names(presentation), two_phase=True)

    def _within_budget(self, everything: Snapshot) -> tuple[Snapshot, Sequence[str]]:
        if self._presentation.budget is None:
            return everything, ()
        budgeted = self._registry.snapshot(
            consumer=self.consumer, scope=self._presentation.selection.scope, budget=self._presentation.budget
        )
        dropped = dropped_by_budget(everything, budgeted)
        if dropped and self._first_time(tuple(dropped)):
            logger.warning("The budget leaves out %s", ", ".join(dropped))
        return budgeted, dropped

    def _report_size(self, count: int) -> None:
        if count <= self._tool_budget:
            self._told.discard("size")
        elif self._first_time("size"):
            logger.warning(
                "%d tools are shown, more than the %d that agents handle well; narrow them by scope=",
                count,
                self._tool_budget,
            )

    def _report_refusal(self, handle: Handle, why: str) -> None:
        # The tool stays in the books as shown, so that a refresh does not try it again before it has changed.
        if self._first_time(("refused", handle.name)):
            logger.warning("The browser refused the tool %s (%s), so it is left out", handle.name, why)

    def _first_time(self, what: object) -> bool:
        if what in self._told:
            return False
        self._told.add(what)
        return True

    # Calls.

    async def _call(self, tool: ProjectedTool, text: str, cancel: CancelSignal) -> str:
        """Answer one external call, whatever happens, with the text of an envelope."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return error_text(_invalid("is no JSON"))

        async def invoke(invocation_id: str | None, confirmation_id: str | None) -> InvocationResult:
            return await self._registry.invoke(
                tool.capability_id,
                value,
                consumer=self.consumer,
                instance_id=tool.instance_id,
                registration_id=tool.registration_id,
                surface_version=self._version,
                invocation_id=invocation_id,
                confirmation_id=confirmation_id,
                cancel=cancel,
            )

        try:
            if CONFIRMATION_PROPERTY not in tool.input_schema["properties"]:
                return envelope_text(await invoke(None, None))
            id = value.pop(CONFIRMATION_PROPERTY, None) if isinstance(value, dict) else None
            if not isinstance(id, str | None):
                return error_text(_invalid("must be text", CONFIRMATION_PROPERTY))
            key = (tool.registration_id, tool.capability_id, canonical_json(value))
            return envelope_text(await self._retries.through(key, id, invoke))
        except NotJSON as problem:
            return error_text(_invalid(f"is no JSON value: {problem}"))
        except RegistryDisposed:
            return error_text(InvocationError.of("CANCELLED", retry="no"))

    async def _tell_unavailable(self, text: str, cancel: CancelSignal) -> str:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return error_text(_invalid("is no JSON"))
        return output_text(self._unavailable) if value in ({}, None) else error_text(_invalid("must be empty"))


async def expose(registry: Registry, **options: Any) -> WebMCPAdapter:
    """Make a `WebMCPAdapter` with these options and start it.

    >>> adapter = await expose(registry, scope=["devices"])
    """
    adapter = WebMCPAdapter(registry, **options)
    await adapter.start()
    return adapter


def _invalid(message: str, path: str = "") -> InvocationError:
    return InvocationError.of("INVALID_INPUT", {"issues": [{"path": path, "message": message}]})
