"""What the agent does on the devices page, step by step, and what must come of it."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from typing import Any

from playwright.sync_api import Error as BrowserError

from demo.agent.browser import EXECUTE, FIND, Agent, Answer, Seen, Watch
from demo.agent.transcript import Mismatch, same, true

TABLE = "view_devices__table__"
FILTERS = "view_devices__filters__"
DRAWER = "view_devices__drawer__"

READ, SELECT, SORT = f"{TABLE}readState", f"{TABLE}selectRows", f"{TABLE}setSort"
READ_FILTERS, SET_FILTERS, RESET = f"{FILTERS}readFilters", f"{FILTERS}setFilters", f"{FILTERS}reset"
READ_DRAWER, CLOSE_DRAWER = f"{DRAWER}read", f"{DRAWER}close"

ALWAYS = [READ, SELECT, SORT, READ_FILTERS, SET_FILTERS, RESET]


def play(agent: Agent, watch: Watch, address: str) -> None:
    """All steps on the page at ``address``, whose API, asked from outside of the browser, tells what is stored."""
    try:
        with agent.transcript.step("The page comes up, and its tools are listed by the browser"):
            agent.open_page(address)
            agent.transcript.saw(f"{len(agent.wait_for_tools(ALWAYS))} tools: {', '.join(ALWAYS)}")
        _read_filter_sort_select(agent, _devices(address))
        _a_person_and_an_agent(agent, address)
        _the_drawer(agent, address)
        _wrong_inputs(agent)
        _reset(agent, address)
    finally:
        with agent.transcript.step("Nothing went wrong behind the scenes"):
            # What the last call set off is reported a moment later.
            agent.page.wait_for_timeout(200)
            if watch.problems:
                raise Mismatch("; ".join(watch.problems))
            agent.transcript.saw("no console error, no unhandled rejection, no request that leaves this machine")


def _read_filter_sort_select(agent: Agent, devices: dict[str, Any]) -> None:
    step = agent.transcript.step
    with step("Read the table"):
        seen = _compare_table(agent)
        same("the devices of the database and the rows shown", sorted(devices), sorted(seen.ids))
        agent.transcript.saw(f"{len(seen.rows)} rows, sorted by {seen.sort['column']}, {seen.sort['direction']}")

    with step("Filter by status"):
        _done(agent.call(SET_FILTERS, {"status": ["offline", "degraded"]}))
        seen = agent.see()
        expected = {key for key, device in devices.items() if device["status"] in ("offline", "degraded")}
        same("the devices of the database with these statuses and the rows shown", expected, {*seen.ids})
        same("statuses shown", {"offline", "degraded"}, {row["status"] for row in seen.rows})
        agent.transcript.saw(f"{seen.count!r}; every row is offline or degraded")

    with step("Filter by site, and keep the rest as it is"):
        site = Counter(devices[key]["site"] for key in agent.see().ids).most_common(1)[0][0]
        _done(agent.call(SET_FILTERS, {"site": site}))
        seen = agent.see()
        expected = {key for key in expected if devices[key]["site"] == site}
        same("the devices of the database at this site and the rows shown", expected, {*seen.ids})
        agent.transcript.saw(f"{seen.count!r}; every row is at {site}")

    with step("Read the filters back"):
        filters = _done(agent.call(READ_FILTERS))
        same("filters", filters["filters"], {"text": "", "site": site, "status": ["offline", "degraded"]})
        same("the count that was read and the rows shown", filters["matchingCount"], len(agent.see().rows))

    with step("Sort by when a device was last seen, latest first"):
        _done(agent.call(SET_FILTERS, {"site": None}))
        _done(agent.call(SORT, {"column": "lastSeen", "direction": "descending"}))
        seen = agent.see()
        same("sorting marked in the header", seen.sort, {"column": "lastSeen", "direction": "descending"})
        times = [devices[key]["lastSeen"] for key in seen.ids]
        same("the order of the rows and of the times in the database", times, sorted(times, reverse=True))
        agent.transcript.saw(f"{len(times)} rows, from {times[0]} down to {times[-1]}")

    with step("Select three rows"):
        seen = agent.see()
        three = [seen.ids[0], seen.ids[2], seen.ids[4]]
        _done(agent.call(SELECT, {"ids": three}))
        seen = _compare_table(agent)
        same("rows marked and ticked", seen.selected, three)
        same("the line above the table", seen.selection, "3 selected")
        agent.transcript.saw(f"{seen.selection!r}; {', '.join(seen.selected)} are marked and ticked")

    with step("Take one row out of the selection"):
        _done(agent.call(SELECT, {"ids": three[1:2], "mode": "remove"}))
        seen = _compare_table(agent)
        same("rows marked and ticked", seen.selected, [three[0], three[2]])
        agent.transcript.saw(f"{seen.selection!r}")


def _a_person_and_an_agent(agent: Agent, address: str) -> None:
    with agent.transcript.step("A person types into the search, and the agent reads what came of it"):
        word = next(iter(_devices(address).values()))["name"].split("-")[0].split()[0]
        agent.page.get_by_role("button", name="Reset filters").click()
        agent.page.get_by_role("searchbox").fill(word)
        filters = _done(agent.call(READ_FILTERS))
        seen = agent.see()
        same("the text that was read and the text in the field", filters["filters"]["text"], seen.search)
        same("the count that was read and the rows shown", filters["matchingCount"], len(seen.rows))
        agent.transcript.saw(f"{seen.search!r} in the search field; {seen.count!r}")


def _the_drawer(agent: Agent, address: str) -> None:
    step = agent.transcript.step
    with step("A person opens a device with a click, and the drawer's tools appear"):
        device = agent.see().ids[1]
        true("the drawer is closed before", agent.see().drawer is None)
        agent.page.locator(f'tr[data-device-id="{device}"]').get_by_role("button").click()
        agent.wait_for_tools([*ALWAYS, READ_DRAWER, CLOSE_DRAWER])
        agent.transcript.saw(f"new tools: {READ_DRAWER}, {CLOSE_DRAWER}")

    with step("Read the drawer"):
        read = _done(agent.call(READ_DRAWER))["device"]
        stored = _get(f"{address}api/devices/{device}")["device"]
        same("the device that was read and the one in the database", read["id"], stored["id"])
        shown = agent.see().drawer or ""
        for key in ("name", "serial", "ip", "firmware"):
            same(f"{key} that was read and in the database", read[key], stored[key])
            true(f"the drawer shows the {key} {stored[key]!r}", stored[key] in shown)
        agent.transcript.saw(f"the drawer shows {stored['name']}, {stored['serial']}, {stored['ip']}")

    with step("Close the drawer with its own tool, and its tools go"):
        old = agent.page.evaluate_handle(FIND, READ_DRAWER)
        _done(agent.call(CLOSE_DRAWER))
        true("the drawer is closed", agent.see().drawer is None)
        agent.wait_for_tools(ALWAYS)
        agent.transcript.saw(f"the drawer is closed; {len(ALWAYS)} tools are left")

    with step("Call a tool that is gone: the browser itself says no"):
        agent.transcript.called(READ_DRAWER, {})
        try:
            text = agent.page.evaluate(EXECUTE, [old, {}])
        except BrowserError as error:
            agent.transcript.answered(True, str(error).splitlines()[0])
        else:
            agent.transcript.answered(False, text)
            true("the call is refused", False)


def _wrong_inputs(agent: Agent) -> None:
    wrong = [
        ("a text instead of a list", SELECT, {"ids": "the first one"}, "ids"),
        ("a field that does not exist", SORT, {"column": "name", "direction": "ascending", "colour": "red"}, "colour"),
        ("a required field left out", SORT, {"direction": "ascending"}, "column"),
        ("a value that is none of the choices", SORT, {"column": "price", "direction": "ascending"}, "column"),
        ("a text that does not fit its pattern", SET_FILTERS, {"site": "not a site code!"}, "site"),
    ]
    for what, tool, given, field in wrong:
        with agent.transcript.step(
            f"A wrong input, {what}: a typed error names the field, and the page stays as it is"
        ):
            before = agent.see()
            error = _refused(agent.call(tool, given), "INVALID_INPUT")
            paths = [issue["path"] for issue in error["details"]["issues"]]
            true(f"an issue names {field!r}", any(path.split(".")[0].split("/")[-1] == field for path in paths))
            same("the page before and after", before, agent.see())
    with agent.transcript.step("An id that no device has: a typed error names it, and the selection stays as it is"):
        before = agent.see()
        error = _refused(agent.call(SELECT, {"ids": ["no-such-device"]}), "PRECONDITION_FAILED")
        true("the error names the id", "no-such-device" in json.dumps(error))
        same("the page before and after", before, agent.see())


def _reset(agent: Agent, address: str) -> None:
    with agent.transcript.step("Reset the filters"):
        _done(agent.call(RESET))
        same("the devices of the database and the rows shown", len(_devices(address)), len(_compare_table(agent).rows))
        agent.transcript.saw(f"{agent.see().count!r}")


def _compare_table(agent: Agent) -> Seen:
    """Reads the table, and holds all that was read against the page."""
    state = _done(agent.call(READ))
    seen = agent.see()
    read = [row["id"] for row in state["visibleRows"]]
    same("the rows that were read and the first rows shown", read, seen.ids[: len(read)])
    same("the count that was read and the rows shown", state["visibleCount"], len(seen.rows))
    same("the selection that was read and the one shown", state["selectedIds"], seen.selected)
    same("the sorting that was read and the one shown", state["sort"], seen.sort)
    return seen


def _done(answer: Answer) -> Any:
    true("the call succeeds", not answer.error)
    return answer.value


def _refused(answer: Answer, code: str) -> dict[str, Any]:
    true("the call is refused", answer.error)
    same("error code", answer.value["code"], code)
    true("the error says whether to try again", "retry" in answer.value)
    return dict(answer.value)


def _devices(address: str) -> dict[str, Any]:
    return {device["id"]: device for device in _get(f"{address}api/devices")["devices"]}


def _get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=30) as response:
        return json.load(response)
