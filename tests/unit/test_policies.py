"""Policies: discovery, the two onions, time limits, short circuits, and the built-in ones (core rules §12)."""

from __future__ import annotations

import asyncio

import pytest
from loop import run

from surface import (
    Component,
    Consumer,
    InvocationError,
    InvocationResult,
    Policy,
    Registry,
    SurfaceDefinitionError,
    SurfaceError,
    authenticated,
    disable,
    environment,
    expose,
    has_permission,
    hide,
    rate_limit,
    tenant_boundary,
)

ADA = Consumer("test", "ada", grants=("devices.write",))
BOB = Consumer("test", "bob")


def box(*policies, component=()):
    made = Component("box", description="A box", policies=component)

    @made.action("Open", effect="local-state", policies=policies)
    def open(how: str = "gently") -> str:
        return how

    return made


def registry_with(clock, *policies, capability=(), component=(), **options):
    registry = Registry(clock=clock, policies=policies, **options)
    registry.register(box(*capability, component=component), instance_id="main")
    return registry


def invoke(registry, consumer=ADA, **options):
    return run(registry.invoke("view:box.open", consumer=consumer, **options))


class Says(Policy):
    """Answers discovery with what it was made with."""

    def __init__(self, name, decision):
        self.name, self._decision = name, decision

    def on_discovery(self, ctx):
        if isinstance(self._decision, Exception):
            raise self._decision
        return self._decision


class Around(Policy):
    """Notes when it was entered and left, in one or both onions."""

    def __init__(self, name, log):
        self.name, self._log = name, log

    async def on_authorize(self, ctx, call_next):
        self._log.append(f"{self.name} authorize")
        result = await call_next()
        self._log.append(f"{self.name} authorized")
        return result

    async def on_invoke(self, ctx, call_next):
        self._log.append(f"{self.name} invoke {ctx.effective_input} {ctx.invocation_id}")
        return await call_next()


@pytest.mark.parametrize(
    ("decisions", "shown", "reason"),
    [
        ([expose(), expose()], True, None),
        ([disable("later"), disable("never")], True, "later"),
        ([disable("later"), hide()], False, None),
        ([RuntimeError("x")], False, None),
        (["yes"], False, None),
    ],
)
def test_policy_2_the_first_hide_decides_else_the_first_disable(clock, decisions, shown, reason):
    registry = registry_with(clock, *(Says(f"p{number}", one) for number, one in enumerate(decisions)))
    components = registry.snapshot(consumer=ADA).components
    assert bool(components) == shown
    if shown:
        assert components[0].actions[0].unavailable_reason == reason
        code = invoke(registry).error.code if reason else None
        assert code == ("CAPABILITY_NOT_AVAILABLE" if reason else None)


def test_pipe_3_hidden_answers_exactly_as_absent(clock):
    hidden = registry_with(clock, Says("no", hide()))
    empty = Registry(clock=clock)
    registration = next(iter(hidden._store.by_key.values()))
    for options in ({}, {"registration_id": registration.id}, {"instance_id": "main"}):
        here = run(hidden.invoke("view:box.open", consumer=ADA, invocation_id="i", **options))
        there = run(empty.invoke("view:box.open", consumer=ADA, invocation_id="i", **options))
        assert here.error.to_wire() == there.error.to_wire()
    registration.unregister()
    assert invoke(hidden, registration_id=registration.id).error.code == "CAPABILITY_NOT_FOUND"  # VER-5


def test_ver_5_a_capability_this_consumer_never_looked_at_is_not_told_of(clock):
    registry = Registry(clock=clock)
    made = box()

    @made.action("Shut", effect="local-state")
    def shut() -> None: ...

    registration = registry.register(made)
    assert invoke(registry).ok
    registration.unregister()
    assert invoke(registry).error.code == "COMPONENT_UNMOUNTED"
    assert run(registry.invoke("view:box.shut", consumer=ADA)).error.code == "CAPABILITY_NOT_FOUND"


def test_policy_1_registry_component_capability_from_the_outside_in(clock):
    log = []
    registry = registry_with(
        clock, Around("registry", log), component=[Around("component", log)], capability=[Around("capability", log)]
    )
    result = invoke(registry, invocation_id="i1")
    assert (result.ok, result.output) == (True, "gently")
    assert log == [
        "registry authorize",
        "component authorize",
        "capability authorize",
        "registry invoke {'how': 'gently'} i1",
        "component invoke {'how': 'gently'} i1",
        "capability invoke {'how': 'gently'} i1",
        "capability authorized",
        "component authorized",
        "registry authorized",
    ]


