"""What an agent may read and do on the devices page. Runs in the page; the page's JavaScript does the work.

The page mounts three components (see ``page/capabilities.js``); the classes below say what each of them offers, in
which words and with which types. ``devices.drawer`` exists only while the drawer is open.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from surface import Schema, action, component, observation
from webmcp import Page
from webmcp.dom import DomComponent

Status = Literal["online", "degraded", "offline", "maintenance"]
Column = Literal["name", "site", "status", "model", "firmware", "ip", "lastSeen"]
Direction = Literal["ascending", "descending"]

STATUSES = ["online", "degraded", "offline", "maintenance"]
SITE_CODE = "^[A-Z]{3}-[0-9]{2}$"


class Wire(BaseModel):
    """Python names here, camelCase for the agent."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Row(Wire):
    """A device as the table shows it."""

    id: str
    name: str
    site: str
    status: Status
    model: str
    firmware: str
    ip: str
    last_seen: AwareDatetime


class Sort(Wire):
    """By which column the rows are sorted, and which way."""

    column: Column
    direction: Direction


class TableState(Wire):
    """What the table shows; only the first 50 rows are listed."""

    visible_rows: list[Row]
    visible_count: Annotated[int, Field(description="Rows that pass the filters, listed here or not")]
    total_count: int
    selected_ids: list[str]
    sort: Sort


class Selection(Wire):
    """The selection after a change, in the order of the rows."""

    selected_ids: list[str]


@component("devices.table", title="Devices table", description="The devices that pass the page's filters, as a table")
class DevicesTable(DomComponent):
    """The table: which rows there are, which are selected, how they are sorted."""

    @observation(
        "The first 50 visible rows, how many there are, the selected ids and the sorting. Filter to reach other rows.",
        title="Read the devices table",
        untrusted_content=True,
    )
    def read_state(self) -> TableState:
        """The table as the person sees it."""
        return self.dom.state()

    @action(
        "Select rows by device id: replace the selection, add to it or remove from it. Only visible rows can be "
        "selected; if any id is unknown or hidden by the filters, nothing changes.",
        title="Select devices",
        effect="local-state",
        idempotent=True,
    )
    async def select_rows(
        self,
        ids: Annotated[list[str], Field(max_length=500, description="Device ids such as dev-0042")],
        mode: Literal["replace", "add", "remove"] = "replace",
    ) -> Selection:
        """Change the selection; PRECONDITION_FAILED names the ids that are no visible rows."""
        return await self.dom.command("selectRows", ids=ids, mode=mode)

    @action(
        "Sort the rows by a column. Ascending puts offline before online, and the longest unseen first.",
        title="Sort the devices table",
        effect="local-state",
        idempotent=True,
    )
    async def set_sort(self, column: Column, direction: Direction = "ascending") -> None:
        """Sort the table for the person, too."""
        await self.dom.command("setSort", column=column, direction=direction)


class Filters(Wire):
    """The filters in force; an empty text, no site and no status let every device pass."""

    text: str
    site: str | None
    status: list[Status]


class Site(Wire):
    """A site one can filter by."""

    code: str
    name: str
    devices: int


class FilterState(Wire):
    """The filters, how many devices pass them, and the sites there are."""

    filters: Filters
    matching_count: int
    total_count: int
    sites: list[Site]


class Filtered(Wire):
    """The filters after a change, and how many devices pass them."""

    matching_count: int
    filters: Filters


# Raw, because here absent means "leave it" and null means "clear it", which a signature cannot say.
SET_FILTERS = Schema.from_json_schema(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "text": {
                "description": "Words that must all occur in name, id, site, model or IP address; null clears",
                "anyOf": [{"type": "string", "maxLength": 80}, {"type": "null"}],
            },
            "site": {
                "description": "Site code such as HAM-01, as readFilters lists them; null is every site",
                "anyOf": [{"type": "string", "pattern": SITE_CODE}, {"type": "null"}],
            },
            "status": {
                "description": "One status or several; null is every status",
                "anyOf": [
                    {"type": "string", "enum": STATUSES},
                    {
                        "type": "array",
                        "items": {"type": "string", "enum": STATUSES},
                        "minItems": 1,
                        "uniqueItems": True,
                    },
                    {"type": "null"},
                ],
            },
        },
    }
)


@component(
    "devices.filters", title="Device filters", description="Which devices the table shows: text, site and status"
)
class DeviceFilters(DomComponent):
    """The filter bar."""

    @observation(
        "The filters in force, how many devices pass them, and the sites one can filter by",
        title="Read the device filters",
    )
    def read_filters(self) -> FilterState:
        """The filter bar as the person sees it."""
        return self.dom.state()

    @action(
        "Change the filters given and leave the others. Rows that are filtered out leave the selection.",
        title="Filter the devices",
        effect="local-state",
        idempotent=True,
        input=SET_FILTERS,
    )
    async def set_filters(self, filters: dict[str, Any]) -> Filtered:
        """Set what is named; null clears. PRECONDITION_FAILED for a site that does not exist."""
        changes = dict(filters)
        if "text" in changes:
            changes["text"] = (changes["text"] or "").strip()
        if "status" in changes:
            status = changes["status"] or []
            changes["status"] = [status] if isinstance(status, str) else status
        return await self.dom.command("setFilters", **changes)

    @action(
        "Clear every filter, so that all devices show", title="Reset the filters", effect="local-state", idempotent=True
    )
    async def reset(self) -> Filtered:
        """Show every device."""
        return await self.dom.command("reset")


class DeviceDetails(Row):
    """All that is known of one device."""

    site_name: str
    kind: str
    hostname: str
    serial: str
    note: Annotated[str | None, Field(description="Free text by technicians")]


class Reading(Wire):
    """One hourly measurement."""

    at: AwareDatetime
    temperature_c: float
    load_percent: int
    latency_ms: int


class DeviceEvent(Wire):
    """Something that happened to the device."""

    at: AwareDatetime
    kind: Literal["status", "firmware", "service"]
    text: str


class DeviceReport(Wire):
    """What the drawer shows, newest readings and events first."""

    device: DeviceDetails
    readings: list[Reading]
    events: list[DeviceEvent]


@component(
    "devices.drawer", title="Device details", description="The details of one device, while the person has them open"
)
class DeviceDrawer(DomComponent):
    """The drawer; a person opens it, so it is there only when they did."""

    @observation(
        "The device whose details are open: facts, technicians' note, last 24 hourly readings and history",
        title="Read the open device",
        untrusted_content=True,
    )
    def read(self) -> DeviceReport:
        """The drawer as the person sees it."""
        return self.dom.state()

    @action(
        "Close the details; these tools then leave until a person opens a device again",
        title="Close the details",
        effect="navigation",  # it ends the component that offers it, and still gets to answer
    )
    async def close(self) -> None:
        """Close the drawer, as its button does."""
        await self.dom.command("close")


def start(page: Page) -> None:
    """Offer the three components wherever the page's JavaScript mounts them."""
    for cls in (DevicesTable, DeviceFilters, DeviceDrawer):
        page.dom.attach(page.registry, cls)
