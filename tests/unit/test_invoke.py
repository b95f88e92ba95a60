"""The pipeline from the outside: what a caller gets from `Registry.invoke`."""

from __future__ import annotations

import asyncio

import pytest
from devices import DevicesTable
from loop import run

from surface import (
    ActionContext,
    CancelSignal,
    Component,
    Consumer,
    Limits,
    Registry,
    RegistryDisposed,
    Schema,
    SurfaceError,
)
from surface.testing import FakeClock

READ = "view:devices.table.readState"
SELECT = "view:devices.table.selectRows"
HOLD = "view:devices.table.hold"


@pytest.fixture
def table(registry: Registry) -> DevicesTable:
    component = DevicesTable()
    registry.register(component, instance_id="main")
    return component


def test_an_observation_returns_its_output_by_alias(registry, table):
    result = run(registry.invoke(READ))
    assert result.ok
    assert result.output == {"visibleRows": ["d1", "d2"], "selectedIds": []}
    assert result.to_wire() == {
        "status": "ok",
        "invocationId": result.invocation_id,
        "capabilityId": READ,
        "surfaceVersion": "1",
        "output": {"visibleRows": ["d1", "d2"], "selectedIds": []},
    }


def test_an_action_gets_parsed_arguments_and_its_context(registry, table):
    result = run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="call-1"))
    assert (result.ok, result.output, result.has_output) == (True, None, False)
    assert table.selected == ["d1"]
    ctx = table.contexts[-1]
    assert (ctx.invocation_id, ctx.capability_id) == ("call-1", SELECT)
    assert ctx.signal.cancelled is False


def test_host_context_is_computed_once_per_invocation(clock):
    calls = []
    registry = Registry(clock=clock, context=lambda: calls.append(1) or {"user": "ada"})
    table = DevicesTable()
    registry.register(table)
    run(registry.invoke(READ))
    assert (calls, table.contexts[0].host) == ([1], {"user": "ada"})


def test_pipe_4_a_raising_context_provider_gives_an_empty_one(clock):
    def broken():
        raise RuntimeError

    registry = Registry(clock=clock, context=broken)
    table = DevicesTable()
    registry.register(table)
    assert run(registry.invoke(READ)).ok
    assert table.contexts[0].host == {}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"ids": ["d1"], "extra": 1}, "extra"),
        ({"ids": "d1"}, "ids"),
        ({"ids": []}, "ids"),
        ({"ids": ["d1", 2]}, "ids[1]"),
        ({"ids": ["d1"], "mode": "toggle"}, "mode"),
        ({}, "ids"),
        (None, "ids"),
        ([], ""),
        ("text", ""),
    ],
)
def test_input_2_a_wrong_input_names_the_field(registry, table, value, path):
    result = run(registry.invoke(SELECT, value))
    assert (result.error.code, result.error.retry) == ("INVALID_INPUT", "with-changes")
    assert [issue["path"] for issue in result.error.details["issues"]] == [path]
    assert table.selected == []


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, {"a": object()}, "\ud800", ("tuple",)])
def test_pipe_2_what_is_no_json_is_invalid_input(registry, table, value):
    result = run(registry.invoke(SELECT, value))
    assert result.error.code == "INVALID_INPUT"
    assert "no JSON value" in result.error.details["issues"][0]["message"]


def test_pipe_2_an_input_over_the_limit_says_how_large_it_is(registry, table):
    result = run(registry.invoke(SELECT, {"ids": ["x" * 65_536]}))
    assert "65548 bytes" in result.error.details["issues"][0]["message"]
    assert run(registry.invoke(SELECT, {"ids": ["x" * (65_536 - 12)]})).error.code == "PRECONDITION_FAILED"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"instance_id": 1}, "instanceId"),
        ({"registration_id": b"r"}, "registrationId"),
        ({"surface_version": 1}, "surfaceVersion"),
        ({"invocation_id": ""}, "invocationId"),
        ({"confirmation_id": []}, "confirmationId"),
        ({"consumer": "me"}, "consumer"),
        ({"timeout": 0}, "timeoutMs"),
        ({"timeout": True}, "timeoutMs"),
        ({"cancel": object()}, "cancel"),
    ],
)
def test_pipe_2_a_field_of_the_wrong_type_is_named(registry, table, options, path):
    result = run(registry.invoke(READ, **options))
    assert result.error.code == "INVALID_INPUT"
    assert result.error.details["issues"][0]["path"] == path


