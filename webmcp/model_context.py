"""The Python handle on ``static/model_context.js``: the browser's model context, whatever its generation.

Between Python and JavaScript go numbers and texts; three functions are handed over once per `ModelContext`, so that
neither a registration nor a call makes a proxy. ``js`` and ``pyodide`` are imported inside functions only.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from surface.invocation.start import start
from surface.values import CancelSignal, InvocationError
from webmcp.envelope import error_text

if TYPE_CHECKING:
    from surface.invocation.start import Started

logger = logging.getLogger("webmcp")

Call = Callable[[str, CancelSignal], Coroutine[Any, Any, str]]
Refused = Callable[["Handle", str], object]


class RemoteEnd(Protocol):
    """The JavaScript side of a `ModelContext`; tools and waiting calls are numbers that Python chooses."""

    def register(self, tool: int, definition_text: str, options_text: str) -> None:
        """Show a tool."""

    def remove(self, tool: int) -> None:
        """Take a tool back."""

    def settle(self, call: int, text: str) -> None:
        """Answer a call that had to wait, with the text of its envelope."""

    def list(self) -> str:
        """The definitions of the tools shown, as JSON text."""

    def release(self) -> None:
        """Destroy what was made for this end; nothing is called on it afterwards."""


class RemoteListener(Protocol):
    """What the JavaScript side calls."""

    def run(self, tool: int, text: str) -> str | int:
        """Run a tool: the text of its envelope, or the number of the call where it has to wait."""

    def cancel(self, call: int) -> None:
        """The caller of a waiting call has given up."""

    def refused(self, tool: int, why: str) -> None:
        """The browser did not take a tool."""


class Handle:
    """One registration of one tool; what `ModelContext.remove` takes."""

    __slots__ = ("call", "id", "name", "on_refused")

    def __init__(self, id: int, name: str, call: Call, on_refused: Refused | None) -> None:
        self.id, self.name, self.call, self.on_refused = id, name, call, on_refused


class ModelContext:
    """The tools that one owner shows to the browser. Get it from `find_model_context`.

    The ``call(input_text, cancel)`` of a registration is a coroutine function that answers with the text of a result
    envelope; where it does not wait, the event loop is never touched.
    """

    def __init__(self, connect: Callable[[RemoteListener], RemoteEnd]) -> None:
        self._handles: dict[int, Handle] = {}
        self._waiting: dict[int, tuple[Started[str], CancelSignal]] = {}
        self._numbers = count(1)
        self._entered = 0
        self._closed = False
        self._end = connect(self)

    def list(self) -> list[dict[str, Any]]:
        """The definitions of the tools that this page shows through the library, whoever registered them."""
        tools: list[dict[str, Any]] = json.loads(self._end.list())
        return tools

    def register(
        self,
        definition: Mapping[str, Any],
        call: Call,
        *,
        exposed_to: Sequence[str] = (),
        on_refused: Refused | None = None,
    ) -> Handle:
        """Show a tool: ``definition`` is ``{name, title, description, inputSchema, annotations}``, plain JSON.

        Raises nothing on a refusal, such as for a name that somebody else has taken: ``on_refused(handle, why)`` is
        called on a later turn of the event loop.
        """
        handle = Handle(next(self._numbers), definition["name"], call, on_refused)
        self._handles[handle.id] = handle
        options = {"exposedTo": list(exposed_to)} if exposed_to else {}
        self._end.register(handle.id, json.dumps(definition), json.dumps(options))
        return handle

    def remove(self, handle: Handle) -> None:
        """Take a tool back; running calls still get their answer. Repeatable."""
        if self._handles.pop(handle.id, None) is not None:
            self._end.remove(handle.id)

    def close(self, *, cancel: bool = True) -> None:
        """Take every tool back and cancel what is running; all of it is still answered. Repeatable.

        Without ``cancel`` running calls are left to whoever ends them, such as a registry that is being disposed.
        """
        if self._closed:
            return
        self._closed = True
        for handle in tuple(self._handles.values()):
            self.remove(handle)
        if cancel:
            for _, signal in tuple(self._waiting.values()):
                signal.cancel("stopped")
        self._release_if_idle()

    def run(self, tool: int, text: str) -> str | int:
        """`RemoteListener.run`."""
        handle = self._handles[tool]
        cancel = CancelSignal()
        self._entered += 1
        try:
            running = start(handle.call(text, cancel))
        except BaseException as error:  # such as SystemExit, which a task lets through
            return _failed(handle.name, error)
        finally:
            self._entered -= 1
        if running.done():
            self._release_if_idle()
            return _outcome(handle.name, running)
        number = next(self._numbers)
        self._waiting[number] = (running, cancel)
        running.add_done_callback(partial(self._finished, number, handle.name))
        if self._closed:  # by the handler itself, in its first step
            cancel.cancel("stopped")
        return number

    def cancel(self, call: int) -> None:
        """`RemoteListener.cancel`."""
        if call in self._waiting:
            self._waiting[call][1].cancel("the caller gave up")

    def refused(self, tool: int, why: str) -> None:
        """`RemoteListener.refused`."""
        handle = self._handles.pop(tool, None)
        if handle is not None and handle.on_refused is not None:
            handle.on_refused(handle, why)

    def _finished(self, call: int, name: str, running: Started[str]) -> None:
        del self._waiting[call]
        try:
            self._end.settle(call, _outcome(name, running))
        finally:
            self._release_if_idle()

    def _release_if_idle(self) -> None:
        if not self._closed or self._waiting or self._entered:
            return
        try:
            # On a later turn: JavaScript may be inside one of the functions that will be destroyed.
            asyncio.get_running_loop().call_soon(self._end.release)
        except RuntimeError:
            self._end.release()


def _outcome(name: str, running: Started[str]) -> str:
    try:
        return running.result()
    except asyncio.CancelledError:  # somebody cancelled every task of the page
        return error_text(InvocationError.of("CANCELLED", retry="no"))
    except BaseException as error:  # not only Exception: whatever ended the task, the browser gets its answer
        return _failed(name, error)


def _failed(name: str, error: BaseException) -> str:
    logger.error("The tool %s could not be answered", name, exc_info=error)
    details = {"reason": "transport", "transient": False}
    return error_text(InvocationError("EXECUTION_FAILED", "The page could not run this tool.", "no", details))
