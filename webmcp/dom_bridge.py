"""The Python end of ``static/dom_bridge.js``: what goes over it, and how it is found in a page.

Mounts are numbers that JavaScript chooses, command runs are numbers that Python chooses; everything else is JSON text.
"""

from __future__ import annotations

from typing import Protocol

from webmcp.browser import Functions, published


class Bridge(Protocol):
    """The JavaScript side."""

    def open(self) -> None:
        """Begin to tell the listener, first of every mount so far, in order."""

    def state(self, mount: int) -> str:
        """The state of a mount; the empty text where it could not be read."""

    def command(self, call: int, mount: int, name: str, input_text: str) -> str:
        """Run a command: its outcome, or the empty text where the outcome comes later."""

    def cancel_command(self, call: int) -> None:
        """Abort the signal that a running command was given."""

    def release(self) -> None:
        """Let go of the page; nothing is called afterwards."""


class BridgeListener(Protocol):
    """What the JavaScript side calls. Nothing of it raises into the page."""

    def mounted(self, mount: int, type: str, instance: str, availability: str) -> None:
        """The page mounted a component."""

    def unmounted(self, mount: int) -> None:
        """The page, or the end of its element, unmounted a component."""

    def changed(self, mount: int, availability: str) -> None:
        """State or availability of a mounted component moved."""

    def command_done(self, call: int, outcome: str) -> None:
        """A command that had to wait is done."""


class PageBridge:
    """The `Bridge` of a page: its methods are looked up once, since each look-up makes a proxy."""

    def __init__(self, listener: BridgeListener) -> None:
        bridge = published("webmcp-surface.dom")
        if bridge is None:
            raise RuntimeError("Nothing can be attached here: this is no page that has loaded surface.js")
        self.state = bridge.state
        self.command = bridge.command
        self.cancel_command = bridge.cancelCommand
        self._connect = bridge.connect
        self._disconnect = bridge.disconnect
        self._functions = Functions(listener.mounted, listener.unmounted, listener.changed, listener.command_done)

    def open(self) -> None:
        """`Bridge.open`."""
        self._connect(*self._functions.proxies)

    def release(self) -> None:
        """`Bridge.release`."""
        self._disconnect()
        self._functions.release()