@pytest.mark.parametrize("capability_id", ["view:devices.table.nothing", "nonsense", "", "domain:devices.x"])
def test_pipe_2_an_unknown_id_is_not_found(registry, table, capability_id):
    error = run(registry.invoke(capability_id)).error
    assert (error.code, error.retry, error.details) == ("CAPABILITY_NOT_FOUND", "after-refresh", None)


def test_unavailable_answers_its_reason(registry, table):
    table.loaded = False
    error = run(registry.invoke(SELECT, {"ids": ["d1"]})).error
    assert (error.code, error.details) == ("CAPABILITY_NOT_AVAILABLE", {"reason": "Rows are still loading"})


def test_pipe_8_a_typed_failure_reaches_the_agent(registry, table):
    error = run(registry.invoke(SELECT, {"ids": ["d9"]})).error
    assert (error.code, error.message) == ("PRECONDITION_FAILED", "These rows are not visible")
    assert (error.retry, error.details) == ("with-changes", {"unknown": ["d9"]})


def test_pipe_7_an_unexpected_failure_tells_nothing(registry, table, caplog):
    result = run(registry.invoke("view:devices.table.fail", {"how": "secret"}))
    assert (result.error.code, result.error.details) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert "hunter2" not in str(result.to_wire())
    assert "hunter2" in caplog.text  # the page's author sees it


FAILURES = {
    "unknown code": SurfaceError("MADE_UP", "x"),
    "conflict": SurfaceError("INVOCATION_CONFLICT", "x"),
    "long message": SurfaceError("NOT_AUTHORIZED", "x" * 301),
    "details": SurfaceError("NOT_AUTHORIZED", "x", details={"a": object()}),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_pipe_8_anything_else_becomes_handler_error(registry, failure):
    box = Component("box", description="A box")

    @box.action("Open it", effect="local-state")
    def open_it() -> None:
        raise failure

    registry.register(box)
    assert run(registry.invoke("view:box.openIt")).error.details == {"reason": "handler-error"}


def test_pipe_8_missing_details_are_filled_in_and_a_wrong_retry_is_the_catalogues(registry):
    box = Component("box", description="A box")

    @box.action("Open it", effect="local-state")
    def open_it() -> None:
        raise SurfaceError("RATE_LIMITED", "Slow down", retry="never")

    registry.register(box)
    error = run(registry.invoke("view:box.openIt")).error
    assert (error.retry, error.details) == ("after-delay", {"reason": "rate", "retryAfterMs": 1000})


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (object(), "output-invalid"),
        ({1: 2}, "output-invalid"),
        (float("inf"), "output-invalid"),
        ("x" * 32_767, "output-too-large"),
    ],
)
def test_out_3_what_cannot_be_delivered_is_refused(registry, returned, reason):
    box = Component("box", description="A box")

    @box.action("Open it", effect="local-state")
    def open_it():
        return returned

    registry.register(box)
    assert run(registry.invoke("view:box.openIt")).error.details["reason"] == reason


def test_out_2_a_declared_output_is_checked(registry):
    box = Component("box", description="A box")

    @box.observation("How many")
    def count() -> int:
        return "three"

    registry.register(box)
    assert run(registry.invoke("view:box.count")).error.details["reason"] == "output-invalid"


def test_a_delivered_output_does_not_change_with_the_handlers_state(registry):
    box = Component("box", description="A box")
    live = {"n": 1}

    @box.action("Open it", effect="local-state")
    def open_it():
        return live

    registry.register(box)
    result = run(registry.invoke("view:box.openIt"))
    live["n"] = 2
    assert result.output == {"n": 1}


