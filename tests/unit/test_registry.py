"""Registrations, availability, versions, events and snapshots."""

from __future__ import annotations

import asyncio

import pytest
from devices import DevicesTable
from loop import run

from surface import (
    Budget,
    Component,
    Consumer,
    Limits,
    Registry,
    RegistryDisposed,
    SurfaceDefinitionError,
    authenticated,
)


def kinds(registry):
    seen = []
    registry.subscribe(lambda event: seen.append(event.kind))
    return seen


def box(type="box", **options):
    made = Component(type, description="A box", **options)

    @made.observation("Look")
    def look() -> int:
        return 1

    @made.action("Open", effect="local-state")
    def open() -> None: ...

    return made


def test_life_5_going_live_raises_the_version_and_shows_in_its_own_event(registry):
    shown = []
    registry.subscribe(
        lambda event: shown.append(len(registry.snapshot().components)) if event.kind == "component-registered" else 0
    )
    registration = registry.register(box())
    assert (registration.status, registry.version, shown) == ("active", "1", [1])


def test_life_3_a_duplicate_is_turned_away_and_displaces_nobody(registry):
    seen = kinds(registry)
    first = registry.register(box(), instance_id="a")
    second = registry.register(box(), instance_id="a")
    assert (first.status, second.status) == ("active", "rejected")
    assert second.id != first.id
    assert seen == ["component-registered", "surface-changed", "component-rejected"]
    second.update(enabled=False)
    second.unregister()
    assert registry.version == "1"


def test_life_3_replace_ends_the_incumbent_first(clock):
    registry = Registry(clock=clock, on_duplicate_instance="replace")
    seen = kinds(registry)
    first = registry.register(box())
    second = registry.register(box())
    assert (first.status, second.status) == ("unregistered", "active")
    assert [kind for kind in seen if kind != "surface-changed"] == [
        "component-registered",
        "component-unregistered",
        "component-registered",
    ]


def test_life_9a_a_class_declared_again_replaces_its_old_self(registry):
    def declare():
        from surface import component, observation

        @component("reloaded", description="Hot")
        class Hot:
            @observation("Look")
            def look(self) -> int:
                return 1

        return Hot

    old = registry.register(declare()())
    new = registry.register(declare()())
    assert (old.status, new.status) == ("unregistered", "active")


@pytest.mark.parametrize("guard", [lambda candidate: False, lambda candidate: 1 / 0])
def test_life_2_the_guard_turns_away(clock, guard):
    registry = Registry(clock=clock, on_register=guard)
    seen = kinds(registry)
    assert registry.register(box()).status == "rejected"
    assert seen == ["component-rejected"]


def test_life_2_the_guard_sees_the_candidate(clock):
    seen = []
    registry = Registry(clock=clock, on_register=lambda candidate: seen.append(candidate) or True)
    contract = box()
    registry.register(contract, instance_id="x", origin="plugin")
    assert (seen[0].contract, seen[0].instance_id, seen[0].origin) == (contract, "x", "plugin")


def test_life_6_unregister_repeats_and_a_registration_is_a_context_manager(registry):
    with registry.register(box()) as registration:
        assert registration.status == "active"
    registration.unregister()
    assert (registration.status, registry.version) == ("unregistered", "2")


@pytest.mark.parametrize(
    "options",
    [
        {"instance_id": "a b"},
        {"parent": "x"},
        {"parent": ("Bad", "x")},
        {"priority": 1.5},
        {"priority": True},
        {"origin": ""},
        {"enabled": 1},
    ],
)
def test_structure_options_out_of_shape_are_refused(registry, options):
    with pytest.raises(SurfaceDefinitionError) as error:
        registry.register(box(), **options)
    assert error.value.code in ("INVALID_ID", "INVALID_DEFINITION")
    assert registry.version == "0"


def test_what_is_no_component_is_refused(registry):
    with pytest.raises(SurfaceDefinitionError, match="@component"):
        registry.register(object())


def test_limits_are_checked_at_registration_and_the_limit_itself_passes(clock):
    registry = Registry(clock=clock, limits=Limits(max_component_description=5, max_meta_bytes=10))
    registry.register(Component("fits", description="12345", meta={"a": "34"}))
    for contract in (Component("long", description="123456"), Component("big", description="1", meta={"a": "345678"})):
        with pytest.raises(SurfaceDefinitionError) as error:
            registry.register(contract)
        assert error.value.code == "LIMIT_EXCEEDED"


def availability(registry, name="open"):
    items = {item.name: item for item in registry.snapshot().components[0].capabilities}
    return items[name].available, items[name].unavailable_reason


