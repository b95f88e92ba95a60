"""Confirmation: one approval for exactly one request (core rules §13)."""

from __future__ import annotations

import asyncio

import pytest
from loop import run

from surface import ActionContext, Component, Consumer, Limits, Registry, require_confirmation
from surface.testing import FakeClock

ADA = Consumer("test", "ada")
BOB = Consumer("test", "bob")


class Box:
    """A component with a confirmed action, and what it did."""

    def __init__(self, **options):
        self.done = []
        self.contexts = []
        self.contract = Component("box", description="A box")
        self.allowed = True

        @self.contract.action(
            "Open the box",
            effect="local-state",
            confirmation="required",
            precondition=lambda: self.allowed,
            **options,
        )
        def open(how: str = "gently", *, ctx: ActionContext) -> str:
            self.done.append(how)
            self.contexts.append(ctx)
            return how


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def registration(registry, box):
    return registry.register(box.contract)


def invoke(registry, value=None, **options):
    """Asks on a loop that outlives the call, so that the fake clock's timers can fire."""
    return run(registry.invoke("view:box.open", value, consumer=options.pop("consumer", ADA), **options))


def ask(registry, value=None, **options):
    error = invoke(registry, value, **options).error
    assert error.code == "CONFIRMATION_REQUIRED"
    return error.details["confirmationId"]


def reason(result):
    assert result.error.code == "CONFIRMATION_INVALID"
    return result.error.details["reason"]


def test_confirm_3_a_call_without_approval_asks_and_says_how_to_go_on(registry, registration, box):
    error = invoke(registry, {"how": "now"}).error
    (pending,) = registry.confirmations.pending()
    assert error.retry == "with-confirmation"
    assert error.details == {
        "confirmationId": pending.confirmation_id,
        "summary": 'Open the box — input: {"how":"now"}',
        "expiresAt": "1970-01-01T00:18:40.000Z",
        "effect": "local-state",
        "origin": "client",
    }
    assert (pending.input, pending.consumer, pending.registration_id) == ({"how": "now"}, ADA, registration.id)
    assert box.done == []


def test_confirm_3_an_equal_request_reuses_the_pending_one_silently(registry, registration):
    seen = []
    registry.subscribe(lambda event: seen.append(event.kind), kinds=["confirmation-requested"])
    first, second = ask(registry), ask(registry, {"how": "gently"})  # the default is part of the effective input
    assert (first, len(seen)) == (second, 1)
    assert ask(registry, {"how": "hard"}) != first
    assert ask(registry, consumer=BOB) != first


def test_an_approved_request_runs_once_with_its_evidence(registry, registration, box):
    id = ask(registry)
    assert registry.confirmations.resolve(id, approved=True, actor="ada")
    assert invoke(registry, confirmation_id=id).output == "gently"
    assert (box.contexts[0].confirmation.id, box.contexts[0].confirmation.approved_at) == (id, 1000.0)
    assert reason(invoke(registry, confirmation_id=id)) == "consumed"
    assert box.done == ["gently"]


def test_event_4_a_confirmed_exchange_in_order(registry, registration):
    seen = []
    registry.subscribe(lambda event: seen.append(event.kind))
    id = ask(registry)
    registry.confirmations.resolve(id, approved=True)
    invoke(registry, confirmation_id=id)
    assert seen == [
        "invocation-started",
        "confirmation-requested",
        "invocation-settled",
        "confirmation-resolved",
        "invocation-started",
        "invocation-settled",
    ]


@pytest.mark.parametrize(
    ("value", "options"), [({"how": "hard"}, {}), (None, {"consumer": BOB}), (None, {"instance_id": "other"})]
)
def test_confirm_2_an_approval_is_for_exactly_one_request(registry, registration, box, value, options):
    registry.register(box.contract, instance_id="other")
    id = ask(registry, instance_id="default")
    registry.confirmations.resolve(id, approved=True)
    options = {"instance_id": "default", **options}
    assert reason(invoke(registry, value, confirmation_id=id, **options)) == "mismatch"
    assert invoke(registry, instance_id="default", confirmation_id=id).ok  # the record was not changed


def test_a_pending_id_answers_with_itself_and_an_unknown_one_is_a_mismatch(registry, registration):
    id = ask(registry)
    assert ask(registry, confirmation_id=id) == id
    assert reason(invoke(registry, confirmation_id="cnf_madeup")) == "mismatch"


@pytest.mark.parametrize(("visible", "told"), [(True, "Not today"), (False, None)])
def test_confirm_8_a_denial_answers_and_blocks_no_fresh_request(registry, registration, visible, told):
    id = ask(registry)
    registry.confirmations.resolve(id, approved=False, reason="Not today", agent_visible=visible)
    result = invoke(registry, confirmation_id=id)
    assert (reason(result), result.error.details.get("denialReason")) == ("denied", told)
    assert not registry.confirmations.resolve(id, approved=True)
    assert ask(registry) != id


def test_confirm_7_pending_and_approved_expire_with_event_and_audit(registry, registration, clock, box):
    outcomes = []
    registry.subscribe(lambda event: outcomes.append(event.outcome), kinds=["confirmation-resolved"])
    pending, approved = ask(registry), ask(registry, {"how": "hard"})
    clock.advance_now(60)
    registry.confirmations.resolve(approved, approved=True)
    clock.advance_now(60)
    assert outcomes == ["approved", "expired", "expired"]
    for id, value in ((pending, None), (approved, {"how": "hard"})):
        result = invoke(registry, value, confirmation_id=id)
        assert (reason(result), result.error.retry) == ("expired", "with-confirmation")
    assert box.done == []


