"""A small component family that several unit tests use."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from surface import ActionContext, Concurrency, PreconditionFailed, ReadContext, action, component, observation


class TableState(BaseModel):
    visible_rows: list[str] = Field(alias="visibleRows")
    selected_ids: list[str] = Field(default=[], alias="selectedIds")


@component("devices.table", description="Devices that match the active filters", tags=["devices"])
class DevicesTable:
    """A table with rows d1 and d2; ``gate`` holds back `hold`."""

    def __init__(self) -> None:
        self.rows = ["d1", "d2"]
        self.selected: list[str] = []
        self.loaded = True
        self.running = 0
        self.gate: asyncio.Event | None = None
        self.contexts: list[ReadContext] = []
        self.log: list[str] = []

    @observation("Visible rows, selection and sorting", untrusted_content=True)
    def read_state(self, *, ctx: ReadContext) -> TableState:
        self.contexts.append(ctx)
        return TableState(visibleRows=self.rows, selectedIds=self.selected)

    @action(
        "Replace, extend or reduce the row selection",
        effect="local-state",
        idempotent=True,
        when=lambda self: self.loaded,
        unavailable_reason="Rows are still loading",
    )
    async def select_rows(
        self,
        ids: Annotated[list[str], Field(min_length=1)],
        mode: Literal["replace", "add", "remove"] = "replace",
        *,
        ctx: ActionContext,
    ) -> None:
        unknown = [one for one in ids if one not in self.rows]
        if unknown:
            raise PreconditionFailed("These rows are not visible", unknown=unknown)
        self.contexts.append(ctx)
        self.selected = list(ids) if mode == "replace" else self.selected + ids

    @action("Wait until the test lets go", effect="local-state", timeout=3.0)
    async def hold(self, label: str = "one", *, ctx: ActionContext) -> str:
        self.running += 1
        self.log.append(f"start {label}")
        try:
            ctx.progress(1, 2, "half")
            assert self.gate is not None
            await self.gate.wait()
        except asyncio.CancelledError:
            self.log.append(f"cancelled {label}: {ctx.signal.reason}")
            raise
        finally:
            self.running -= 1
        return label

    @action("Run without waiting", effect="local-state", concurrency=Concurrency.parallel(max=2))
    def poke(self) -> int:
        return len(self.rows)

    @action("Fail in one of many ways", effect="local-state")
    def fail(self, how: str) -> int:
        raise {"secret": RuntimeError("the password is hunter2"), "type": TypeError("x")}[how]
