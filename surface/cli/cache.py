"""A folder of results that are slow to make again: wheels, compiled archives, compressed files.

Every entry is named by a digest of what it was made from, so an entry never goes stale and may be deleted at
any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "WEBMCP_SURFACE_CACHE"


def cache_folder() -> Path:
    """The cache of this user: ``$WEBMCP_SURFACE_CACHE``, or ``webmcp-surface`` where the system keeps caches."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "webmcp-surface"


def digest(*parts: bytes | str) -> str:
    """SHA-256 in hexadecimal over the parts, each with its length in front, so that no two lists collide."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(f"{len(data)}:".encode())
        sha.update(data)
    return sha.hexdigest()


class Cache:
    """Bytes by kind and key under one folder. A folder that cannot be written only costs time.

    >>> Cache(folder).get("brotli", key)  # None, until put() stored it
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, key: str) -> Path:
        """Where an entry lies, whether or not it is there."""
        return self.folder / kind / key

    def get(self, kind: str, key: str) -> bytes | None:
        """The stored bytes, or None."""
        try:
            return self.path(kind, key).read_bytes()
        except OSError:
            return None

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Store the bytes in one step: a reader sees the whole entry or none, also when two commands run at once."""
        target = self.path(kind, key)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".part-")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, target)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
