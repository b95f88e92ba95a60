"""``surface serve``: the development server for a bundle, a page, or any folder."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from pathlib import Path

from surface.cli.failure import CommandError


def serve_folder(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    csp: bool = False,
    verbose: bool = False,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve the folder until interrupted. ``started`` gets the address once connections are accepted.

    Raises ``CommandError`` for a folder that does not exist and for an address that cannot be had.
    """
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount

    from surface.cli.static import STRICT_CSP, BundleFiles

    if not folder.is_dir():
        raise CommandError(f"The folder {folder} does not exist; name the folder to serve.")
    app = Starlette(routes=[Mount("/", app=BundleFiles(folder, csp=STRICT_CSP if csp else None))])
    with listen(host, port) as listening:
        config = uvicorn.Config(
            app, log_level="info" if verbose else "warning", access_log=verbose, server_header=False, lifespan="off"
        )
        started(address(listening))
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            return


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections at this address; port 0 takes a free one. Raises ``CommandError``."""
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise CommandError(f"{host} is not an address of this machine; try --host 127.0.0.1.") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(target)
        listening.listen(128)
    except OSError as problem:
        listening.close()
        raise CommandError(_why(problem, host, port)) from None
    return listening


def _why(problem: OSError, host: str, port: int) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"Port {port} is in use by another program; choose another with --port, or --port 0 for any free one."
    if problem.errno in {errno.EACCES, errno.EPERM}:
        return f"This user may not listen on port {port}; choose one above 1023 with --port."
    if problem.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine; try --host 127.0.0.1."
    return f"{host}:{port} cannot be listened on: {problem.strerror or problem}."


def address(listening: socket.socket) -> str:
    """The URL at which a listening socket is reached, such as ``http://127.0.0.1:8000/``."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
