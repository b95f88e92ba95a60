"""What a policy is: up to three hooks around discovery and calls, in a chain from the registry to the capability.

Source: core rules §12 (POLICY-1 to POLICY-7), PIPE-12.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from surface.contract.effects import AuditLevel
from surface.errors import AUTHOR_ERRORS, SurfaceDefinitionError
from surface.governance.audit import Sink
from surface.values import Consumer, InvocationResult

CallNext = Callable[[], Awaitable[InvocationResult]]


class Decision(NamedTuple):
    """What a discovery hook answers; make one with `expose`, `disable` or `hide`."""

    outcome: str
    reason: str | None = None


EXPOSE = Decision("expose")
HIDE = Decision("hide")


def expose() -> Decision:
    """The consumer may see and use the capability, as far as this policy goes."""
    return EXPOSE


def disable(reason: str) -> Decision:
    """The consumer sees the capability and hears why it cannot be used."""
    if not isinstance(reason, str) or not reason:
        raise SurfaceDefinitionError("INVALID_DEFINITION", "disable() needs a reason that a reader understands")
    return Decision("disable", reason)


def hide() -> Decision:
    """For this consumer the capability does not exist."""
    return HIDE


class Meta(NamedTuple):
    """The ``meta`` of the component (empty for a reference) and of the capability."""

    component: Mapping[str, Any]
    capability: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """What `Policy.on_discovery` and `Policy.on_authorize` may know of a capability and who asks for it.

    ``host`` is the mapping that the registry's ``context`` gave; ``now()`` is the registry's clock in epoch seconds.
    """

    capability_id: str
    plane: str
    kind: str
    effect: str
    registration_id: str
    consumer: Consumer
    host: Mapping[str, Any]
    meta: Meta
    internal: Any
    environment: str
    now: Callable[[], float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class InvokeContext(PolicyContext):
    """What `Policy.on_invoke` may know besides: which call this is, and what will be executed."""

    invocation_id: str
    effective_input: Any


class Policy:
    """Base of policies; override any of the hooks and leave the others.

    Registry policies are asked first, then the component's, then the capability's. Nothing a policy does can show
    what another one hides.
    """

    name: str = ""

    def on_discovery(self, ctx: PolicyContext) -> Decision:
        """Decide what the consumer may see; synchronous. Raising hides (POLICY-2)."""
        raise NotImplementedError

    async def on_authorize(self, ctx: PolicyContext, call_next: CallNext) -> InvocationResult:
        """Decide whether the call may go on, before its input is looked at; `call_next` runs phases 5 to 10."""
        raise NotImplementedError

    async def on_invoke(self, ctx: InvokeContext, call_next: CallNext) -> InvocationResult:
        """Decide with the effective input at hand; `call_next` runs phases 7 to 10."""
        raise NotImplementedError

    @property
    def phases(self) -> tuple[str, ...]:
        """Which hooks this policy has: of discovery, authorize, invoke, confirmation."""
        found = tuple(phase for phase, hook in _HOOKS.items() if has_hook(self, hook))
        return (*found, "confirmation") if isinstance(self, Escalation) else found


class Escalation(Policy):
    """A policy that raises the confirmation of some calls to required (CONFIRM-1)."""

    conditional: bool = False

    def escalates(self, ctx: InvokeContext) -> bool:
        """True if this call needs a person's approval; raising counts as true."""
        raise NotImplementedError

    def summary(self, ctx: InvokeContext) -> str | None:
        """What the person is asked, or None for the usual words."""
        return None


class AuditPolicy(Policy):
    """A policy that records started and settled calls in a sink of its own."""

    def __init__(self, name: str, sink: Sink, level: AuditLevel) -> None:
        self.name, self.sink, self.level = name, sink, level


_HOOKS = {"discovery": "on_discovery", "authorize": "on_authorize", "invoke": "on_invoke"}


def has_hook(policy: Policy, hook: str) -> bool:
    """True if a policy defines this hook itself."""
    own = getattr(policy, hook)
    return getattr(own, "__func__", own) is not getattr(Policy, hook)


class Chain(NamedTuple):
    """The policies of one capability, outermost first, by what they take part in."""

    every: tuple[tuple[str, Policy], ...]  # (level, policy)
    discovery: tuple[Policy, ...]
    authorize: tuple[Policy, ...]
    invoke: tuple[Policy, ...]
    escalations: tuple[Escalation, ...]
    audits: tuple[AuditPolicy, ...]


NO_POLICIES = Chain((), (), (), (), (), ())


def chain_of(registry: Iterable[Policy], component: Iterable[Policy], capability: Iterable[Policy]) -> Chain:
    """The chain of one capability: registry (outermost), owning component, capability (POLICY-1)."""
    every = tuple(
        (level, policy)
        for level, policies in (("registry", registry), ("component", component), ("capability", capability))
        for policy in policies
    )
    if not every:
        return NO_POLICIES
    policies = [policy for _, policy in every]
    return Chain(
        every,
        discovery=tuple(policy for policy in policies if has_hook(policy, "on_discovery")),
        authorize=tuple(policy for policy in policies if has_hook(policy, "on_authorize")),
        invoke=tuple(policy for policy in policies if has_hook(policy, "on_invoke")),
        escalations=tuple(policy for policy in policies if isinstance(policy, Escalation)),
        audits=tuple(policy for policy in policies if isinstance(policy, AuditPolicy)),
    )


def check_policies(policies: Iterable[Any], path: str) -> tuple[Policy, ...]:
    """The policies if each is a `Policy` with a name, else INVALID_DEFINITION."""
    checked = tuple(policies)
    for policy in checked:
        if not isinstance(policy, Policy):
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", f"a policy is an instance of a subclass of Policy, not {policy!r}", path
            )
        if not isinstance(policy.name, str) or not policy.name:
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"{type(policy).__name__} needs a name", path)
    return checked


def discover(chain: Chain, ctx: Callable[[], PolicyContext]) -> Decision:
    """What the chain lets this consumer see: the first hide decides, else the first disable, else expose; a hook that
    raises, or answers something else, hides (POLICY-2)."""
    if not chain.discovery:
        return EXPOSE
    context = ctx()
    decided = EXPOSE
    for policy in chain.discovery:
        decision = vote(policy, context)
        if decision.outcome == "hide":
            return HIDE
        if decision.outcome == "disable" and decided is EXPOSE:
            decided = decision
    return decided


def vote(policy: Policy, ctx: PolicyContext) -> Decision:
    """One policy's own decision; `HIDE` where its hook fails."""
    try:
        decision = policy.on_discovery(ctx)
    except AUTHOR_ERRORS:
        return HIDE
    return decision if isinstance(decision, Decision) else HIDE