def test_conc_7_a_handler_that_overruns_is_timed_out_and_cancelled(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke(HOLD))
        await clock.advance(2.9)
        assert not call.done()
        await clock.advance(0.1)
        return await call

    error = run(story()).error
    assert (error.code, error.retry) == ("TIMEOUT", "no")
    assert error.details == {
        "timeoutMs": 3000,
        "idempotent": False,
        "phase": "mid-flight",
        "progress": {"done": 1, "total": 2, "note": "half"},
    }
    assert table.log == ["start one", "cancelled one: timeout"]
    assert table.running == 0


def test_conc_7_the_argument_wins_over_the_capabilitys_timeout(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke(HOLD, timeout=0.5))
        await clock.advance(0.5)
        return await call

    assert run(story()).error.details["timeoutMs"] == 500


def test_the_callers_signal_cancels_a_running_handler(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        cancel = CancelSignal()
        call = asyncio.ensure_future(registry.invoke(HOLD, cancel=cancel))
        await clock.advance(0)
        cancel.cancel("user left")
        await clock.advance(0)
        return await call

    error = run(story()).error
    assert (error.code, error.retry, error.details["phase"]) == ("CANCELLED", "yes", "mid-flight")
    assert table.log[-1] == "cancelled one: user left"


def test_a_signal_that_is_cancelled_already_stops_the_call_before_the_handler(registry, table):
    cancel = CancelSignal()
    cancel.cancel()
    error = run(registry.invoke(SELECT, {"ids": ["d1"]}, cancel=cancel)).error
    assert (error.code, error.details["phase"], table.selected) == ("CANCELLED", "policy", [])


def test_pipe_1_cancelling_the_awaiting_task_settles_the_call_and_propagates(registry, clock, table):
    settled = []
    registry.subscribe(lambda event: settled.append(event) if event.kind == "invocation-settled" else None)

    async def story():
        table.gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke(HOLD))
        await clock.advance(0)
        call.cancel()
        await clock.advance(0)
        assert call.cancelled()

    run(story())
    assert [event.code for event in settled] == ["CANCELLED"]
    assert table.running == 0


def test_conc_9_unregistering_settles_a_running_call(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke(HOLD))
        await clock.advance(0)
        registration = registry.snapshot().components[0].registration_id
        assert registration
        registry_of(registry).unregister()
        await clock.advance(0)
        return await call

    error = run(story()).error
    assert (error.code, error.details["phase"]) == ("COMPONENT_UNMOUNTED", "mid-flight")
    assert table.log[-1] == "cancelled one: component-unmounted"


def registry_of(registry):
    (registration,) = registry._store.by_key.values()
    return registration


def test_a_handler_that_unregisters_its_own_component_settles_once(registry, clock):
    box = Component("box", description="A box")
    settled = []
    registry.subscribe(lambda event: settled.append(event) if event.kind == "invocation-settled" else None)

    @box.action("Wait, then close", effect="local-state")
    async def close_later() -> str:
        registration.unregister()
        await asyncio.sleep(0)
        return "late"

    @box.action("Close", effect="local-state")
    def close() -> str:
        registration.unregister()
        return "closed"

    @box.action("Leave", effect="navigation")
    async def leave() -> str:
        registration.unregister()
        await asyncio.sleep(0)
        return "left"

    registration = registry.register(box)
    assert run(registry.invoke("view:box.closeLater")).error.code == "COMPONENT_UNMOUNTED"
    registration = registry.register(box)
    assert run(registry.invoke("view:box.close")).output == "closed"  # CONC-5: its own outcome settles it
    registration = registry.register(box)
    assert run(registry.invoke("view:box.leave")).output == "left"  # CONC-9: a navigation goes on
    assert [event.status for event in settled] == ["error", "ok", "ok"]


