"""The registry that a page holds: it puts the rooms together and keeps the order in which they are asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surface.clock import Clock, SystemClock, iso
from surface.contract.component import Component, contract_of
from surface.errors import AUTHOR_ERRORS, RegistryDisposed, SurfaceDefinitionError
from surface.governance.audit import AuditLog, Auditor, Sink
from surface.governance.confirmation import Confirmation, Confirmations
from surface.governance.policy import Policy, check_policies
from surface.ids import DEFAULT_INSTANCE, new_surface_id
from surface.invocation.admission import Admission
from surface.invocation.call import Core, Request
from surface.invocation.identity import Identities
from surface.invocation.pipeline import invoke
from surface.limits import Limits
from surface.registry.discovery import Viewer
from surface.registry.events import ComponentRejected, ConfirmationRequested, ConfirmationResolved, EventHub, Listener
from surface.registry.registration import Registration
from surface.registry.snapshot import Budget, Snapshot
from surface.registry.store import Store
from surface.registry.structure import checked_capabilities, checked_options
from surface.values import ANONYMOUS, CancelSignal, Consumer, InvocationResult

logger = logging.getLogger("surface")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the guard ``on_register`` is asked about."""

    contract: Component
    instance_id: str
    origin: str
    component: object


class Registry:
    """The capabilities of one page: who offers them, who may see them, and every call of them.

    ``context`` gives the host context (a mapping) anew for each invocation; ``on_register(candidate)`` may turn a
    component away; ``on_duplicate_instance`` is ``reject`` or ``replace``; ``route`` gives the page's route as text.
    A registry belongs to one thread and one event loop; everything but `invoke` works without a running loop.

    >>> registry = Registry()
    >>> table = registry.register(DevicesTable(page), instance_id="main")
    >>> result = await registry.invoke("view:devices.table.readState")
    """

    def __init__(
        self,
        *,
        environment: str = "production",
        context: Callable[[], Mapping[str, Any]] | None = None,
        policies: Iterable[Policy] = (),
        audit: Sink | None = None,
        on_register: Callable[[Candidate], object] | None = None,
        on_duplicate_instance: str = "reject",
        route: Callable[[], str | None] | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
    ) -> None:
        if on_duplicate_instance not in ("reject", "replace"):
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", f"on_duplicate_instance is reject or replace, not {on_duplicate_instance!r}"
            )
        self.environment = environment
        self.limits = limits or Limits()
        self.clock = clock or SystemClock()
        self._guard = on_register
        self._replaces = on_duplicate_instance == "replace"
        self._route = route
        self._events = EventHub()
        self._context = context
        self.audit = AuditLog()
        auditor = Auditor(
            (self.audit,) if audit is None else (self.audit, audit), self.clock, self.limits.max_audit_payload_bytes
        )
        self._store = Store(
            new_surface_id(),
            self._events,
            self.clock,
            self.limits,
            check_policies(policies, "registry"),
            auditor,
        )
        self.confirmations = Confirmations(self.clock, self.limits, auditor, self._tell_confirmation)
        self._store.withdraw = self.confirmations.withdraw
        self._identities = Identities(self.clock, self.limits)
        self._core = Core(
            self._store,
            self._events,
            self.clock,
            self.limits,
            self._identities,
            Admission(self.limits),
            self.confirmations,
            self._viewer,
        )
        self._on_dispose: list[Callable[[], None]] = []
        self._disposed = False

    def __repr__(self) -> str:
        return f"<Registry {self.surface_id} version {self.version}, {len(self._store.by_key)} registrations>"

    @property
    def surface_id(self) -> str:
        """The opaque id of this surface, ``srf_…``."""
        return self._store.surface_id

    @property
    def version(self) -> str:
        """The surface version, decimal text that only rises (VER-1)."""
        return str(self._store.version)

    @property
    def disposed(self) -> bool:
        """True once `dispose` was called."""
        return self._disposed

    def register(
        self,
        component: object,
        *,
        instance_id: str = DEFAULT_INSTANCE,
        parent: tuple[str, str] | None = None,
        internal: Any = None,
        origin: str = "first-party",
        priority: int = 0,
        enabled: bool = True,
        policies: Iterable[Policy] = (),
    ) -> Registration:
        """Put a component instance (or a `Component` of plain functions) on the surface.

        A guard's no and a duplicate give a dead `Registration` (status ``rejected``) and an event; a malformed
        contract or option raises `SurfaceDefinitionError`. Nothing that is rejected displaces what lives (LIFE-1).
        """
        self._check_alive()
        contract = contract_of(component)
        options = {
            "instance_id": instance_id,
            "parent": parent,
            "internal": internal,
            "origin": origin,
            "priority": priority,
            "enabled": enabled,
        }
        options = checked_options(options, contract.type)
        capabilities = checked_capabilities(contract, self.limits)
        more = check_policies(policies, contract.type)
        newcomer = Registration(self._store, contract, capabilities, component, policies=more, **options)
        if not self._welcome(Candidate(contract, instance_id, origin, component)):
            return self._rejected(newcomer, "guard")
        self._check_alive()  # the guard is the author's: it may have done anything
        incumbent = self._store.by_key.get(newcomer.key)
        if incumbent is not None:
            if not (self._replaces or _reloaded(incumbent.contract, contract)):
                return self._rejected(newcomer, "duplicate")
            incumbent.unregister()
            self._check_alive()
            if newcomer.key in self._store.by_key:  # a listener was faster
                return self._rejected(newcomer, "duplicate")
        self._store.go_live(newcomer)
        return newcomer

    def snapshot(
        self,
        *,
        consumer: Consumer = ANONYMOUS,
        scope: Sequence[str] = (),
        include_unavailable: bool = True,
        budget: Budget | Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """Capture what ``consumer`` may see now; ``scope`` lists type prefixes, empty for all (SNAP-3)."""
        self._check_alive()
        return self._store.snapshot(
            self._viewer(consumer), scope, Budget.of(budget), include_unavailable, self._current_route()
        )

    async def invoke(
        self,
        capability_id: str,
        input: Any = None,
        *,
        consumer: Consumer | None = None,
        instance_id: str | None = None,
        registration_id: str | None = None,
        surface_version: str | None = None,
        invocation_id: str | None = None,
        confirmation_id: str | None = None,
        cancel: CancelSignal | None = None,
        timeout: float | None = None,
    ) -> InvocationResult:
        """Use a capability; every failure is in the result, typed (core rules §8).

        ``input`` is a JSON value; ``timeout`` in seconds overrides the capability's; ``cancel`` cancels this call,
        as does cancelling the awaiting task. Raises only `RegistryDisposed`.
        """
        self._check_alive()
        request = Request(
            capability_id,
            input,
            consumer,
            instance_id,
            registration_id,
            surface_version,
            invocation_id,
            confirmation_id,
            cancel,
            timeout,
        )
        return await invoke(self._core, request)

    def refresh(self) -> None:
        """Look again at what availability functions and discovery policies say, and announce a surface change if
        somebody's view could differ (EVENT-3). Call it when state that they read has changed."""
        self._check_alive()
        self._store.refresh(self._viewer)

    def subscribe(self, callback: Listener, *, kinds: Collection[str] = ()) -> Callable[[], None]:
        """Be told of events (core rules §16), of all or of some kinds such as ``surface-changed``; returns the removal.

        A listener that names its kinds costs calls nothing.
        """
        return self._events.subscribe(callback, kinds)

    def on_dispose(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be called, synchronously, as the first step of `dispose`; returns the removal."""
        self._on_dispose.append(callback)

        def remove() -> None:
            if callback in self._on_dispose:
                self._on_dispose.remove(callback)

        return remove

    def dispose(self) -> None:
        """End the surface: calls settle CANCELLED, listeners go, later use raises `RegistryDisposed` (LIFE-10)."""
        if self._disposed:
            return
        callbacks, self._on_dispose = self._on_dispose, []
        for callback in callbacks:
            try:
                callback()
            except AUTHOR_ERRORS:
                logger.exception("An on_dispose callback failed")
        self._disposed = True
        for call in self._identities.in_flight():
            call.disposed()
        self._store.clear()
        self.confirmations.expire_all()
        self._identities.clear()
        self._events.close()

    def _tell_confirmation(self, confirmation: Confirmation, outcome: str, reason: str | None) -> None:
        id = confirmation.confirmation_id
        if outcome == "requested":
            self._events.emit(ConfirmationRequested(id, confirmation.capability_id, iso(confirmation.expires_at)))
        else:
            self._events.emit(ConfirmationResolved(id, outcome, reason))

    def _viewer(self, consumer: Consumer) -> Viewer:
        return Viewer(consumer, self.environment, self._host, self.clock.now)

    def _host(self) -> Mapping[str, Any]:
        """The host context; a provider that raises gives an empty one (PIPE-4)."""
        if self._context is None:
            return {}
        try:
            return self._context()
        except AUTHOR_ERRORS:
            logger.exception("The registry's context provider failed")
            return {}

    def _check_alive(self) -> None:
        if self._disposed:
            raise RegistryDisposed

    def _welcome(self, candidate: Candidate) -> bool:
        if self._guard is None:
            return True
        try:
            return bool(self._guard(candidate))
        except AUTHOR_ERRORS:
            logger.exception("on_register failed, so %s was turned away", candidate.contract.type)
            return False

    def _rejected(self, newcomer: Registration, reason: str) -> Registration:
        self._events.emit(ComponentRejected(newcomer.contract.type, newcomer.instance_id, reason))
        fields = {"componentType": newcomer.contract.type, "instanceId": newcomer.instance_id, "reason": reason}
        self._store.audit.write("registration-rejected", fields)
        logger.warning("%s#%s was turned away: %s", newcomer.contract.type, newcomer.instance_id, reason)
        return newcomer

    def _current_route(self) -> str | None:
        if self._route is None:
            return None
        try:
            return self._route()
        except AUTHOR_ERRORS:
            logger.exception("The route provider failed")
            return None


def _reloaded(before: Component, now: Component) -> bool:
    """True if a class was declared again, as an app module that ran twice does (LIFE-9a)."""
    return before is not now and bool(now.declaration) and before.declaration == now.declaration