class Hook(Policy):
    """Does what the test gives it in `on_authorize`."""

    name = "hook"

    def __init__(self, hook):
        self._hook = hook

    async def on_authorize(self, ctx, call_next):
        return await self._hook(ctx, call_next)


def test_policy_7_a_policy_may_refuse_with_a_code_or_fails_as_a_policy(clock):
    async def refuse(ctx, call_next):
        raise SurfaceError("NOT_AUTHORIZED", "Not you")

    async def crash(ctx, call_next):
        raise RuntimeError("the secret")

    assert invoke(registry_with(clock, Hook(refuse))).error.to_wire() == {
        "code": "NOT_AUTHORIZED",
        "message": "Not you",
        "retry": "no",
        "details": {"origin": "client"},
    }
    error = invoke(registry_with(clock, Hook(crash))).error
    assert (error.code, error.details) == ("EXECUTION_FAILED", {"reason": "policy-error"})


def test_policy_6_a_policy_may_answer_by_itself(clock):
    async def cached(ctx, call_next):
        return InvocationResult("ok", "made up", "made up", "99", output="from the cache", has_output=True)

    async def wrong_code(ctx, call_next):
        return InvocationResult("error", "x", "x", "1", error=InvocationError("MADE_UP", "x", "no"))

    async def nothing(ctx, call_next):
        return None

    registry = registry_with(clock, Hook(cached))
    result = invoke(registry, invocation_id="i1")
    assert (result.output, result.invocation_id, result.surface_version) == ("from the cache", "i1", "1")
    settled = [one.to_wire() for one in registry.audit.records() if one.kind == "invocation-settled"]
    assert settled[0]["shortCircuit"] == "hook"
    for hook in (wrong_code, nothing):
        assert invoke(registry_with(clock, Hook(hook))).error.details == {"reason": "policy-error"}


@pytest.mark.parametrize("after", ["raise", "other result", "hang"])
def test_policy_5_what_call_next_gave_is_final(clock, after):
    async def hook(ctx, call_next):
        result = await call_next()
        if after == "raise":
            raise RuntimeError
        if after == "hang":
            await asyncio.Event().wait()
        return InvocationResult("error", "x", "x", "1") if after == "other result" else result

    registry = registry_with(clock, Hook(hook))

    async def story():
        result = await registry.invoke("view:box.open", consumer=ADA)
        await clock.advance(5)
        return result

    assert run(story()).output == "gently"
    assert [one.fields["policy"] for one in registry.audit.records() if one.kind == "policy-error"] == ["hook"]


def test_policy_5_a_second_call_next_raises_in_the_policy(clock):
    raised = []

    async def hook(ctx, call_next):
        result = await call_next()
        try:
            await call_next()
        except RuntimeError as error:
            raised.append(str(error))
        return result

    assert invoke(registry_with(clock, Hook(hook))).ok
    assert raised == ["call_next() was called twice"]


def test_policy_4_a_hook_that_hangs_before_it_goes_on_times_out_and_nothing_runs(clock):
    told = []

    async def hook(ctx, call_next):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    registry = registry_with(clock, Hook(hook))

    async def story():
        call = asyncio.ensure_future(registry.invoke("view:box.open", consumer=ADA))
        await clock.advance(4.9)
        assert not call.done()
        await clock.advance(0.1)
        return await call

    error = run(story()).error
    assert (error.code, error.retry, error.details["phase"], told) == ("TIMEOUT", "yes", "policy", ["cancelled"])


def test_policy_4_time_inside_call_next_does_not_count(clock):
    made = Component("box", description="A box")
    gate = None

    @made.action("Open", effect="local-state")
    async def open() -> str:
        await gate.wait()
        return "open"

    async def hook(ctx, call_next):
        return await call_next()

    registry = Registry(clock=clock, policies=[Hook(hook)])
    registry.register(made)

    async def story():
        nonlocal gate
        gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke("view:box.open"))
        await clock.advance(8)
        gate.set()
        return await call

    assert run(story()).output == "open"


