"""The Python side of the DOM bridge: components whose state and commands live in the page's JavaScript.

    @component("devices.table", description="Devices that match the active filters")
    class DevicesTable(DomComponent):
        @observation("Visible rows and selection")
        def read_state(self) -> TableState:
            return self.dom.state()

        @action("Select rows", effect="local-state")
        async def select_rows(self, ids: list[str]) -> None:
            await self.dom.command("selectRows", ids=ids)

    dom.attach(registry, DevicesTable)

Contracts declared like this can be read, tested and put in a manifest outside a page.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from surface.contract.component import contract_of
from surface.errors import SurfaceDefinitionError, SurfaceError
from surface.registry.events import InvocationSettled, InvocationStarted
from webmcp.dom_bridge import Bridge, BridgeListener, PageBridge

if TYPE_CHECKING:
    from surface.facade import Registry
    from surface.registry.events import Event
    from surface.registry.registration import Registration

logger = logging.getLogger("webmcp")

Availability = Mapping[str, bool | str | None]


class CommandFailed(Exception):
    """A command threw something that is meant for nobody but the page's author; the console has it."""


class Mount:
    """What the page has mounted for one component instance: ``self.dom`` of a `DomComponent`."""

    def __init__(self, dom: Dom, number: int, type: str, instance: str) -> None:
        self.type = type
        self.instance = instance
        self._dom = dom
        self._number = number

    def __repr__(self) -> str:
        return f"<Mount {self.type}#{self.instance}>"

    def state(self) -> Any:
        """What the page's ``state()`` gives now, as Python JSON values.

        Within one invocation it is read once, so that everything in one answer belongs together, and anew after a
        command of that invocation. Raises `CommandFailed` where the page has no state to give.
        """
        memo = _memo.get()
        if memo is None or memo.over:
            return self._dom.read_state(self._number, self.type)
        if self._number not in memo.states:
            memo.states[self._number] = self._dom.read_state(self._number, self.type)
        return memo.states[self._number]

    async def command(self, name: str, /, **arguments: Any) -> Any:
        """Run one of the page's ``commands`` with these arguments; gives what it answers, None for nothing.

        A command that throws ``agentSurface.Failure`` raises the `SurfaceError` it means, any other that throws
        `CommandFailed`. Cancelling the call aborts the signal that the command was given.
        """
        try:
            return await self._dom.run_command(self._number, name, arguments)
        finally:
            memo = _memo.get()
            if memo is not None:
                memo.states.pop(self._number, None)


class DomComponent:
    """Base of components that the page's JavaScript mounts; made without arguments, once per mount.

    ``self.dom`` is there before ``__init__`` runs.
    """

    dom: Mount

    # Outside a page the class is only read; what needs a page says so.
    def __getattr__(self, name: str) -> Any:
        if name == "dom":
            raise RuntimeError(f"{type(self).__name__} was not mounted by a page, so it has no dom")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@dataclass(slots=True)
class _Mounted:
    handle: Mount
    availability: Availability
    registration: Registration | None = None


@dataclass(frozen=True, slots=True)
class _Attached:
    registry: Registry
    cls: type[DomComponent]
    names: frozenset[str]


@dataclass(slots=True)
class _Memo:
    """The states that one invocation has read; good until it settles. ``outer`` is that of the invocation around it."""

    outer: _Memo | None
    states: dict[int, Any] = field(default_factory=dict)
    over: bool = False


_memo: ContextVar[_Memo | None] = ContextVar("webmcp_dom_states", default=None)


