"""The Python side of the DOM bridge, against a recorded page."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from typing import Any

import pytest
from loop import run
from pydantic import BaseModel

from surface import CancelSignal, Consumer, Registry, SurfaceDefinitionError, action, component, observation
from surface.invocation.start import start
from webmcp.dom import CommandFailed, Dom, DomComponent, dom
from webmcp.dom_bridge import Bridge

ME = Consumer("test", "me")


class Row(BaseModel):
    id: str
    seen: date


@component("devices.table", description="Devices")
class Table(DomComponent):
    @observation("How often the state was read")
    def read(self) -> list[int]:
        return [self.dom.state()["reads"], self.dom.state()["reads"]]

    @observation("The same, with a wait between")
    async def read_slowly(self) -> list[int]:
        first = self.dom.state()["reads"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return [first, self.dom.state()["reads"]]

    @action("Select", effect="local-state")
    async def select(self, ids: list[str]) -> Any:
        return await self.dom.command("select", ids=ids)

    @action("Open", effect="local-state", when=lambda self: self.dom.state()["loaded"])
    async def open(self) -> None:
        await self.dom.command("open")


class FakePage:
    """The JavaScript side: ``outcomes`` by command name are JSON values, or None for one that waits."""

    def __init__(self) -> None:
        self.listener: Dom
        self.reads = 0
        self.loaded = True
        self.outcomes: dict[str, Any] = {}
        self.ran: list[tuple[int, int, str, Any]] = []
        self.cancelled: list[int] = []
        self.early: list[tuple[int, str, str, str]] = []
        self.released = False

    def connect(self, listener: Any) -> Bridge:
        self.listener = listener
        return self

    def open(self) -> None:
        for mount in self.early:
            self.listener.mounted(*mount)

    def mount(self, number: int, instance: str = "main", type: str = "devices.table", **available: Any) -> None:
        self.listener.mounted(number, type, instance, json.dumps(available))

    def state(self, mount: int) -> str:
        self.reads += 1
        return json.dumps({"reads": self.reads, "loaded": self.loaded})

    def command(self, call: int, mount: int, name: str, input_text: str) -> str:
        self.ran.append((call, mount, name, json.loads(input_text)))
        outcome = self.outcomes.get(name, {"output": None})
        return "" if outcome is None else json.dumps(outcome)

    def cancel_command(self, call: int) -> None:
        self.cancelled.append(call)

    def release(self) -> None:
        self.released = True


@pytest.fixture
def page():
    return FakePage()


@pytest.fixture
def attached(page, registry):
    dom = Dom(page.connect)
    dom.attach(registry, Table)
    return dom


def live(registry):
    return [(one.type, one.instance_id) for one in registry.snapshot(consumer=ME).components]


def available(registry):
    [table] = registry.snapshot(consumer=ME).components
    return {item.name: item.unavailable_reason for item in table.capabilities}


def call(registry, name, input=None, **options):
    return registry.invoke(f"view:devices.table.{name}", input, consumer=ME, **options)


def test_contracts_are_read_without_a_page():
    assert [capability.name for capability in Table.contract.capabilities] == ["read", "readSlowly", "select", "open"]
    with pytest.raises(RuntimeError, match="Table was not mounted"):
        Table().dom.state()
    with pytest.raises(AttributeError, match="nothing"):
        _ = Table().nothing


def test_attaching_outside_a_page_says_so(registry):
    with pytest.raises(RuntimeError, match="no page that has loaded"):
        dom.attach(registry, Table)
    assert dom.unattached() == []


def test_a_class_that_is_no_dom_component_is_a_definition_error(page, registry):
    @component("devices.plain", description="Plain")
    class Plain:
        pass

    with pytest.raises(SurfaceDefinitionError, match="DomComponent"):
        Dom(page.connect).attach(registry, Plain)


def test_a_mount_is_a_registration_and_an_unmount_ends_it(page, registry, attached):
    page.mount(1)
    page.mount(2, "side")
    assert live(registry) == [("devices.table", "main"), ("devices.table", "side")]
    page.listener.unmounted(1)
    page.listener.unmounted(1)
    assert live(registry) == [("devices.table", "side")]


def test_mounts_made_before_python_is_up_are_attached_in_order(page, registry):
    order = []

    @component("devices.table", description="Devices")
    class Recorder(DomComponent):
        def __init__(self) -> None:
            order.append(self.dom.instance)
            assert self.dom.state()["loaded"]

    page.early = [(1, "devices.table", "b", "{}"), (2, "devices.table", "a", "{}"), (3, "other.thing", "main", "{}")]
    attached = Dom(page.connect)
    attached.attach(registry, Recorder)
    assert order == ["b", "a"]
    assert attached.unattached() == ["other.thing"]


def test_a_mount_before_its_class_is_attached_waits_for_it(page, registry):
    dom = Dom(page.connect)

    @component("other.thing", description="Other")
    class Other(DomComponent):
        pass

    dom.attach(registry, Other)
    page.mount(1)
    assert live(registry) == []
    dom.attach(registry, Table)
    assert live(registry) == [("devices.table", "main")]


def test_the_last_attachment_of_a_type_takes_over(page, registry, attached):
    page.mount(1)

    @component("devices.table", description="Reloaded")
    class Table2(DomComponent):
        pass

    attached.attach(registry, Table2)
    [now] = registry.snapshot(consumer=ME).components
    assert now.description == "Reloaded"


def test_detaching_ends_the_registrations(page, registry):
    dom = Dom(page.connect)
    detach = dom.attach(registry, Table)
    page.mount(1)
    detach()
    assert live(registry) == []
    page.mount(2, "side")
    assert live(registry) == []


def test_a_second_mount_of_a_live_instance_follows_the_duplicate_rule(page, registry, attached):
    page.mount(1)
    page.mount(2)
    page.listener.unmounted(2)
    assert live(registry) == [("devices.table", "main")]
    page.listener.unmounted(1)
    assert live(registry) == []


def test_a_mount_that_cannot_be_registered_breaks_nothing(page, registry, attached, caplog):
    page.mount(1, "not an id!")
    page.mount(2)
    assert live(registry) == [("devices.table", "main")]
    assert "INVALID_ID" in caplog.text


def test_availability_comes_with_the_mount_and_with_every_change(page, registry, attached, caplog):
    page.mount(1, select="Rows are loading", open=None, read=True)
    assert available(registry) == {
        "read": None,
        "readSlowly": None,
        "select": "Rows are loading",
        "open": "when-error",
    }
    page.listener.changed(1, json.dumps({"select": True, "open": False, "read": True}))
    assert available(registry)["select"] is None
    assert available(registry)["open"] == "unavailable"
    page.listener.changed(1, json.dumps({"nothing": False}))
    assert "nothing" in caplog.text


def test_a_change_lets_when_be_evaluated_again(page, registry, attached):
    page.mount(1)
    assert available(registry)["open"] is None
    version = registry.version
    page.loaded = False
    page.listener.changed(1, "{}")
    assert registry.version != version
    assert available(registry)["open"] == "Currently unavailable"


def test_the_state_is_read_once_per_invocation(page, registry, attached):
    async def scenario():
        page.mount(1)
        first = await call(registry, "read")
        slow = await asyncio.gather(call(registry, "readSlowly"), call(registry, "readSlowly"))
        return [first.output, *(result.output for result in slow)]

    first, *slow = run(scenario())
    assert first[0] == first[1]
    assert all(before == after for before, after in slow)
    assert slow[0] != slow[1]


def test_a_command_makes_the_invocation_read_the_state_anew(page, registry):
    @component("devices.table", description="Devices")
    class Changing(DomComponent):
        @action("Change", effect="local-state", when=lambda self: self.dom.state()["loaded"])
        async def change(self) -> list[int]:
            before = self.dom.state()["reads"]
            await self.dom.command("change")
            return [before, self.dom.state()["reads"], self.dom.state()["reads"]]

    async def scenario():
        Dom(page.connect).attach(registry, Changing)
        page.mount(1)
        return await call(registry, "change")

    before, after, again = run(scenario()).output
    assert before < after == again


def test_outside_an_invocation_the_state_is_always_read(page, registry, attached):
    component_of = []

    @component("devices.table", description="Devices")
    class Kept(DomComponent):
        def __init__(self) -> None:
            component_of.append(self)

        @observation("Read")
        def read(self) -> int:
            reads: int = self.dom.state()["reads"]
            return reads

    async def scenario():
        attached.attach(registry, Kept)
        page.mount(1)
        handle = component_of[0].dom
        assert handle.state()["reads"] != handle.state()["reads"]
        result = await call(registry, "read")
        assert handle.state()["reads"] > result.output

    run(scenario())


def test_a_state_that_cannot_be_read_is_a_handler_error(page, registry, attached):
    page.mount(1)
    page.state = lambda mount: ""
    result = run(call(registry, "read"))
    assert (result.error.code, result.error.details) == ("EXECUTION_FAILED", {"reason": "handler-error"})


def test_a_command_crosses_as_json_and_answers_without_the_event_loop(page, registry, attached):
    page.outcomes["select"] = {"output": {"big": 2**70, "none": None}}

    async def scenario():
        page.mount(1)
        started = start(call(registry, "select", {"ids": ["d1"]}))
        assert started.done()
        return started.result()

    assert run(scenario()).output == {"big": 2**70, "none": None}
    [(_, mount, name, input)] = page.ran
    assert (mount, name, input) == (1, "select", {"ids": ["d1"]})


def test_models_and_dates_are_arguments_by_their_aliases(page, registry, attached):
    page.mount(1)

    async def scenario():
        rows = [Row(id="d1", seen=date(2026, 1, 2))]
        await attached.run_command(1, "select", {"rows": rows, "on": date(2026, 1, 3)})

    run(scenario())
    assert page.ran[0][3] == {"rows": [{"id": "d1", "seen": "2026-01-02"}], "on": "2026-01-03"}


def test_an_asynchronous_command_is_waited_for(page, registry, attached):
    page.outcomes["select"] = None

    async def scenario():
        page.mount(1)
        running = asyncio.ensure_future(call(registry, "select", {"ids": []}))
        await asyncio.sleep(0)
        page.listener.command_done(page.ran[0][0], '{"output": 5}')
        return await running

    assert run(scenario()).output == 5


def test_a_failure_of_the_page_becomes_that_typed_error(page, registry, attached):
    page.outcomes["select"] = {"failure": {"code": "PRECONDITION_FAILED", "message": "No d9", "details": {"id": "d9"}}}
    page.mount(1)
    error = run(call(registry, "select", {"ids": ["d9"]})).error
    assert (error.code, error.message, error.details) == ("PRECONDITION_FAILED", "No d9", {"id": "d9"})


@pytest.mark.parametrize(
    "outcome",
    [
        {"broken": "threw; the secret is 42"},
        {"failure": {"code": "NO_SUCH_CODE", "message": "the secret is 42"}},
        {"failure": {"message": "the secret is 42"}},
        {"failure": {"code": "PRECONDITION_FAILED", "message": "the secret is 42" * 40}},
        {"failure": {"code": "PRECONDITION_FAILED", "message": "42", "details": [1]}},
    ],
)
def test_whatever_else_a_command_throws_is_a_handler_error_without_its_text(page, registry, attached, outcome):
    page.outcomes["select"] = outcome
    page.mount(1)
    error = run(call(registry, "select", {"ids": []})).error
    assert (error.code, error.details) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert "42" not in error.message


def test_cancelling_the_call_aborts_the_commands_signal(page, registry, attached):
    page.outcomes["select"] = None

    async def scenario():
        page.mount(1)
        cancel = CancelSignal()
        running = asyncio.ensure_future(call(registry, "select", {"ids": []}, cancel=cancel))
        await asyncio.sleep(0)
        cancel.cancel()
        result = await running
        await asyncio.sleep(0)
        page.listener.command_done(page.ran[0][0], '{"output": "too late"}')
        return result

    assert run(scenario()).error.code == "CANCELLED"
    assert page.cancelled == [page.ran[0][0]]


def test_unmounting_settles_a_running_command(page, registry, attached):
    page.outcomes["select"] = None

    async def scenario():
        page.mount(1)
        running = asyncio.ensure_future(call(registry, "select", {"ids": []}))
        await asyncio.sleep(0)
        page.listener.unmounted(1)
        return await running

    assert run(scenario()).error.code == "COMPONENT_UNMOUNTED"


def test_what_the_page_says_of_unknown_mounts_is_ignored(page, registry, attached):
    page.listener.changed(9, "{}")
    page.listener.unmounted(9)
    page.listener.command_done(9, "{}")
    assert live(registry) == []


def test_disposing_the_registry_and_letting_go_end_everything(page, registry, attached):
    page.mount(1)
    registry.dispose()
    page.mount(2, "side")
    page.listener.unmounted(1)
    attached.release()
    assert page.released
    fresh = Registry()
    attached.attach(fresh, Table)
    page.mount(3)
    assert live(fresh) == [("devices.table", "main")]


def test_a_command_after_the_page_was_let_go_of_fails_clearly(page, registry, attached):
    attached.release()
    with pytest.raises(CommandFailed, match="let go"):
        run(attached.run_command(1, "select", {}))