def test_confirm_5_a_failed_precondition_leaves_the_evidence_usable(registry, registration, box):
    id = ask(registry)
    registry.confirmations.resolve(id, approved=True)
    box.allowed = False
    assert invoke(registry, confirmation_id=id).error.code == "PRECONDITION_FAILED"
    box.allowed = True
    assert invoke(registry, confirmation_id=id).ok


def test_confirm_3_the_precondition_comes_before_the_question(registry, registration, box):
    box.allowed = False
    assert invoke(registry).error.code == "PRECONDITION_FAILED"
    assert registry.confirmations.pending() == []


def test_confirm_9_an_ended_registration_takes_its_confirmations_along(registry, registration):
    told = []
    registry.subscribe(lambda event: told.append((event.outcome, event.reason)), kinds=["confirmation-resolved"])
    approved, pending = ask(registry), ask(registry, {"how": "hard"})
    registry.confirmations.resolve(approved, approved=True)
    registration.unregister()
    assert told == [("approved", None), ("expired", "component-unmounted"), ("expired", "component-unmounted")]
    assert registry.confirmations.pending() == []
    assert run(registry.confirmations.wait(pending)) == "expired"


def test_confirm_6_of_a_hundred_calls_sharing_an_approval_one_runs(clock):
    contract = Component("box", description="A box")
    ran = []

    @contract.action("Open", effect="local-state", confirmation="required")
    async def open() -> str:
        ran.append(1)
        await asyncio.sleep(0)
        return "open"

    registry = Registry(clock=clock, limits=Limits(action_queue_depth=100))
    registry.register(contract)

    async def story():
        first = await registry.invoke("view:box.open", consumer=ADA)
        id = first.error.details["confirmationId"]
        registry.confirmations.resolve(id, approved=True)
        calls = [registry.invoke("view:box.open", consumer=ADA, confirmation_id=id) for _ in range(100)]
        return await asyncio.gather(*calls)

    results = run(story())
    assert sum(result.ok for result in results) == 1
    assert {result.error.details["reason"] for result in results if not result.ok} == {"consumed"}
    assert len(ran) == 1


def test_a_full_store_says_when_to_come_back(clock, box):
    registry = Registry(clock=clock, limits=Limits(max_pending_confirmations=2))
    registry.register(box.contract)
    for how in ("a", "b"):
        ask(registry, {"how": how})
    error = invoke(registry, {"how": "c"}).error
    assert (error.code, error.details) == ("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 1000})
    ask(registry, {"how": "a"})  # an equal one is still there


def escalated(clock, **options):
    contract = Component("box", description="A box", policies=[require_confirmation(**options)])

    @contract.action("Open the box", effect="local-state")
    def open(how: str = "gently") -> str:
        return how

    registry = Registry(clock=clock)
    registry.register(contract)
    return registry


def test_confirm_1_an_escalation_asks_when_its_predicate_says_so_or_fails(clock):
    registry = escalated(clock, when=lambda ctx: ctx.effective_input["how"] == "hard" or 1 / (len("x") - 1))
    ask(registry, {"how": "hard"})
    ask(registry, {"how": "gently"})  # the predicate raised
    calm = escalated(clock, when=lambda ctx: ctx.effective_input["how"] == "hard")
    assert invoke(calm).ok
    assert invoke(calm, confirmation_id="cnf_whatever").ok  # ignored where none is needed


def test_snap_8_the_descriptor_says_required_or_optional(clock):
    for options, shown in (({}, "required"), ({"when": lambda ctx: False}, "optional")):
        (component,) = escalated(clock, **options).snapshot().components
        assert component.actions[0].confirmation == shown


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        (lambda ctx: f"Open it {ctx.effective_input['how']}?", "Open it gently?"),
        (lambda ctx: 1 / 0, "Open the box"),
        (lambda ctx: "x" * 400, "x" * 299 + "…"),
    ],
)
def test_confirm_4_the_summary_is_the_escalations_cut_to_300(clock, summary, shown):
    registry = escalated(clock, summary=summary)
    ask(registry)
    assert registry.confirmations.pending()[0].summary == shown


def test_confirm_10_waiting_and_listening(registry, registration):
    lists = []
    unsubscribe = registry.confirmations.subscribe(lambda pending: lists.append(len(pending)))

    async def story():
        result = await registry.invoke("view:box.open", consumer=ADA)
        id = result.error.details["confirmationId"]
        waiting = asyncio.ensure_future(registry.confirmations.wait(id))
        await asyncio.sleep(0)
        registry.confirmations.resolve(id, approved=True)
        assert await waiting == "approved"
        await registry.invoke("view:box.open", consumer=ADA, confirmation_id=id)
        return await registry.confirmations.wait(id), await registry.confirmations.wait("cnf_unknown")

    assert run(story()) == ("approved", "expired")
    assert lists[:2] == [1, 0]
    unsubscribe()


def test_confirmation_audit_says_who_and_what(registry, registration):
    id = ask(registry)
    registry.confirmations.resolve(id, approved=True, actor="ada", reason="fine")
    invoke(registry, confirmation_id=id)
    kinds = [one.kind for one in registry.audit.records() if one.kind.startswith("confirmation")]
    assert kinds == ["confirmation-requested", "confirmation-approved", "confirmation-consumed"]
    (approved,) = [one for one in registry.audit.records() if one.kind == "confirmation-approved"]
    assert (approved.fields["actor"], approved.fields["reason"]) == ("ada", "fine")


def test_a_thousand_cycles_keep_memory_bounded(box):
    clock = FakeClock()
    registry = Registry(clock=clock)
    registry.register(box.contract)
    for number in range(1_000):
        id = ask(registry, {"how": str(number)})
        registry.confirmations.resolve(id, approved=number % 2 == 0)
        invoke(registry, {"how": str(number)}, confirmation_id=id)
    store = registry.confirmations
    assert (len(store._open), len(store._resolved)) == (0, 200)
