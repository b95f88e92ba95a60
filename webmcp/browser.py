"""How Python finds the JavaScript half of this library in the page it runs in, and hands functions over to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib import resources
from typing import Any

from webmcp.model_context import ModelContext, RemoteListener

logger = logging.getLogger("webmcp")

_MODEL_CONTEXT = "webmcp-surface.model-context"


async def find_model_context() -> ModelContext | None:
    """A `ModelContext` on the browser's model context, or None where there is none: another browser, no page at all.

    Uses the JavaScript module that the page has loaded; where it has loaded none (bare Pyodide, a notebook), it is
    loaded from this package's own data.
    """
    try:
        import js
    except ImportError:
        return None
    if not hasattr(js, "document"):
        return None
    module = published(_MODEL_CONTEXT) or await _load_model_context()
    found = module.findModelContext() if module else None
    if not found:
        return None
    return ModelContext(lambda listener: _PageEnd(module, found, listener))


def published(name: str) -> Any:
    """What the JavaScript half has left under a registered symbol of the global object; None, too, outside a page."""
    try:
        import js
    except ImportError:
        return None
    return js.Reflect.get(js.globalThis, getattr(js.Symbol, "for")(name))


class Functions:
    """Python functions that JavaScript may call until `release`; every proxy made is destroyed there."""

    def __init__(self, *functions: Callable[..., Any]) -> None:
        from pyodide.ffi import create_proxy

        self.proxies = [create_proxy(function) for function in functions]

    def release(self) -> None:
        """Destroy the proxies. Repeatable."""
        proxies, self.proxies = self.proxies, []
        for proxy in proxies:
            proxy.destroy()


class _PageEnd:
    """The `RemoteEnd` of a page: its methods are looked up once, since each look-up makes a proxy."""

    def __init__(self, module: Any, context: Any, listener: RemoteListener) -> None:
        functions = Functions(listener.run, listener.cancel, listener.refused)
        end = module.RemoteEnd.new(context, *functions.proxies)
        self.register = end.register
        self.remove = end.remove
        self.settle = end.settle
        self.list = end.list
        self.release = functions.release


async def _load_model_context() -> Any:
    """Load the module from the package's data, by a script element: no text is evaluated."""
    import js
    from pyodide.ffi import JsException, to_js

    source = _source()
    loaded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    events = Functions(lambda event: loaded.set_result(True), lambda event: loaded.set_result(False))
    address = js.URL.createObjectURL(js.Blob.new(to_js([source]), type="text/javascript"))
    script = js.document.createElement("script")
    try:
        script.type = "module"
        script.addEventListener("load", events.proxies[0])
        script.addEventListener("error", events.proxies[1])
        script.src = address
        js.document.head.append(script)
        done = await loaded
    except JsException:  # such as by Trusted Types
        done = False
    finally:
        events.release()
        script.remove()
        js.URL.revokeObjectURL(address)
    if not done:
        logger.warning("The page's content security policy keeps model_context.js out; load it by a script tag.")
        return None
    return published(_MODEL_CONTEXT)


def _source() -> str:
    """The text of ``model_context.js``: package data of an installation, or the static folder of a checkout."""
    package = resources.files("webmcp")
    installed = package / "static" / "model_context.js"
    return (installed if installed.is_file() else package / ".." / "static" / "model_context.js").read_text("utf-8")
