"""Compressed variants beside a file, so that a server sends them as they are: ``name.br`` and ``name.gz``."""

from __future__ import annotations

import gzip
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import metadata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from surface.cli.cache import Cache, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BEST = 11
# Below this, the headers of a response weigh as much as what compression saves.
SMALLEST = 1024
# Already compressed: images, fonts, and the like gain nothing.
_COMPRESSED = frozenset({".avif", ".br", ".gif", ".gz", ".jpeg", ".jpg", ".mp4", ".png", ".webm", ".webp", ".woff2"})


@dataclass(frozen=True, slots=True)
class Variants:
    """The compressed forms of one file; None where one would save nothing, or brotli is not installed."""

    brotli: bytes | None
    gzip: bytes | None


NONE = Variants(None, None)


def encode(
    contents: Mapping[str, bytes], cache: Cache, report: Callable[[str], None], *, quality: int = BEST
) -> dict[str, Variants]:
    """The variants of each file, by name. ``quality`` is Brotli's, 0 to 11: 11 is smallest and takes about a minute
    for a whole bundle, once, since results are cached."""
    worth = {name: data for name, data in contents.items() if is_worth_it(name, data)}
    done = dict.fromkeys(contents, NONE)
    with ThreadPoolExecutor() as pool:
        # Largest first, so that the last thread does not start with the longest piece of work.
        order = sorted(worth, key=lambda name: len(worth[name]), reverse=True)
        jobs = {pool.submit(_variants, worth[name], cache, quality): name for name in order}
        for count, job in enumerate(as_completed(jobs), 1):
            done[jobs[job]], fresh = job.result()
            if fresh and len(worth[jobs[job]]) > 500_000:
                report(f"Compressed {jobs[job]} ({count} of {len(jobs)})")
    return done


def is_worth_it(name: str, data: bytes) -> bool:
    """Whether a file is large enough to compress and not compressed already."""
    return len(data) >= SMALLEST and PurePosixPath(name).suffix.lower() not in _COMPRESSED


def _variants(data: bytes, cache: Cache, quality: int) -> tuple[Variants, bool]:
    fresh = False

    def variant(kind: str, maker: str, make: Callable[[], bytes]) -> bytes | None:
        nonlocal fresh
        entry = digest(maker, data)
        made = cache.get(kind, entry)
        if made is None:
            fresh, made = True, make()
            cache.put(kind, entry, made)
        return made if len(made) < len(data) else None

    version = _brotli_version()
    best = variant("brotli", f"{version} {quality}", lambda: _brotli(data, quality)) if version else None
    plain = variant("gzip", zlib.ZLIB_RUNTIME_VERSION, lambda: gzip.compress(data, compresslevel=9, mtime=0))
    return Variants(best, plain), fresh


def _brotli(data: bytes, quality: int) -> bytes:
    import brotli

    return bytes(brotli.compress(data, quality=quality, lgwin=24))


def _brotli_version() -> str | None:
    try:
        return metadata.version("brotli")
    except metadata.PackageNotFoundError:
        return None