def test_avail_1_rows_decide_in_order(registry):
    state = {"answer": True}

    def when():
        if state["answer"] == "raise":
            raise RuntimeError
        return state["answer"]

    made = Component("box", description="A box")

    @made.action("Open", effect="local-state", when=when, unavailable_reason=lambda: state["reason"])
    def open() -> None: ...

    registration = registry.register(made)
    assert availability(registry) == (True, None)
    state["answer"] = None  # only False itself counts
    assert availability(registry) == (True, None)
    state.update(answer=False, reason="Closed")
    assert availability(registry) == (False, "Closed")
    state["reason"] = None
    assert availability(registry) == (False, "Currently unavailable")
    state["answer"] = "raise"
    assert availability(registry) == (False, "when-error")
    registration.update(availability={"open": False})
    assert availability(registry) == (False, "unavailable")
    registration.update(availability={"view:box.open": (False, "Busy")})
    assert availability(registry) == (False, "Busy")
    registration.update(enabled=False)
    assert availability(registry) == (False, "component-disabled")
    registration.update(enabled=True, availability={"open": True})  # AVAIL-2: forces nothing
    assert availability(registry) == (False, "when-error")


def test_avail_3_an_unknown_key_changes_nothing(registry):
    registration = registry.register(box())
    for bad in ({"open": False, "shut": False}, {"open": "no"}, {"open": (False, 5)}):
        with pytest.raises(SurfaceDefinitionError) as error:
            registration.update(availability=bad)
        assert error.value.code == "INVALID_DEFINITION"
    assert (registry.version, availability(registry)) == ("1", (True, None))


def test_avail_3_and_event_4_each_change_is_told_before_one_version_bump(registry):
    registration = registry.register(box())
    seen = []
    registry.subscribe(lambda event: seen.append((event.kind, registry.version)))
    registration.update(availability={"open": False, "look": False})
    assert seen == [("availability-changed", "1"), ("availability-changed", "1"), ("surface-changed", "2")]
    registration.update(availability={"open": False})
    registration.update(availability={})
    assert registry.version == "2"


def test_event_2_surface_changed_is_one_per_turn_with_the_latest_version(registry):
    versions = []
    registry.subscribe(
        lambda event: versions.append(event.surface_version) if event.kind == "surface-changed" else None
    )

    async def story():
        for number in range(5):
            registry.register(box(), instance_id=f"n{number}")
        assert versions == []
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run(story())
    assert versions == ["5"]


def test_event_1_events_caused_by_a_listener_wait_and_a_raising_one_is_isolated(registry):
    order = []

    def first(event):
        order.append(("first", event.kind))
        if event.kind == "component-registered" and event.instance_id == "a":
            registry.register(box(), instance_id="b")
        raise RuntimeError("a broken listener")

    registry.subscribe(first)
    unsubscribe = registry.subscribe(lambda event: order.append(("second", event.kind)))
    registry.register(box(), instance_id="a")
    assert [entry for entry in order if entry[1] == "component-registered"] == [
        ("first", "component-registered"),
        ("second", "component-registered"),
    ] * 2
    unsubscribe()
    unsubscribe()
    order.clear()
    registry.register(box(), instance_id="c")
    assert {who for who, _ in order} == {"first"}


def test_snap_4_components_come_by_priority_type_and_instance(registry):
    for type, instance, priority in [("b", "x", 0), ("a", "z", 0), ("a", "y", 0), ("c", "x", 5), ("d", "x", -1)]:
        registry.register(box(type), instance_id=instance, priority=priority)
    assert [(one.type, one.instance_id) for one in registry.snapshot().components] == [
        ("c", "x"),
        ("a", "y"),
        ("a", "z"),
        ("b", "x"),
        ("d", "x"),
    ]


def test_snap_3_a_scope_matches_whole_segments(registry):
    for type in ("devices", "devices.table", "devices-old", "alerts"):
        registry.register(box(type))
    assert [one.type for one in registry.snapshot(scope=["devices"]).components] == ["devices", "devices.table"]
    assert len(registry.snapshot(scope=[]).components) == 4


def test_snap_2_unavailable_capabilities_can_be_left_out_but_not_components(registry):
    registration = registry.register(box())
    registration.update(enabled=False)
    (component,) = registry.snapshot(include_unavailable=False).components
    assert component.capabilities == ()