def test_an_unmount_settles_a_call_that_a_policy_holds(clock):
    async def hook(ctx, call_next):
        await asyncio.Event().wait()

    registry = Registry(clock=clock, policies=[Hook(hook)])
    registration = registry.register(box())

    async def story():
        call = asyncio.ensure_future(registry.invoke("view:box.open"))
        await clock.advance(0)
        registration.unregister()
        return await call

    error = run(story()).error
    assert (error.code, error.details) == ("COMPONENT_UNMOUNTED", {"phase": "policy"})


def test_a_policy_that_goes_on_never_touches_the_event_loop(clock):
    registry = registry_with(clock, Around("a", []), Around("b", []))

    async def story():
        with pytest.raises(StopIteration) as stop:
            registry.invoke("view:box.open", consumer=ADA).send(None)
        assert stop.value.value.ok

    run(story())


@pytest.mark.parametrize("policy", ["authenticated", object(), Policy()])
def test_what_is_no_policy_is_refused(clock, policy):
    with pytest.raises(SurfaceDefinitionError):
        Registry(clock=clock, policies=[policy])
    with pytest.raises(SurfaceDefinitionError):
        Registry(clock=clock).register(box(policy))


def test_authenticated_hides_or_says_so(clock):
    host = {}
    registry = registry_with(clock, authenticated(), context=lambda: host)
    assert registry.snapshot(consumer=ADA).components == ()
    host["user"] = "ada"
    assert invoke(registry).ok
    open_door = registry_with(clock, authenticated(hide=False))
    assert len(open_door.snapshot(consumer=ADA).components) == 1
    assert invoke(open_door).error.to_wire()["details"] == {"origin": "client"}
    assert invoke(open_door).error.code == "NOT_AUTHENTICATED"


def test_has_permission_never_tells_the_name(clock):
    registry = registry_with(clock, has_permission("devices.write"))
    assert invoke(registry).ok
    assert invoke(registry, consumer=BOB).error.code == "CAPABILITY_NOT_FOUND"
    said = registry_with(clock, has_permission("devices.write", hide=False))
    result = invoke(said, consumer=BOB)
    assert result.error.code == "NOT_AUTHORIZED"
    assert "devices.write" not in str(result.to_wire())
    asked = registry_with(clock, has_permission("x", check=lambda ctx: ctx.consumer.id == "bob"))
    assert invoke(asked, consumer=BOB).ok


@pytest.mark.parametrize(
    ("here", "wanted", "shown"), [("a", "a", True), ("a", "b", False), (None, None, False), (None, "a", False)]
)
def test_tenant_boundary_needs_two_equal_and_defined_sides(clock, here, wanted, shown):
    policy = tenant_boundary(current=lambda ctx: here, expected=lambda ctx: wanted)
    assert bool(registry_with(clock, policy).snapshot(consumer=ADA).components) == shown


def test_environment_hides_elsewhere(clock):
    assert registry_with(clock, environment(["production"])).snapshot().components
    assert not registry_with(clock, environment(["staging"])).snapshot().components
    assert registry_with(clock, environment(["staging"]), environment="staging").snapshot().components


def test_rate_limit_is_a_bucket_per_consumer_and_capability(clock):
    registry = registry_with(clock, rate_limit(2, window=10.0))
    assert [invoke(registry).ok for _ in range(3)] == [True, True, False]
    error = invoke(registry).error
    assert (error.code, error.details) == ("RATE_LIMITED", {"reason": "rate", "retryAfterMs": 5000})
    assert invoke(registry, consumer=BOB).ok
    clock.advance_now(5.0)
    assert [invoke(registry).ok for _ in range(2)] == [True, False]


def test_rate_limit_does_not_count_replays(clock):
    registry = registry_with(clock, rate_limit(1, window=10.0))
    assert invoke(registry, invocation_id="i1").ok
    assert invoke(registry, invocation_id="i1").ok
    assert not invoke(registry).ok


@pytest.mark.parametrize(("limit", "window"), [(0, 1), (True, 1), (1, 0), (1, True), (1, float("inf")), ("1", 1)])
def test_rate_limit_out_of_shape_is_refused(limit, window):
    with pytest.raises(SurfaceDefinitionError):
        rate_limit(limit, window)