def test_conc_2_calls_of_one_instance_run_one_after_another_and_queue_two(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        calls = [asyncio.ensure_future(registry.invoke(HOLD, {"label": label})) for label in "abcd"]
        await clock.advance(0)
        assert table.log == ["start a"]
        table.gate.set()
        return await asyncio.gather(*calls)

    results = run(story())
    assert [result.output for result in results[:3]] == ["a", "b", "c"]
    error = results[3].error
    assert (error.code, error.details) == ("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 250})
    assert table.log == ["start a", "start b", "start c"]


def test_conc_6_a_queued_call_answers_when_it_is_switched_off_and_never_starts(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        first = asyncio.ensure_future(registry.invoke(HOLD, {"label": "a"}))
        second = asyncio.ensure_future(registry.invoke(HOLD, {"label": "b"}))
        await clock.advance(0)
        registry_of(registry).update(availability={"hold": (False, "Busy")})
        table.gate.set()
        return await first, await second

    first, second = run(story())
    assert first.output == "a"
    assert (second.error.code, second.error.details) == ("CAPABILITY_NOT_AVAILABLE", {"reason": "Busy"})
    assert table.log == ["start a"]


def test_conc_6_a_queued_call_gives_up_after_the_queue_timeout(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        first = asyncio.ensure_future(registry.invoke(HOLD, {"label": "a"}, timeout=100))
        second = asyncio.ensure_future(registry.invoke(HOLD, {"label": "b"}))
        await clock.advance(30)
        result = await second
        table.gate.set()
        await first
        return result

    assert run(story()).error.details == {"reason": "queue-full", "retryAfterMs": 250}


def test_conc_4_a_handler_that_ignores_cancellation_keeps_its_slot_until_the_grace_is_over(registry, clock):
    box = Component("box", description="A box")
    stop = None

    @box.action("Be stubborn", effect="local-state", timeout=1.0)
    async def stubborn() -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                continue

    @box.action("Be quick", effect="local-state")
    async def quick() -> str:
        return "quick"

    registry.register(box)

    async def story():
        nonlocal stop
        stop = asyncio.Event()
        first = asyncio.ensure_future(registry.invoke("view:box.stubborn"))
        await clock.advance(1.0)
        assert (await first).error.code == "TIMEOUT"
        second = asyncio.ensure_future(registry.invoke("view:box.quick"))
        await clock.advance(4.9)
        assert not second.done()
        await clock.advance(0.1)
        result = await second
        stop.set()
        await clock.advance(0)
        return result

    assert run(story()).output == "quick"


def test_conc_3_observations_run_eight_at_once_per_consumer(clock):
    registry = Registry(clock=clock)
    box = Component("box", description="A box")
    running = []
    gate = None

    @box.observation("Look")
    async def look() -> int:
        running.append(1)
        await gate.wait()
        return len(running)

    registry.register(box)

    async def story():
        nonlocal gate
        gate = asyncio.Event()
        me, other = Consumer("test", "me"), Consumer("test", "other")
        mine = [asyncio.ensure_future(registry.invoke("view:box.look", consumer=me)) for _ in range(17)]
        await clock.advance(0)
        assert len(running) == 8
        theirs = asyncio.ensure_future(registry.invoke("view:box.look", consumer=other))
        await clock.advance(0)
        assert len(running) == 9
        gate.set()
        return await asyncio.gather(*mine), await theirs

    mine, theirs = run(story())
    assert [result.ok for result in mine] == [True] * 16 + [False]
    assert mine[-1].error.details["reason"] == "queue-full"
    assert theirs.ok


def test_ident_3_an_equal_call_in_flight_is_joined_and_a_settled_one_replayed(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        calls = [asyncio.ensure_future(registry.invoke(HOLD, {"label": "a"}, invocation_id="i1")) for _ in range(3)]
        await clock.advance(0)
        table.gate.set()
        results = await asyncio.gather(*calls)
        return [*results, await registry.invoke(HOLD, {"label": "a"}, invocation_id="i1")]

    results = run(story())
    assert all(result == results[0] for result in results)
    assert table.log == ["start a"]


def test_ident_3_a_different_request_under_the_same_id_is_a_conflict(registry, table):
    first = run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1"))
    conflict = run(registry.invoke(SELECT, {"ids": ["d2"]}, invocation_id="i1"))
    assert conflict.error.code == "INVOCATION_CONFLICT"
    assert run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1")) == first
    assert table.selected == ["d1"]


def test_ident_1_another_consumer_has_its_own_ids(registry, table):
    run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1", consumer=Consumer("a", "b:c")))
    second = run(registry.invoke(SELECT, {"ids": ["d2"]}, invocation_id="i1", consumer=Consumer("a:b", "c")))
    assert second.ok


def test_ident_4_an_error_before_dispatch_is_not_cached_but_reserves_the_id(registry, table):
    table.loaded = False
    assert not run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1")).ok
    table.loaded = True
    assert run(registry.invoke(SELECT, {"ids": ["d2"]}, invocation_id="i1")).error.code == "INVOCATION_CONFLICT"
    assert run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1")).ok


def test_ident_5_results_live_600_seconds_and_200_at_most(clock):
    registry = Registry(clock=clock, limits=Limits(dedupe_cache_size=2))
    table = DevicesTable()
    registry.register(table)

    async def reads(invocation_id):
        """How many times the handler ran for this call."""
        before = len(table.contexts)
        assert (await registry.invoke(READ, invocation_id=invocation_id)).ok
        return len(table.contexts) - before

    async def story():
        assert [await reads("i1"), await reads("i2")] == [1, 1]
        assert await reads("i1") == 0  # used again, so i2 is the one to go
        assert await reads("i3") == 1
        assert await reads("i2") == 1
        assert await reads("i3") == 0
        clock.advance_now(600)
        assert await reads("i3") == 1

    run(story())


def test_ver_2_several_instances_must_be_told_apart(registry):
    left, right = (registry.register(DevicesTable(), instance_id=name) for name in ("right", "left"))
    error = run(registry.invoke(READ)).error
    assert error.code == "AMBIGUOUS_INSTANCE"
    assert [one["instanceId"] for one in error.details["instances"]] == ["left", "right"]
    assert run(registry.invoke(READ, instance_id="left")).ok
    assert run(registry.invoke(READ, registration_id=left.id)).ok
    assert right.id != left.id


def test_ver_2_a_replaced_registration_is_stale_and_names_the_live_one(registry, table):
    old = registry_of(registry)
    run(registry.invoke(READ))
    old.unregister()
    new = registry.register(DevicesTable(), instance_id="main")
    error = run(registry.invoke(READ, registration_id=old.id)).error
    assert error.code == "STALE_CAPABILITY"
    assert error.details == {"reason": "registration-replaced", "liveRegistrationId": new.id}
    unknown = run(registry.invoke(READ, registration_id="reg_000000000000")).error
    assert unknown.details["reason"] == "surface-reloaded"


def test_ver_5_an_ended_registration_is_remembered_for_those_who_saw_it(registry, clock, table):
    seen, stranger = Consumer("test", "seen"), Consumer("test", "stranger")
    registry.snapshot(consumer=seen)
    old = registry_of(registry)
    old.unregister()
    assert run(registry.invoke(READ, consumer=seen)).error.code == "COMPONENT_UNMOUNTED"
    assert run(registry.invoke(READ, consumer=stranger)).error.code == "CAPABILITY_NOT_FOUND"
    assert run(registry.invoke(READ, consumer=stranger, registration_id=old.id)).error.code == "COMPONENT_UNMOUNTED"
    clock.advance_now(300)
    assert run(registry.invoke(READ, consumer=seen)).error.code == "CAPABILITY_NOT_FOUND"


def test_ver_3_the_result_tells_that_the_surface_moved(registry):
    box = Component("box", description="A box")

    @box.action("Change", effect="local-state")
    def change() -> None:
        registration.invalidate()

    registration = registry.register(box)
    result = run(registry.invoke("view:box.change"))
    assert (result.surface_version, result.surface_changed) == ("2", True)


def test_pipe_5_one_started_and_one_settled_event_per_invocation(registry, clock, table):
    events = []
    registry.subscribe(lambda event: events.append(event.to_wire()))
    run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1"))
    run(registry.invoke(SELECT, {"ids": ["d1"]}, invocation_id="i1"))  # replayed: no event
    run(registry.invoke("nonsense", invocation_id="i2"))
    assert events == [
        {
            "kind": "invocation-started",
            "invocationId": "i1",
            "capabilityId": SELECT,
            "consumerKind": "embedded",
            "consumerId": "anonymous",
        },
        {
            "kind": "invocation-settled",
            "invocationId": "i1",
            "capabilityId": SELECT,
            "status": "ok",
            "durationMs": 0.0,
        },
        {
            "kind": "invocation-started",
            "invocationId": "i2",
            "capabilityId": "nonsense",
            "consumerKind": "embedded",
            "consumerId": "anonymous",
        },
        {
            "kind": "invocation-settled",
            "invocationId": "i2",
            "capabilityId": "nonsense",
            "status": "error",
            "code": "CAPABILITY_NOT_FOUND",
            "durationMs": 0.0,
        },
    ]


def test_life_10_dispose_settles_running_calls_and_later_use_raises(registry, clock, table):
    async def story():
        table.gate = asyncio.Event()
        call = asyncio.ensure_future(registry.invoke(HOLD))
        await clock.advance(0)
        registry.dispose()
        await clock.advance(0)
        result = await call
        with pytest.raises(RegistryDisposed):
            await registry.invoke(READ)
        return result

    error = run(story()).error
    assert (error.code, error.retry) == ("CANCELLED", "no")
    assert table.running == 0
    with pytest.raises(RegistryDisposed):
        registry.snapshot()
    with pytest.raises(RegistryDisposed):
        registry.register(DevicesTable())


def test_a_call_that_never_waits_never_touches_the_event_loop(registry, table):
    async def story():
        for coroutine in (registry.invoke(SELECT, {"ids": ["d1"]}), registry.invoke(READ)):
            with pytest.raises(StopIteration) as stop:
                coroutine.send(None)
            assert stop.value.value.ok

    run(story())


def test_input_7_preconditions_pass_or_say_why(registry):
    box = Component("box", description="A box")
    answers = iter([None, True, False, "Not on Sundays", 5])

    @box.action("Open it", effect="local-state", precondition=lambda how: next(answers))
    def open_it(how: str = "gently") -> None: ...

    registry.register(box)
    results = [run(registry.invoke("view:box.openIt")) for _ in range(5)]
    assert [result.ok for result in results] == [True, True, False, False, False]
    assert results[3].error.message == "Not on Sundays"
    assert results[4].error.details == {"reason": "handler-error"}


def test_system_clock_times_out_for_real():
    registry = Registry()
    table = DevicesTable()
    registry.register(table)

    async def story():
        table.gate = asyncio.Event()
        return await registry.invoke(HOLD, timeout=0.02)

    assert run(story()).error.code == "TIMEOUT"


def test_a_fake_clock_keeps_its_time():
    clock = FakeClock(5.0)
    clock.advance_now(1.5)
    assert clock.now() == 6.5


# What authors' code may do to a call, and what a caller may send: the call settles all the same.


def boxed(registry, function, name="open", **options):
    box = Component("box", description="A box")
    box.action("Open", effect="local-state", name=name, **options)(function)
    return registry.register(box)


class Custom(BaseException):
    pass


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), Custom(), asyncio.CancelledError()])
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_pipe_1_a_handler_that_ends_with_anything_settles_its_call_and_joiners(registry, error, waits, kind):
    async def late():
        if waits:
            await asyncio.sleep(0)
        raise error

    def at_once():
        raise error

    boxed(registry, late if kind == "async" else at_once)

    async def story():
        calls = [registry.invoke("view:box.open", invocation_id="i1") for _ in range(2)]
        return await asyncio.wait_for(asyncio.gather(*calls), 5)

    codes = {result.error.code for result in run(story())}
    assert codes == {"CANCELLED" if isinstance(error, asyncio.CancelledError) else "EXECUTION_FAILED"}
    assert registry._identities.in_flight() == []


@pytest.mark.parametrize(
    "failure",
    [
        SurfaceError(["X"], "m"),
        SurfaceError("RATE_LIMITED", ["m"]),
        SurfaceError("NOT_AUTHORIZED", "bad \ud800"),
    ],
)
def test_pipe_8_a_malformed_failure_is_a_handler_error(registry, failure):
    def open_it():
        raise failure

    boxed(registry, open_it)
    assert run(registry.invoke("view:box.open")).error.details == {"reason": "handler-error"}


def test_details_that_are_no_mapping_are_a_handler_error(registry):
    def open_it():
        failure = SurfaceError("RATE_LIMITED", "m")
        failure.details = [1]
        raise failure

    boxed(registry, open_it)
    assert run(registry.invoke("view:box.open")).error.details == {"reason": "handler-error"}


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"timeout": 10**400}, "timeoutMs"),
        ({"consumer": Consumer([], {})}, "consumer"),
        ({"invocation_id": "\ud800"}, "invocationId"),
        ({"instance_id": "a\udfff"}, "instanceId"),
    ],
)
def test_pipe_2_what_could_not_be_kept_or_sent_is_named(registry, table, options, path):
    assert run(registry.invoke(READ, **options)).error.details["issues"][0]["path"] == path


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_pipe_1_a_cancellation_in_the_turn_the_handler_ends_settles_joiners(registry, turns):
    fired = None

    async def wait():
        return await fired

    boxed(registry, wait)

    async def story():
        nonlocal fired
        fired = asyncio.get_running_loop().create_future()
        lead = asyncio.ensure_future(registry.invoke("view:box.open", invocation_id="i1"))
        await asyncio.sleep(0)
        join = asyncio.ensure_future(registry.invoke("view:box.open", invocation_id="i1"))
        await asyncio.sleep(0)
        fired.set_result("done")
        for _ in range(turns):
            await asyncio.sleep(0)
        lead.cancel()
        await asyncio.sleep(0)
        return await asyncio.wait_for(join, 5)

    assert run(story()).error is None or turns == 0
    assert registry._identities.in_flight() == []