def test_snap_6_a_budget_drops_the_lowest_priority_first_and_ties_from_the_end(registry):
    for type, priority in [("a", 0), ("b", 0), ("c", 1)]:
        registry.register(box(type), priority=priority)
    cut = registry.snapshot(budget=Budget(max_components=2))
    assert [one.type for one in cut.components] == ["c", "a"]
    assert cut.to_wire()["truncated"] == {"droppedComponents": 1, "droppedProcedures": 0}
    small = registry.snapshot(budget={"max_bytes": 10})
    assert (small.components, small.truncated.dropped_components) == ((), 3)
    assert registry.snapshot(budget=Budget(max_components=3)).truncated is None


def test_snap_7_a_snapshot_is_immutable_and_keeps_its_moment(registry):
    registry.register(DevicesTable(), instance_id="main", internal=object())
    before = registry.snapshot(consumer=Consumer("test", "t"))
    with pytest.raises(AttributeError):
        before.components = ()
    with pytest.raises(TypeError):
        before.components[0].actions[0].input_schema["properties"] = {}
    registry.register(box())
    assert len(before.components) == 1
    assert "internal" not in str(before.to_wire())


def test_a_snapshot_on_the_wire_has_the_fields_of_the_table(registry):
    registry.register(DevicesTable(), instance_id="main", parent=("page", "p"))
    wire = registry.snapshot().to_wire()
    assert set(wire) == {"surfaceId", "surfaceVersion", "capturedAt", "components", "procedures"}
    assert wire["capturedAt"] == "1970-01-01T00:16:40.000Z"
    (component,) = wire["components"]
    assert set(component) == {
        "type", "instanceId", "registrationId", "description", "tags", "parent", "observations", "actions",
    }  # fmt: skip
    assert component["parent"] == {"type": "page", "instanceId": "p"}
    assert set(component["observations"][0]) == {
        "capabilityId", "name", "description", "outputSchema", "untrustedContent", "available",
    }  # fmt: skip
    assert set(component["actions"][0]) == {
        "capabilityId", "name", "description", "inputSchema", "effect", "idempotent", "reversible", "confirmation",
        "available",
    }  # fmt: skip


def test_route_and_on_dispose(clock):
    registry = Registry(clock=clock, route=lambda: "/devices")
    assert registry.snapshot().to_wire()["route"] == "/devices"
    told = []
    registry.on_dispose(lambda: told.append("a"))
    registry.on_dispose(lambda: told.append("b"))()
    registry.dispose()
    registry.dispose()
    assert told == ["a"]


def test_a_listener_may_name_the_kinds_it_wants(registry):
    seen = []
    unsubscribe = registry.subscribe(lambda event: seen.append(event.kind), kinds=["component-registered"])
    registry.register(box())
    run(registry.invoke("view:box.look"))
    assert seen == ["component-registered"]
    unsubscribe()
    registry.register(box(), instance_id="again")
    assert seen == ["component-registered"]


def test_life_3_a_listener_that_takes_the_key_during_a_replacement_wins(clock):
    registry = Registry(clock=clock, on_duplicate_instance="replace")
    first = registry.register(box())
    taken = []
    registry.subscribe(lambda event: taken or taken.append(registry.register(box())), kinds=["component-unregistered"])
    late = registry.register(box())
    assert (first.status, taken[0].status, late.status) == ("unregistered", "active", "rejected")
    taken[0].unregister()
    assert registry.snapshot().components == ()


def test_a_guard_that_disposes_the_registry_registers_nothing(clock):
    registry = Registry(clock=clock, on_register=lambda candidate: registry.dispose() or True)
    with pytest.raises(RegistryDisposed):
        registry.register(box())


def test_event_1_a_listener_may_raise_anything(registry):
    def listener(event):
        raise asyncio.CancelledError

    registry.subscribe(listener)
    assert registry.register(box()).status == "active"


def test_event_3_refresh_announces_what_live_functions_and_policies_changed_and_nothing_else(clock):
    host, state = {"user": "ada"}, {"on": True}
    registry = Registry(clock=clock, context=lambda: host)
    made = Component("box", description="A box", policies=[authenticated()])

    @made.action("Open", effect="local-state", when=lambda: state["on"])
    def open() -> None: ...

    registry.register(made)
    changes = []
    registry.subscribe(changes.append, kinds=["surface-changed"])
    registry.refresh()
    assert changes == []  # nobody has looked
    me = Consumer("test", "me")
    assert registry.snapshot(consumer=me).components
    registry.refresh()
    assert changes == []
    state["on"] = False
    registry.refresh()
    assert len(changes) == 1
    assert registry.snapshot(consumer=me).components[0].actions[0].available is False
    host.clear()
    registry.refresh()
    assert len(changes) == 2
    assert registry.snapshot(consumer=me).components == ()
