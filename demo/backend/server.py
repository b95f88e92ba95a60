"""The demo's server: the page, its files, the runtime bundle and the API, on loopback by default."""

from __future__ import annotations

import argparse
import errno
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from demo.backend.api import API
from demo.backend.errors import HANDLERS, ApiError
from demo.backend.security import SecurityHeaders
from demo.backend.store import Store, StoreError
from surface.cli.static import BundleFiles

DEMO = Path(__file__).resolve().parents[1]
REPOSITORY = DEMO.parent
DEFAULT_DATABASE = REPOSITORY / ".cache" / "demo" / "devices.sqlite3"
DEFAULT_PORT = 8800


class Refusal(Exception):
    """Why the server cannot start, in one sentence for the terminal."""


def create_app(database: Path, *, runtime: Path | None = None) -> ASGIApp:
    """The whole site over the SQLite file ``database``, which is created and seeded if it is new.

    ``runtime`` is a folder made by ``surface bundle``; without it the page works and its agent surface does not.
    Raises :class:`demo.backend.store.StoreError` where the file cannot be used.
    """
    store = Store(database)
    store.open()
    routes: list[BaseRoute] = [
        API,
        Route("/app.py", BundleFiles(DEMO)),
        Mount("/static", BundleFiles(REPOSITORY / "static")),
        Mount("/runtime", BundleFiles(runtime)) if runtime else Route("/runtime/{path:path}", _no_runtime),
        Mount("/", BundleFiles(DEMO / "page")),
    ]
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    app.state.store = store
    return SecurityHeaders(app)


async def _no_runtime(request: Request) -> Response:
    raise ApiError(404, "NO_RUNTIME", "This server was started without --runtime; make one with `surface bundle`.")


class Server(uvicorn.Server):
    """uvicorn, saying where it listens once it really does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then print the one line a person or a script waits for."""
        await super().startup(sockets=sockets)
        if self.started:
            assert sockets is not None
            print(f"Devices demo: {address(sockets[0])}", flush=True)


def address(listening: socket.socket) -> str:
    """The address of a listening socket as one would open it in a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to ``host`` and ``port`` (0: any free one). Raises :class:`Refusal`."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (socket.gaierror, UnicodeError) as error:
        raise Refusal(f"{host!r} is no address of this machine; try --host 127.0.0.1.") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
        bound.listen(512)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise Refusal(f"Port {port} on {host} is in use; choose another with --port, or --port 0.") from error
        raise Refusal(f"Cannot listen on {host} port {port}: {error.strerror}.") from error
    return bound


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m demo.backend [--host H] [--port N] [--runtime DIR] [--db FILE]``; returns the exit code.

    Prints one line with the address when it listens. What keeps it from starting is one sentence on stderr, and 2.
    """
    options = _options(argv)
    try:
        if options.runtime is not None and not (options.runtime / "bundle.json").is_file():
            raise Refusal(f"{options.runtime} is no runtime bundle; make one with `surface bundle {options.runtime}`.")
        # The port first: who starts the demo twice should not have touched the other one's database.
        with listen(options.host, options.port) as bound:
            app = create_app(options.db, runtime=options.runtime)
            server = Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
            server.run(sockets=[bound])
    except (Refusal, StoreError) as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo.backend", description="Serve the devices demo.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="0 takes any free one (default: %(default)s)")
    parser.add_argument(
        "--runtime", type=Path, default=os.environ.get("DEMO_RUNTIME") or None, help="bundle folder (or DEMO_RUNTIME)"
    )
    parser.add_argument("--db", type=Path, default=DEFAULT_DATABASE, help="SQLite file, made on the first start")
    return parser.parse_args(argv)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 0 to 65535")
    return int(text)