def test_pipe_5_a_cancelled_joiner_tells_nothing(registry, clock, table):
    settled = []
    registry.subscribe(settled.append, kinds=["invocation-settled"])

    async def story():
        table.gate = asyncio.Event()
        lead = asyncio.ensure_future(registry.invoke(HOLD, invocation_id="i1"))
        await clock.advance(0)
        join = asyncio.ensure_future(registry.invoke(HOLD, invocation_id="i1"))
        await clock.advance(0)
        join.cancel()
        await clock.advance(0)
        assert settled == []
        table.gate.set()
        return await lead

    assert run(story()).ok
    assert len(settled) == 1


def test_a_failing_signal_callback_stops_no_time_out_and_no_unmount(registry, clock):
    ended = []

    async def wait(*, ctx: ActionContext):
        ctx.signal.on_cancel(lambda: 1 / 0)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    registration = boxed(registry, wait, timeout=1.0)

    async def story():
        first = asyncio.ensure_future(registry.invoke("view:box.open"))
        await clock.advance(1)
        second = asyncio.ensure_future(registry.invoke("view:box.open"))
        await clock.advance(0)
        registration.unregister()
        await clock.advance(0)
        return await first, await second

    first, second = run(story())
    assert (first.error.code, second.error.code) == ("TIMEOUT", "COMPONENT_UNMOUNTED")
    assert (ended, registry.version) == ([True, True], "2")


