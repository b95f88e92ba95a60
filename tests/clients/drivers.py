"""Three WebMCP clients that nobody here wrote, behind the few things a test asks of one.

What each needs to be pointed at a page of yours:

* **Playwright for Python**, 1.64 or newer: ``page.webmcp`` needs nothing but a browser with WebMCP.
* **chrome-devtools-mcp**, 1.11: ``--categoryExperimentalWebmcp``, and the browser's own flag by ``--chromeArg``. Its
  tools take a ``pageId`` (1 is the first page); a tool's input is text. It marks no failed WebMCP call as an error:
  what the page's tool answered, ``isError`` included, is the ``output`` in its answer.
* **@playwright/mcp**, 0.0.83: WebMCP is on by default, the browser's flag goes into ``launchOptions`` of ``--config``.
  Each tool of the page becomes a tool ``webmcp_…`` of the server. The server looks for them when it takes a snapshot
  of the page, which most of its tools do, and announces a changed tool list. A failed call is an MCP error whose text
  holds the page's answer.

All three are told not to send usage statistics, not to look for updates, and to keep profiles and output in memory or
in a temporary folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.async_api import Page, async_playwright

from demo.agent.browser import CHROMIUM_ARGS
from demo.process import ROOT

NODE_BIN = ROOT / "node_modules" / ".bin"


@dataclass(frozen=True)
class Answer:
    """What the page's tool answered, as this client hands it on: its decoded text, and whether it is an error."""

    error: bool
    value: Any


class Client(Protocol):
    """One client on one page."""

    async def tools(self) -> list[str]:
        """The names of the page's tools, sorted."""

    async def call(self, tool: str, given: dict[str, Any]) -> Answer:
        """Calls one of them."""

    async def evaluate(self, function: str) -> Any:
        """What a JavaScript function says of the page's document."""

    async def click(self, selector: str) -> None:
        """Clicks as a person would, as far as the client can."""

    async def console_errors(self) -> list[str]:
        """What the page wrote to the console as an error."""

    async def requests(self) -> list[str]:
        """The addresses the page has asked."""


