"""Static files as a page with Python in it needs them: an ASGI app for a bundle, or any folder.

>>> from starlette.applications import Starlette
>>> from starlette.routing import Mount
>>> Starlette(routes=[Mount("/runtime", app=BundleFiles("runtime")), Mount("/", app=BundleFiles("page"))])
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Fixed here rather than asked of the system: a browser refuses a module or a streamed WebAssembly of another type.
MEDIA_TYPES = {
    ".avif": "image/avif",
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}

# What a page with Python in it can live with, and no more: WebAssembly may be compiled, text may not be run, and
# nothing may be fetched from elsewhere.
STRICT_CSP = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
        "require-trusted-types-for 'script'",
    )
)

_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
# Shortest digest in a query (?v=…) that counts as naming the content: 32 bits.
_SHORTEST_VERSION = 8
_YEAR = 31_536_000


class BundleFiles:
    """An ASGI app that serves the files of one folder for GET and HEAD, and nothing outside it.

    * ``index.html`` stands for its folder; hidden files (a name with a dot in front, ``.well-known`` apart) are not
      served, and neither is what a symbolic link reaches outside the folder.
    * ``name.br`` or ``name.gz`` beside a file, unless older than it, is sent where ``Accept-Encoding`` allows.
    * The ``ETag`` is the content's SHA-256, so a file that was copied or made again stays cached. A browser asks
      again each time, and gets 304, unless the address carries the digest itself: ``surface.js?v=SHA256`` (at least
      8 digits of it) may be kept for a year.
    * ``Range`` is answered on the uncompressed file.

    ``csp`` is sent as ``Content-Security-Policy`` with every answer; ``STRICT_CSP`` is a good one.
    Raises ``NotADirectoryError`` where the folder is none.
    """

    def __init__(self, directory: str | os.PathLike[str], *, csp: str | None = None) -> None:
        self.directory = Path(directory).resolve()
        self.csp = csp
        self._digests: dict[Path, tuple[int, int, str]] = {}
        if not self.directory.is_dir():
            raise NotADirectoryError(f"{directory} is not a folder")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        from starlette.concurrency import run_in_threadpool

        response = await run_in_threadpool(self._answer, scope)
        response.headers["X-Content-Type-Options"] = "nosniff"
        if self.csp is not None:
            response.headers["Content-Security-Policy"] = self.csp
        await response(scope, receive, send)

    def _answer(self, scope: Scope) -> Any:
        from starlette.datastructures import Headers
        from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response

        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("Method Not Allowed", 405, {"Allow": "GET, HEAD"})
        path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
        file = self.find(path)
        if file is None:
            return PlainTextResponse("Not Found", 404, {"Cache-Control": "no-store"})
        if file.is_dir():
            # A page's relative addresses need the slash. The address is relative too, so no proxy can make it wrong.
            query = scope.get("query_string", b"").decode("latin-1")
            return RedirectResponse(f"{quote(path.rpartition('/')[2])}/{'?' + query if query else ''}", 307)

        request = Headers(scope=scope)
        digest = self._digest(file)
        wanted, encoding = file, None
        if "range" not in request:
            wanted, encoding = self._variant(file, request.getlist("accept-encoding"))
        headers = {
            "Cache-Control": _cache_control(digest, scope.get("query_string", b"")),
            "ETag": f'"{digest}-{encoding}"' if encoding else f'"{digest}"',
            "Vary": "Accept-Encoding",
        }
        if _unchanged(headers["ETag"], request.getlist("if-none-match")):
            return Response(status_code=304, headers=headers)
        if encoding:
            headers["Content-Encoding"] = encoding
        return FileResponse(wanted, headers=headers, media_type=media_type(file), stat_result=wanted.stat())

    def find(self, path: str) -> Path | None:
        """The file that a decoded path such as ``/a/b.js`` stands for; a folder where the path lacks its slash at the
        end; None where there is nothing to serve."""
        parts = path.split("/")[1:] if path.startswith("/") else path.split("/")
        wants_folder = parts[-1] == ""
        if wants_folder:
            parts.pop()
        if any(_is_refused(part) for part in parts):
            return None
        try:
            found = self.directory.joinpath(*parts).resolve(strict=True)
            if not found.is_relative_to(self.directory):
                return None
            mode = found.stat().st_mode
            if stat.S_ISDIR(mode):
                index = found / "index.html"
                if not index.is_file():
                    return None
                return index if wants_folder else found
        except (OSError, ValueError):
            return None
        return found if stat.S_ISREG(mode) and not wants_folder else None

    def _digest(self, file: Path) -> str:
        facts = file.stat()
        known = self._digests.get(file)
        if known is not None and known[:2] == (facts.st_mtime_ns, facts.st_size):
            return known[2]
        with open(file, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        self._digests[file] = (facts.st_mtime_ns, facts.st_size, digest)
        return digest

    def _variant(self, file: Path, accepted: Iterable[str]) -> tuple[Path, str | None]:
        allowed = _accepted(",".join(accepted))
        made = file.stat().st_mtime_ns
        for encoding, suffix in _ENCODINGS:
            variant = file.with_name(file.name + suffix)
            if allowed(encoding) and variant.is_file() and variant.stat().st_mtime_ns >= made:
                return variant, encoding
        return file, None


def media_type(file: Path) -> str:
    """The Content-Type of a file by its name; ``application/octet-stream`` for a suffix that is not in the table."""
    return MEDIA_TYPES.get(file.suffix.lower(), "application/octet-stream")


def _is_refused(part: str) -> bool:
    # Backslashes and drive letters mean something on Windows alone, where they would leave the folder.
    if part in {"", ".", ".."} or "\\" in part or ":" in part or "\0" in part:
        return True
    return part.startswith(".") and part != ".well-known"


def _accepted(header: str) -> Callable[[str], bool]:
    """Whether an Accept-Encoding header (RFC 9110 §12.5.3) allows an encoding; a weight of 0 forbids it."""
    weights: dict[str, float] = {}
    for item in header.split(","):
        name, _, parameters = item.partition(";")
        key, _, value = parameters.partition("=")
        try:
            weights[name.strip().lower()] = float(value) if key.strip().lower() == "q" else 1.0
        except ValueError:
            weights[name.strip().lower()] = 0.0
    return lambda encoding: weights.get(encoding, weights.get("*", 0.0)) > 0


def _cache_control(digest: str, query: bytes) -> str:
    version = parse_qs(query.decode("latin-1")).get("v", [""])[0]
    if len(version) >= _SHORTEST_VERSION and digest.startswith(version):
        return f"public, max-age={_YEAR}, immutable"
    return "no-cache"


def _unchanged(etag: str, headers: Iterable[str]) -> bool:
    tags = {tag.strip().removeprefix("W/") for header in headers for tag in header.split(",")}
    return etag in tags or "*" in tags
