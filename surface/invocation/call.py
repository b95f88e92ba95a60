"""One invocation on its way through the phases: what was asked, what is known so far, how it ended."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from surface.invocation.failures import Refused, Settled
from surface.invocation.records import record_late, record_settled
from surface.registry.availability import availability_of
from surface.registry.events import InvocationSettled, InvocationStarted
from surface.values import CancelSignal, ConfirmationEvidence, Consumer, InvocationError, InvocationResult, Progress

if TYPE_CHECKING:
    from surface.clock import Clock
    from surface.contract.capability import Capability
    from surface.governance.confirmation import Confirmations
    from surface.governance.policy import Escalation
    from surface.invocation.admission import Admission
    from surface.invocation.identity import Identities
    from surface.invocation.start import Started
    from surface.limits import Limits
    from surface.registry.discovery import Viewer
    from surface.registry.events import EventHub
    from surface.registry.registration import Registration
    from surface.registry.store import Store


# Capability id, instance id and the canonical JSON of the input: equal exactly if the requests are (IDENT-2).
Fingerprint = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True)
class Core:
    """The parts of one registry that the phases work with."""

    store: Store
    events: EventHub
    clock: Clock
    limits: Limits
    identities: Identities
    admission: Admission
    confirmations: Confirmations
    viewer: Callable[[Consumer], Viewer]


class Request(NamedTuple):
    """What a caller gave to `Registry.invoke`, as it came."""

    capability_id: Any
    input: Any
    consumer: Any
    instance_id: Any
    registration_id: Any
    surface_version: Any
    invocation_id: Any
    confirmation_id: Any
    cancel: Any
    timeout: Any


class Call:
    """A call in flight. ``phase`` is what errors name it: resolve, policy, queued or mid-flight (PIPE-9).

    The first settlement stands (CONC-8). A phase that waits does so in `until`, from which `wake` or a
    settlement brings it back.
    """

    # What most calls never change stands on the class, so that making a call stays cheap.
    fingerprint: Fingerprint = ("", None, "")
    phase = "resolve"
    registration: Registration = None  # type: ignore[assignment]  # set by resolution
    capability: Capability = None  # type: ignore[assignment]  # set by resolution
    accepted: Any = None  # the input that passed its schema
    arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    progress: Progress | None = None
    signal: CancelSignal | None = None
    task: Started[Any] | None = None
    uninterruptible = False
    result: InvocationResult | None = None
    release: Callable[[], None] | None = None
    _begun = False
    _forget_cancel: Callable[[], None] | None = None
    _followers: list[asyncio.Future[InvocationResult]] | None = None
    _waiters: tuple[asyncio.Future[None], ...] = ()
    short_circuit: str | None = None
    binding: str | None = None  # what evidence must be bound to; None where no approval is needed
    escalations: tuple[Escalation, ...] = ()
    has_evidence = False
    confirmation: ConfirmationEvidence | None = None
    queued_at: float | None = None
    dispatched_at: float | None = None

    def __init__(self, core: Core, request: Request, consumer: Consumer, invocation_id: str) -> None:
        self.core = core
        self.request = request
        self.consumer = consumer
        self.capability_id: str = request.capability_id if isinstance(request.capability_id, str) else ""
        self.invocation_id = invocation_id
        self.started_at = core.clock.now()
        self.began_version = core.store.version
        self.viewer = core.viewer(consumer)
        self.disabled: dict[str, str | None] = {}
        self.layers: list[Callable[[], None]] = []

    # What a waiting phase does.

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait until `ready`, looking again at every `wake`; raises `Settled` if the call was settled meanwhile."""
        while not ready():
            if self.result is not None:
                raise Settled
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters = (*self._waiters, waiter)
            try:
                await waiter
            finally:
                self._waiters = tuple(one for one in self._waiters if one is not waiter)
        if self.result is not None:
            raise Settled

    def wake(self, _: object = None) -> None:
        """Let every phase that waits look again."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def followed(self) -> InvocationResult:
        """Wait for the result of a call that is in flight for somebody else (a join, IDENT-3)."""
        if self.result is not None:
            return copy_of(self.result)
        follower: asyncio.Future[InvocationResult] = asyncio.get_running_loop().create_future()
        self._followers = [*(self._followers or ()), follower]
        return copy_of(await follower)

    # How a call ends.

    def begin(self) -> None:
        """Tell, once, that the invocation started."""
        if self._begun:
            return
        self._begun = True
        if self.core.events.hears("invocation-started"):
            self.core.events.emit(
                InvocationStarted(self.invocation_id, self.capability_id, self.consumer.kind, self.consumer.id)
            )

    def heed_cancellation(self) -> None:
        """Let the caller's signal cancel this call; raises `Settled` if it did already."""
        cancel: CancelSignal | None = self.request.cancel
        if cancel is not None:
            self._forget_cancel = cancel.on_cancel(lambda: self.cancelled(cancel.reason))
            if self.result is not None:
                raise Settled

    def done(self) -> None:
        """The pipeline has left the call; a slot stays with a handler that still runs."""
        if self._forget_cancel is not None:
            self._forget_cancel()
        if self.task is None or self.task.done():
            self.free_slot()

    def settle(
        self, *, error: InvocationError | None = None, output: Any = None, has_output: bool = False
    ) -> InvocationResult:
        """Phase 10's last step: the result, kept for its identity, told, and handed to whoever joined."""
        if self.result is not None:
            return self.result
        store = self.core.store
        self.result = InvocationResult(
            "ok" if error is None else "error",
            self.invocation_id,
            self.capability_id,
            str(store.version),
            store.version != self.began_version,
            output,
            has_output,
            error,
        )
        self.core.identities.settled(self, dispatched=self.phase == "mid-flight")
        if self.registration is not None:
            self.registration.calls.discard(self)
        for follower in self._followers or ():
            if not follower.done():
                follower.set_result(self.result)
        if self.core.events.hears("invocation-settled"):
            duration = (self.core.clock.now() - self.started_at) * 1000
            self.core.events.emit(
                InvocationSettled(
                    self.invocation_id, self.capability_id, self.result.status, error.code if error else None, duration
                )
            )
        record_settled(self)
        self.wake()
        return self.result

    def fail(self, refused: Refused, reason: str) -> None:
        """Settle from outside a phase; stops the handler, saying ``reason`` through its signal, and wakes the phase."""
        if self.result is not None or (self.task is not None and self.task.done()):
            return
        self.settle(error=refused.error)
        self.stop_handler(reason)
        for end in self.layers:
            end()

    def stop_handler(self, reason: str) -> None:
        """Tell a running handler to end; it keeps its slot until it has, or until the grace is over (CONC-4)."""
        if self.signal is not None:
            self.signal.cancel(reason)
        task = self.task
        if task is None or task.done():
            return
        task.cancel()
        grace = self.core.clock.call_later(self.core.limits.handler_grace, self._abandon)
        task.add_done_callback(lambda _: grace.cancel())

    def _abandon(self) -> None:
        self.free_slot()
        record_late(self, "handler-abandoned")

    def free_slot(self, _: object = None) -> None:
        """Give back the slot, once."""
        release, self.release = self.release, None
        if release is not None:
            release()

    def effective_input(self) -> Any:
        """The JSON input after published defaults: what is shown, digested and audited (INPUT-3a)."""
        return None if self.accepted is None else self.capability.input.with_defaults(self.accepted)

    def progress_details(self) -> dict[str, Any]:
        """``phase``, and the progress that a handler reported, for the details of an interruption (PIPE-11)."""
        details: dict[str, Any] = {"phase": self.phase}
        if self.phase == "mid-flight" and self.progress is not None:
            details["progress"] = self.progress.to_wire()
        return details

    # What the outside may do to a call (`surface.registry.registration.InFlight`).

    def unmounted(self) -> None:
        """The registration ended (CONC-9): a running navigation goes on; a synchronous handler cannot be stopped."""
        navigating = self.phase == "mid-flight" and self.capability.effect == "navigation"
        if not navigating and not self.uninterruptible:
            self.fail(Refused("COMPONENT_UNMOUNTED", self.progress_details()), "component-unmounted")

    def cancelled(self, reason: str | None = None, *, retry: str | None = None) -> None:
        """The caller gave up."""
        if not self.uninterruptible:
            self.fail(Refused("CANCELLED", self.progress_details(), retry=retry), reason or "cancelled")

    def disposed(self) -> None:
        """The registry is gone (LIFE-10)."""
        self.cancelled("registry-disposed", retry="no")

    def availability_changed(self) -> None:
        """A call that still waits for a slot answers at once when its capability was switched off (CONC-6)."""
        if self.phase == "queued":
            state = availability_of(self.registration, self.capability)
            if not state.available:
                self.fail(Refused("CAPABILITY_NOT_AVAILABLE", {"reason": state.reason}), "unavailable")


def copy_of(result: InvocationResult) -> InvocationResult:
    """The same result for another caller, so that what one of them does to its output is nobody else's (IDENT-3)."""
    return replace(result, output=copy.deepcopy(result.output)) if type(result.output) in (dict, list) else result