@pytest.mark.parametrize("what", ["unregister", "cancel"])
def test_pipe_6_what_when_does_at_dispatch_keeps_the_handler_from_running(registry, what):
    ran, looks = [], []
    cancel = CancelSignal()

    def when():
        looks.append(1)
        if len(looks) == 2:  # at dispatch
            registration.unregister() if what == "unregister" else cancel.cancel()

    registration = boxed(registry, lambda: ran.append(1), when=when)
    result = run(registry.invoke("view:box.open", cancel=cancel))
    assert result.error.code == ("COMPONENT_UNMOUNTED" if what == "unregister" else "CANCELLED")
    assert ran == []


def test_a_handler_that_leaves_and_then_would_wait_is_not_run_on(registry):
    ran = []

    async def later():
        ran.append(1)

    def leave():
        registration.unregister()
        return later()

    registration = boxed(registry, leave)
    error = run(registry.invoke("view:box.open")).error
    assert (error.code, error.details["phase"], ran) == ("COMPONENT_UNMOUNTED", "mid-flight", [])


def test_life_10_dispose_settles_a_navigation_whose_component_has_left(registry, clock):
    async def leave():
        registration.unregister()
        await asyncio.Event().wait()

    box = Component("box", description="A box")
    box.action("Leave", effect="navigation", name="leave")(leave)
    registration = registry.register(box)

    async def story():
        call = asyncio.ensure_future(registry.invoke("view:box.leave"))
        await clock.advance(0)
        registry.dispose()
        return await call

    assert run(story()).error.to_wire()["retry"] == "no"


