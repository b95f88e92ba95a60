"""A Python capability surface in a web page: the WebMCP adapter, the page's boot, the DOM bridge.

Everything here can be imported outside a page; what needs one imports ``js`` and ``pyodide`` when it is called.
"""

from webmcp.adapter import WebMCPAdapter, expose
from webmcp.page import Page

__all__ = ["Page", "WebMCPAdapter", "expose"]