class Dom:
    """The mounts of one page and the classes that stand for them. A page has one: `dom`.

    ``connect(listener)`` gives the JavaScript side; it is called at the first `attach`.
    """

    def __init__(self, connect: Callable[[BridgeListener], Bridge]) -> None:
        self._connect = connect
        self._bridge: Bridge | None = None
        self._mounts: dict[int, _Mounted] = {}
        self._attached: dict[str, _Attached] = {}
        self._commands: dict[int, asyncio.Future[str]] = {}
        self._calls = count(1)
        self._followed: dict[int, tuple[Callable[[], None], ...]] = {}

    def attach(self, registry: Registry, cls: type[DomComponent]) -> Callable[[], None]:
        """Register an instance of ``cls`` whenever the page mounts its type, and unregister it on unmount.

        What is mounted already is registered at once, in the order of mounting. Attaching another class for the same
        type (hot reload) takes over. Returns the removal. Raises `SurfaceDefinitionError` for a class that is no
        `DomComponent`, and RuntimeError where no page is there.
        """
        contract = contract_of(cls)
        if not (isinstance(cls, type) and issubclass(cls, DomComponent)):
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"{cls!r} is no subclass of DomComponent", contract.type)
        attached = _Attached(registry, cls, frozenset(capability.name for capability in contract.capabilities))
        self._attached[contract.type] = attached
        self._follow(registry)
        if self._bridge is None:
            self._open()
        else:
            for mounted in self._of(contract.type):
                self._register(mounted)

        def detach() -> None:
            if self._attached.get(contract.type) is attached:
                del self._attached[contract.type]
                for mounted in self._of(contract.type):
                    self._unregister(mounted)

        return detach

    def _open(self) -> None:
        try:
            self._bridge = self._connect(self)
        except BaseException:
            self.release()
            raise
        self._bridge.open()

    def unattached(self) -> list[str]:
        """The types that the page has mounted and no class stands for; usually a misspelt name."""
        return sorted({one.handle.type for one in self._mounts.values()} - self._attached.keys())

    def release(self) -> None:
        """Let go of the page: every class is detached. A later `attach` connects anew."""
        for mounted in self._mounts.values():
            self._unregister(mounted)
        for removals in self._followed.values():
            for remove in removals:
                remove()
        self._attached.clear()
        self._mounts.clear()
        self._followed.clear()
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            bridge.release()

    # What mounts ask for.

    def read_state(self, mount: int, type: str) -> Any:
        """The state of a mount; `CommandFailed` where there is none."""
        text = self._bridge.state(mount) if self._bridge is not None else ""
        if not text:
            raise CommandFailed(f"{type} has no state to read: it is gone, has no state(), or state() failed")
        return json.loads(text)

    async def run_command(self, mount: int, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a command of a mount; see `Mount.command`."""
        text = json.dumps(arguments, ensure_ascii=False, default=_jsonable)
        bridge, call = self._bridge, next(self._calls)
        if bridge is None:
            raise CommandFailed("the page was let go of")
        outcome = bridge.command(call, mount, name, text)
        if not outcome:
            waiting = self._commands[call] = asyncio.get_running_loop().create_future()
            try:
                outcome = await waiting
            except asyncio.CancelledError:
                bridge.cancel_command(call)
                raise
            finally:
                del self._commands[call]
        return _output(json.loads(outcome))

    # What JavaScript calls.

    def mounted(self, mount: int, type: str, instance: str, availability: str) -> None:
        """`BridgeListener.mounted`."""
        mounted = _Mounted(Mount(self, mount, type, instance), json.loads(availability))
        self._mounts[mount] = mounted
        self._register(mounted)

    def unmounted(self, mount: int) -> None:
        """`BridgeListener.unmounted`."""
        mounted = self._mounts.pop(mount, None)
        if mounted is None:
            return
        self._unregister(mounted)
        # A page may mount the new one before it unmounts the old one, as frameworks do; its turn is now.
        for successor in self._of(mounted.handle.type):
            if successor.handle.instance == mounted.handle.instance and _refused(successor.registration):
                self._register(successor)
                return

    def changed(self, mount: int, availability: str) -> None:
        """`BridgeListener.changed`."""
        mounted = self._mounts.get(mount)
        if mounted is None:
            return
        mounted.availability = json.loads(availability)
        if mounted.registration is not None:
            self._push_availability(mounted, mounted.registration)
            if mounted.registration.has_live_functions:
                mounted.registration.invalidate()

    def command_done(self, call: int, outcome: str) -> None:
        """`BridgeListener.command_done`."""
        waiting = self._commands.get(call)
        if waiting is not None and not waiting.done():
            waiting.set_result(outcome)

    # Registrations.

    def _of(self, type: str) -> list[_Mounted]:
        return [one for one in self._mounts.values() if one.handle.type == type]

    def _register(self, mounted: _Mounted) -> None:
        attached = self._attached.get(mounted.handle.type)
        if attached is None:
            return
        before, mounted.registration = mounted.registration, None
        try:
            component = attached.cls.__new__(attached.cls)
            component.dom = mounted.handle
            component.__init__()  # type: ignore[misc]
            if before is not None:
                before.unregister()
            mounted.registration = attached.registry.register(component, instance_id=mounted.handle.instance)
        except Exception:
            logger.exception("%r was mounted and could not be registered", mounted.handle)
            return
        self._push_availability(mounted, mounted.registration)

    def _unregister(self, mounted: _Mounted) -> None:
        registration, mounted.registration = mounted.registration, None
        if registration is not None:
            registration.unregister()

    def _push_availability(self, mounted: _Mounted, registration: Registration) -> None:
        names = self._attached[mounted.handle.type].names
        unknown = sorted(mounted.availability.keys() - names)
        if unknown:
            known = ", ".join(sorted(names)) or "none"
            logger.warning("%r: available has %s; the capabilities are %s", mounted.handle, unknown[0], known)
        overrides = {name: _override(value) for name, value in mounted.availability.items() if name in names}
        registration.update(availability=overrides)

    # Invocations, for `Mount.state`.

    def _follow(self, registry: Registry) -> None:
        if id(registry) in self._followed:
            return
        running: dict[tuple[str, str], _Memo] = {}

        def on_event(event: Event) -> None:
            # Told synchronously, so that a start is told in the very context that the handler will run in.
            if isinstance(event, InvocationStarted):
                memo = _Memo(_memo.get())
                running[(event.invocation_id, event.capability_id)] = memo
                _memo.set(memo)
            elif isinstance(event, InvocationSettled):
                settled = running.pop((event.invocation_id, event.capability_id), None)
                if settled is not None:
                    settled.over = True
                    if _memo.get() is settled:
                        _memo.set(settled.outer)

        def forget() -> None:
            del self._followed[id(registry)]
            for type in [type for type, attached in self._attached.items() if attached.registry is registry]:
                del self._attached[type]
                for mounted in self._of(type):
                    mounted.registration = None

        kinds = (InvocationStarted.kind, InvocationSettled.kind)
        self._followed[id(registry)] = (registry.subscribe(on_event, kinds=kinds), registry.on_dispose(forget))


def _refused(registration: Registration | None) -> bool:
    return registration is None or registration.status == "rejected"


def _override(value: bool | str | None) -> Any:
    if isinstance(value, str):
        return (False, value)
    if value is None:
        return (False, "when-error")
    return None if value else False


def _output(outcome: Mapping[str, Any]) -> Any:
    if "output" in outcome:
        return outcome["output"]
    failure = outcome.get("failure")
    if failure is None:
        raise CommandFailed(outcome["broken"])
    raise SurfaceError(failure.get("code"), failure.get("message"), details=failure.get("details"))


def _jsonable(value: object) -> Any:
    return to_jsonable_python(value, by_alias=True)


dom = Dom(PageBridge)
