"""The page in headless Chromium: its native tools as an agent has them, its content as a person sees it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from demo.agent.transcript import Mismatch, Transcript

CHROMIUM_ARGS = (
    "--enable-features=WebMCP",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What the page would ask of any other host fails, whatever the network of the machine would have answered.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
BOOT_SECONDS = 120
LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")

LIST = "async () => (await document.modelContext.getTools()).map(({name, description}) => ({name, description}))"
FIND = "async (name) => (await document.modelContext.getTools()).find((tool) => tool.name === name)"
EXECUTE = "([tool, input]) => document.modelContext.executeTool(tool, input)"

# Read from the document alone: what is shown, marked and written there.
SEE = """() => {
  const shown = (element) => Boolean(element?.checkVisibility({visibilityProperty: true}));
  const sorted = document.querySelector("th[aria-sort]");
  const drawer = document.querySelector("#drawer");
  return {
    rows: [...document.querySelectorAll("#devices-body tr[data-device-id]")].map((row) => ({
      id: row.dataset.deviceId,
      selected: row.getAttribute("aria-selected") === "true" && row.querySelector("input[type=checkbox]").checked,
      status: row.querySelector("[data-status]").dataset.status,
      site: row.querySelector(".cell-site .muted").textContent,
    })),
    sort: sorted && {column: sorted.querySelector("button").dataset.column, direction: sorted.ariaSort},
    count: document.querySelector("#visible-count").innerText,
    selection: shown(document.querySelector("#selection")) ? document.querySelector("#selection-count").innerText : "",
    search: document.querySelector("#filter-text").value,
    drawer: shown(drawer) ? drawer.innerText : null,
  };
}"""


@dataclass(frozen=True)
class Answer:
    """The result envelope of one call: the decoded text, and whether it is an error."""

    error: bool
    value: Any


@dataclass(frozen=True)
class Seen:
    """What the page shows at one moment."""

    rows: list[dict[str, Any]]
    sort: dict[str, str]
    count: str
    selection: str
    search: str
    drawer: str | None

    @property
    def ids(self) -> list[str]:
        """The ids of the rows, in their order."""
        return [row["id"] for row in self.rows]

    @property
    def selected(self) -> list[str]:
        """The ids of the rows that are marked and ticked."""
        return [row["id"] for row in self.rows if row["selected"]]


class Agent:
    """Native calls and looks, each noted in the transcript."""

    def __init__(self, page: Page, transcript: Transcript) -> None:
        self.page = page
        self.transcript = transcript

    def tools(self) -> list[str]:
        """The names of the tools, sorted."""
        return sorted(tool["name"] for tool in self.page.evaluate(LIST))

    def wait_for_tools(self, expected: list[str], seconds: float = 30) -> list[str]:
        """The tools once they are these. Raises ``Mismatch`` where they do not become so."""
        deadline = time.monotonic() + seconds
        while (found := self.tools()) != sorted(expected):
            if time.monotonic() > deadline:
                missing = sorted({*expected} - {*found})
                raise Mismatch(
                    f"after {seconds:.0f} s tools are missing: {missing}; others: {sorted({*found} - {*expected})}"
                )
            self.page.wait_for_timeout(50)
        return found

    def call(self, tool: str, given: object = None) -> Answer:
        """Calls a tool by the browser's own ``executeTool``."""
        given = {} if given is None else given
        self.transcript.called(tool, given)
        entry = self.page.evaluate_handle(FIND, tool)
        if not entry.evaluate("Boolean"):
            raise Mismatch(f"there is no tool {tool}")
        envelope = json.loads(self.page.evaluate(EXECUTE, [entry, given]))
        text = envelope["content"][0]["text"]
        answer = Answer(envelope.get("isError", False), json.loads(text))
        self.transcript.answered(answer.error, _error_in_words(answer.value) if answer.error else text)
        return answer

    def see(self) -> Seen:
        """Looks at the page."""
        return Seen(**self.page.evaluate(SEE))

    def open_page(self, address: str) -> None:
        """Opens the page and waits until its tools are served by Python."""
        self.page.goto(address)
        self.page.wait_for_selector(
            "html:is([data-agent-surface=ready], [data-agent-surface=failed])",
            state="attached",
            timeout=BOOT_SECONDS * 1000,
        )
        state = self.page.evaluate("document.documentElement.dataset.agentSurface")
        if state != "ready":
            raise Mismatch("the agent surface says that it failed to start; the console stands at the end")


class Watch:
    """Notes what must not happen while the agent plays."""

    def __init__(self, context: BrowserContext) -> None:
        self.problems: list[str] = []
        context.on("console", lambda message: self._note("console error", message.text, message.type == "error"))
        context.on("weberror", lambda error: self._note("uncaught", str(error.error)))
        context.on("request", lambda request: self._note("request to", request.url, not _is_local(request.url)))

    def _note(self, what: str, text: str, bad: bool = True) -> None:
        if bad:
            self.problems.append(f"{what}: {text}")


@contextmanager
def chromium(executable: str, transcript: Transcript) -> Iterator[tuple[Agent, Watch]]:
    """A fresh headless Chromium with WebMCP, and a watch on all that its pages do."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)
        except BrowserError as error:
            raise SystemExit(f"{executable} could not be started as a browser: {str(error).splitlines()[0]}") from error
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            watch = Watch(context)
            yield Agent(context.new_page(), transcript), watch
        finally:
            browser.close()


def _error_in_words(error: dict[str, Any]) -> str:
    issues = [f"{issue['path']}: {issue['message']}" for issue in error["details"].get("issues", [])]
    return f"{error['code']}: {'; '.join(issues) or error['message']}"


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("http", "https", "ws", "wss") or bool(LOOPBACK.fullmatch(parts.hostname or ""))