def test_what_runs_is_what_was_sent_whatever_the_caller_does_with_it_meanwhile(registry, clock):
    got, gate = [], None

    async def take(value):
        got.append(value)
        await gate.wait()
        return value

    boxed(registry, take, input=Schema.from_json_schema({"type": "object", "properties": {"n": {"type": "integer"}}}))

    async def story():
        nonlocal gate
        gate = asyncio.Event()
        sent = [{"n": 1}, {"n": 2}]
        calls = [asyncio.ensure_future(registry.invoke("view:box.open", one)) for one in sent]
        await clock.advance(0)
        sent[1]["n"] = "DROP TABLE"
        gate.set()
        return await asyncio.gather(*calls)

    results = run(story())
    assert got == [{"n": 1}, {"n": 2}]
    got[0]["n"] = 99
    assert results[0].output == {"n": 1}


def test_ident_3_a_replay_is_verbatim_whatever_was_done_to_the_first_result(registry, table):
    first = run(registry.invoke(READ, invocation_id="i1"))
    first.output["visibleRows"].append("mine")
    again = run(registry.invoke(READ, invocation_id="i1"))
    again.output["visibleRows"].append("mine, too")
    assert run(registry.invoke(READ, invocation_id="i1")).output["visibleRows"] == ["d1", "d2", "mine"]


