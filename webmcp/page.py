"""What runs when a page boots: the app module as a real module, its registry, its tools.

``static/boot.js`` calls `boot` once Python is up. An app module defines ``start(page)``, which may be async, or lists
``components = [...]``; ``registry_options`` may hold keywords for the `Registry`.
"""

from __future__ import annotations

import inspect
import json
import linecache
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from surface.contract.component import Component
from surface.errors import SurfaceDefinitionError
from surface.facade import Registry
from surface.values import Consumer
from webmcp.adapter import WebMCPAdapter
from webmcp.dom import Dom, DomComponent, dom

logger = logging.getLogger("webmcp")


class Page:
    """What an app's ``start(page)`` gets.

    ``registry`` was made with the app's ``registry_options``; ``dom`` attaches `DomComponent` classes; ``consumer`` is
    for calls that the page makes of its own; ``adapter`` is what `expose` made, None before.
    """

    def __init__(self, registry: Registry, dom: Dom, options: Mapping[str, Any]) -> None:
        self.registry = registry
        self.dom = dom
        self.consumer = Consumer("embedded", "page")
        self.adapter: WebMCPAdapter | None = None
        self._options = options
        self._on_ready: list[Callable[[], Any]] = []

    @property
    def document(self) -> Any:
        """The page's ``document``, a JavaScript object."""
        import js

        return js.document

    async def expose(self, **options: Any) -> WebMCPAdapter:
        """Show the registry to WebMCP agents; takes the options of `WebMCPAdapter`, by default those of the script tag.

        The boot calls this after ``start``, unless the app did. A second call replaces what the first one showed.
        """
        if self.adapter is not None:
            await self.adapter.stop()
        self.adapter = WebMCPAdapter(self.registry, **(options or self._options))
        await self.adapter.start()
        return self.adapter

    def on_ready(self, callback: Callable[[], Any]) -> None:
        """Call back, without arguments, when the page is ready; the callback may be async. It is logged if it fails."""
        self._on_ready.append(callback)

    def dispose(self) -> None:
        """End the surface: tools go, running calls settle CANCELLED."""
        self.registry.dispose()

    async def is_ready(self) -> None:
        """Run what waits for the page to be ready."""
        callbacks, self._on_ready = self._on_ready, []
        for callback in callbacks:
            try:
                await _finished(callback())
            except Exception:
                logger.exception("A callback given to on_ready failed")
        for type in self.dom.unattached():
            logger.warning("The page mounts %s, and no class is attached for it", type)


_current: Page | None = None


async def boot(source: str, url: str, options_text: str) -> str | None:
    """Run an app's source for the page; answers None, or what went wrong as a Python traceback.

    ``url`` names the module in tracebacks; ``options_text`` is JSON with options of `WebMCPAdapter`. After a failure
    nothing is left registered.
    """
    global _current
    dispose()
    page: Page | None = None
    try:
        module = load_app(source, url)
        page = _current = Page(Registry(**getattr(module, "registry_options", {})), dom, json.loads(options_text))
        await _start(module, page)
        if page.adapter is None:
            await page.expose()
        await page.is_ready()
    except BaseException as error:  # such as SystemExit or a cancellation, after which tools must not stay either
        if page is not None:
            page.dispose()
            page.dom.release()
        return _traceback(error, url)
    return None


def dispose() -> None:
    """End the page that was booted, if any. Repeatable."""
    global _current
    page, _current = _current, None
    if page is not None:
        page.dispose()
        page.dom.release()


def load_app(source: str, url: str) -> ModuleType:
    """Run ``source`` as a module named after the last part of ``url``, with its lines known to tracebacks."""
    module = ModuleType(_module_name(url))
    module.__file__ = url
    linecache.cache[url] = (len(source), None, source.splitlines(keepends=True), url)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, url, "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def _module_name(url: str) -> str:
    stem = PurePosixPath(unquote(urlsplit(url).path)).stem
    name = "".join(ch if ch.isidentifier() or ch.isdigit() else "_" for ch in stem) or "app"
    known = sys.modules.get(name)
    taken = name in sys.stdlib_module_names or (known is not None and getattr(known, "__file__", None) != url)
    return f"app_{name}" if taken or not name.isidentifier() else name


async def _start(module: ModuleType, page: Page) -> None:
    start, components = getattr(module, "start", None), getattr(module, "components", None)
    if components is None and not callable(start):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", "the app defines neither start(page) nor components = [...]", module.__name__
        )
    if not isinstance(components, (list, tuple, type(None))):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", f"components is a list, such as components = [{components!r}]", module.__name__
        )
    for component in components or ():
        _register(page, component)
    if callable(start):
        await _finished(start(page))


def _register(page: Page, component: Any) -> None:
    if isinstance(component, type) and issubclass(component, DomComponent):
        page.dom.attach(page.registry, component)
    elif isinstance(component, type) and isinstance(getattr(component, "contract", None), Component):
        page.registry.register(component())
    else:
        page.registry.register(component)


async def _finished(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _traceback(error: BaseException, url: str) -> str:
    """The traceback from the app's own first frame on; a syntax error has none and shows its line all the same."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != url:
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame)).rstrip()