@asynccontextmanager
async def playwright_python(chromium: str, address: str, folder: Path) -> AsyncIterator[Client]:
    """Playwright for Python and its ``page.webmcp``."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        page = await browser.new_page()
        client = PlaywrightPython(page)
        await page.goto(address)
        yield client
        await browser.close()


class PlaywrightPython:
    """``page.webmcp.tools()`` and ``page.webmcp.call_tool(name, input)``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._errors: list[str] = []
        self._requests: list[str] = []
        page.on("console", lambda message: self._errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        page.on("request", lambda request: self._requests.append(request.url))

    async def tools(self) -> list[str]:
        return sorted(tool["name"] for tool in await self.page.webmcp.tools())

    async def call(self, tool: str, given: dict[str, Any]) -> Answer:
        return _answer(await self.page.webmcp.call_tool(tool, given))

    async def evaluate(self, function: str) -> Any:
        return await self.page.evaluate(function)

    async def click(self, selector: str) -> None:
        await self.page.locator(selector).click()

    async def console_errors(self) -> list[str]:
        return self._errors

    async def requests(self) -> list[str]:
        return self._requests


@asynccontextmanager
async def chrome_devtools_mcp(chromium: str, address: str, folder: Path) -> AsyncIterator[Client]:
    """chrome-devtools-mcp over stdio."""
    options = [
        *("--headless", "--isolated", "--executablePath", chromium),
        *("--categoryExperimentalWebmcp", "--experimentalStructuredContent"),
        *("--no-usage-statistics", "--no-performance-crux"),
        *(f"--chromeArg={argument}" for argument in CHROMIUM_ARGS),
    ]
    no_updates = {"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"}
    async with _session(NODE_BIN / "chrome-devtools-mcp", options, no_updates, folder) as session:
        client = ChromeDevtoolsMcp(session)
        await client.ask("navigate_page", type="url", url=address)
        yield client


class ChromeDevtoolsMcp:
    """``list_webmcp_tools`` and ``execute_webmcp_tool``."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls one of the server's own tools on the first page."""
        result = await self.session.call_tool(tool, {"pageId": 1, **arguments})
        assert not result.is_error, _text(result)
        return dict(result.structured_content or {})

    async def tools(self) -> list[str]:
        return sorted(tool["name"] for tool in (await self.ask("list_webmcp_tools")).get("webmcpTools", []))

    async def call(self, tool: str, given: dict[str, Any]) -> Answer:
        answer = json.loads((await self.ask("execute_webmcp_tool", toolName=tool, input=json.dumps(given)))["message"])
        assert answer["status"] == "Completed", answer
        return _answer(answer["output"])

    async def evaluate(self, function: str) -> Any:
        return _json_within((await self.ask("evaluate_script", function=function))["message"])

    async def click(self, selector: str) -> None:
        name = await self.evaluate(f"() => document.querySelector({json.dumps(selector)}).innerText")
        uid = _find_uid((await self.ask("take_snapshot"))["snapshot"], "button", name)
        await self.ask("click", uid=uid)

    async def console_errors(self) -> list[str]:
        messages = (await self.ask("list_console_messages")).get("consoleMessages", [])
        return [str(message) for message in messages if message["type"] == "error"]

    async def requests(self) -> list[str]:
        return [request["url"] for request in (await self.ask("list_network_requests"))["networkRequests"]]


@asynccontextmanager
async def playwright_mcp(chromium: str, address: str, folder: Path) -> AsyncIterator[Client]:
    """@playwright/mcp over stdio."""
    config = folder / "playwright-mcp.json"
    launch = {"executablePath": chromium, "headless": True, "args": CHROMIUM_ARGS}
    config.write_text(json.dumps({"browser": {"browserName": "chromium", "isolated": True, "launchOptions": launch}}))
    options = ["--config", str(config), "--output-dir", str(folder)]
    async with _session(NODE_BIN / "playwright-mcp", options, {}, folder) as session:
        client = PlaywrightMcp(session)
        await client.ask("browser_navigate", url=address)
        yield client


class PlaywrightMcp:
    """One ``webmcp_…`` tool of the server for each tool of the page."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def ask(self, tool: str, **arguments: Any) -> str:
        """Calls one of the server's own tools."""
        result = await self.session.call_tool(tool, arguments)
        assert not result.is_error, _text(result)
        return _text(result)

    async def tools(self) -> list[str]:
        # The list is as of the server's last snapshot of the page.
        await self.ask("browser_snapshot")
        listed = (await self.session.list_tools()).tools
        return sorted(tool.name.removeprefix("webmcp_") for tool in listed if tool.name.startswith("webmcp_"))

    async def call(self, tool: str, given: dict[str, Any]) -> Answer:
        result = await self.session.call_tool(f"webmcp_{tool}", given)
        answer = _answer(_json_within(_text(result)))
        assert result.is_error == answer.error
        return answer

    async def evaluate(self, function: str) -> Any:
        return _json_within(await self.ask("browser_evaluate", function=function))

    async def click(self, selector: str) -> None:
        await self.ask("browser_click", element=selector, target=selector)

    async def console_errors(self) -> list[str]:
        text = await self.ask("browser_console_messages", level="error")
        return [] if "Errors: 0," in text else [text]

    async def requests(self) -> list[str]:
        text = await self.ask("browser_network_requests", static=True)
        return [word for word in text.split() if word.startswith(("http:", "https:", "ws:", "wss:"))]


CLIENTS = {
    "playwright-python": playwright_python,
    "chrome-devtools-mcp": chrome_devtools_mcp,
    "playwright-mcp": playwright_mcp,
}


@asynccontextmanager
async def _session(
    command: Path, options: list[str], env: dict[str, str], folder: Path
) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(command=str(command), args=options, env=env, cwd=folder)
    async with (
        stdio_client(parameters) as (reading, writing),
        ClientSession(reading, writing, read_timeout_seconds=60) as session,
    ):
        await session.initialize()
        yield session


def _answer(envelope: dict[str, Any]) -> Answer:
    """Takes the result envelope apart. Where it carries structured content, that says the same as the text."""
    [part] = envelope["content"]
    value = json.loads(part["text"])
    error = envelope.get("isError", False)
    assert envelope.get("structuredContent", value) == ({"error": value} if error else value)
    return Answer(error, value)


def _text(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def _json_within(text: str) -> Any:
    """The first JSON value that begins a line; a client wraps it in a sentence or two."""
    for start in re.finditer(r"^", text, re.MULTILINE):
        with suppress(ValueError):
            return json.JSONDecoder().raw_decode(text, start.start())[0]
    raise AssertionError(f"no JSON in {text!r}")


def _find_uid(node: dict[str, Any], role: str, name: str) -> str:
    """The id of the element with this role and name in an accessibility snapshot."""
    if node.get("role") == role and node.get("name") == name:
        return str(node["id"])
    for child in node.get("children", []):
        if found := _find_uid(child, role, name):
            return found
    return ""
