"""The unmodified demo, driven by clients that nobody here wrote. Every test runs once with each."""

from __future__ import annotations

import re
import time
from typing import Any

import anyio
import pytest

from tests.clients.drivers import Client

pytestmark = pytest.mark.anyio

TABLE = [f"view_devices__table__{name}" for name in ("readState", "selectRows", "setSort")]
FILTERS = [f"view_devices__filters__{name}" for name in ("readFilters", "reset", "setFilters")]
DRAWER = [f"view_devices__drawer__{name}" for name in ("close", "read")]
READ, SELECT, SORT = TABLE
READ_FILTERS, RESET, SET_FILTERS = FILTERS
CLOSE, READ_DRAWER = DRAWER

# What the page shows, read from the document.
ROWS = (
    """() => Array.from(document.querySelectorAll("#devices-body tr[data-device-id]"), (row) => row.dataset.deviceId)"""
)
SELECTED = ROWS.replace("tr[data", "tr[aria-selected=true][data")
STATUSES = (
    """() => Array.from(document.querySelectorAll("#devices-body tr [data-status]"), (dot) => dot.dataset.status)"""
)
SORTED = (
    """() => Array.from(document.querySelectorAll("th[aria-sort]"), (head) => [head.innerText.trim(), head.ariaSort])"""
)
DRAWER_TEXT = """() => {
  const drawer = document.querySelector("#drawer");
  return drawer.checkVisibility() ? drawer.innerText : null;
}"""


async def done(client: Client, tool: str, given: dict[str, Any]) -> Any:
    """The value of a call that must succeed."""
    answer = await client.call(tool, given)
    assert not answer.error, answer.value
    return answer.value


async def expect_tools(client: Client, tools: list[str]) -> None:
    """Waits until the client lists exactly these tools."""
    deadline = time.monotonic() + 30
    while (listed := await client.tools()) != sorted(tools):
        assert time.monotonic() < deadline, listed
        await anyio.sleep(0.1)


async def test_the_tools_of_what_is_on_the_page_are_listed(client: Client) -> None:
    await expect_tools(client, [*TABLE, *FILTERS])


async def test_an_observation_reads_what_the_page_shows(client: Client) -> None:
    state = await done(client, READ, {})
    shown = await client.evaluate(ROWS)
    assert len(shown) >= 200
    assert state["visibleCount"] == state["totalCount"] == len(shown)
    read = [row["id"] for row in state["visibleRows"]]
    assert read
    assert read == shown[: len(read)]


async def test_an_action_changes_the_page(client: Client) -> None:
    rows = await client.evaluate(ROWS)
    await done(client, SELECT, {"ids": [rows[1], rows[3]]})
    assert await client.evaluate(SELECTED) == [rows[1], rows[3]]
    assert (await done(client, READ, {}))["selectedIds"] == [rows[1], rows[3]]


async def test_filters_and_sorting_change_the_page_and_can_be_read_back(client: Client) -> None:
    await done(client, SET_FILTERS, {"status": ["offline"]})
    await done(client, SORT, {"column": "name", "direction": "descending"})
    assert {*await client.evaluate(STATUSES)} == {"offline"}
    assert [direction for _, direction in await client.evaluate(SORTED)] == ["descending"]
    read = await done(client, READ_FILTERS, {})
    assert read["filters"]["status"] == ["offline"]
    assert read["matchingCount"] == len(await client.evaluate(ROWS)) < read["totalCount"]
    await done(client, RESET, {})
    assert len(await client.evaluate(ROWS)) == read["totalCount"]


@pytest.mark.parametrize(
    ("tool", "given", "field"),
    [
        (SELECT, {"ids": "all of them"}, "ids"),
        (SELECT, {"ids": ["dev-0001"], "colour": "red"}, "colour"),
        (SORT, {"direction": "ascending"}, "column"),
        (SET_FILTERS, {"site": "not a site code!"}, "site"),
    ],
    ids=["wrong type", "unknown field", "missing field", "pattern of a raw JSON Schema"],
)
async def test_a_wrong_input_is_a_typed_error_that_names_the_field(
    client: Client, tool: str, given: dict[str, Any], field: str
) -> None:
    before = await client.evaluate(ROWS), await client.evaluate(SELECTED), await client.evaluate(SORTED)
    answer = await client.call(tool, given)
    assert answer.error
    assert answer.value["code"] == "INVALID_INPUT"
    assert answer.value["retry"] == "with-changes"
    assert any(re.match(rf"/?{field}\b", issue["path"]) for issue in answer.value["details"]["issues"])
    assert before == (await client.evaluate(ROWS), await client.evaluate(SELECTED), await client.evaluate(SORTED))


async def test_tools_come_with_the_drawer_and_go_with_it(client: Client) -> None:
    await client.click("#devices-body tr:nth-child(2) button")
    await expect_tools(client, [*TABLE, *FILTERS, *DRAWER])
    device = (await done(client, READ_DRAWER, {}))["device"]
    assert device["serial"] in await client.evaluate(DRAWER_TEXT)
    await done(client, CLOSE, {})
    assert await client.evaluate(DRAWER_TEXT) is None
    await expect_tools(client, [*TABLE, *FILTERS])


async def test_the_page_stayed_clean_and_on_loopback(client: Client) -> None:
    assert await client.console_errors() == []
    requests = await client.requests()
    assert requests
    assert [url for url in requests if not re.match(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]", url)] == []