@pytest.mark.parametrize(("done", "note"), [(float("nan"), None), (object(), None), (1, "\ud800"), (True, None)])
def test_progress_that_cannot_be_sent_is_the_handlers_failure(registry, done, note):
    def open_it(*, ctx: ActionContext):
        ctx.progress(done, note=note)

    boxed(registry, open_it)
    assert run(registry.invoke("view:box.open")).error.details == {"reason": "handler-error"}


def test_no_lone_surrogate_reaches_an_agent(registry):
    registration = boxed(registry, lambda: None, precondition=lambda: "bad \ud800")
    assert run(registry.invoke("view:box.open")).error.message.isascii()
    registration.update(availability={"open": (False, "bad \ud800")})
    assert run(registry.invoke("view:box.open")).error.details == {"reason": "bad ?"}


def test_a_handler_cannot_say_another_phase(registry):
    def open_it():
        raise SurfaceError("CANCELLED", "m", details={"phase": "resolve"})

    boxed(registry, open_it)
    assert run(registry.invoke("view:box.open")).error.details == {"phase": "mid-flight"}


def test_avail_1_a_when_that_looks_at_a_cancelled_task_is_a_when_error(registry):
    def when():
        raise asyncio.CancelledError

    boxed(registry, lambda: None, when=when)
    assert registry.snapshot().components[0].actions[0].unavailable_reason == "when-error"
    assert run(registry.invoke("view:box.open")).error.details == {"reason": "when-error"}


@pytest.mark.parametrize("turns", [0, 1])
def test_the_author_sees_where_a_handler_failed(registry, caplog, turns):
    async def fails_here():
        for _ in range(turns):
            await asyncio.sleep(0.001)
        raise ValueError("oh no")

    boxed(registry, fails_here)
    assert not run(registry.invoke("view:box.open")).ok
    assert "in fails_here" in caplog.text
