"""Compressed variants beside a file, so that a server sends them as they are: ``name.br`` and ``name.gz``."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import PurePosixPath

from surface.cli.cache import Cache, digest

BEST = 11
# Below this, the headers of a response weigh as much as what compression saves.
SMALLEST = 1024
# Above this, compressing one file is a step worth telling of.
_LARGE = 500_000
# Already compressed: images, fonts, and the like gain nothing.
_COMPRESSED = frozenset({".avif", ".br", ".gif", ".gz", ".jpeg", ".jpg", ".mp4", ".png", ".webm", ".webp", ".woff2"})


@dataclass(frozen=True, slots=True)
class Variants:
    """The compressed forms of one file; None where one would save nothing, or brotli is not installed."""

    brotli: bytes | None
    gzip: bytes | None


@dataclass(frozen=True, slots=True)
class _Job:
    """One file to compress in one way; ``key`` names the result in the cache."""

    name: str
    kind: str
    key: str
    make: Callable[[bytes], bytes]


def encode(
    contents: Mapping[str, bytes], cache: Cache, report: Callable[[str], None], *, quality: int = BEST
) -> dict[str, Variants]:
    """The variants of each file, by name. ``quality`` is Brotli's, 0 to 11: 11 is smallest and takes about a minute
    for a whole bundle, once, since results are cached."""
    jobs = [
        _Job(name, kind, digest(maker, data), make)
        for name, data in contents.items()
        if is_worth_it(name, data)
        for kind, maker, make in _encoders(quality)
    ]
    made = {(job.name, job.kind): data for job in jobs if (data := cache.get(job.kind, job.key)) is not None}
    todo = [job for job in jobs if (job.name, job.kind) not in made]
    # Largest first, so that no thread starts the longest piece of work last.
    todo.sort(key=lambda job: (len(contents[job.name]), job.kind == "brotli"), reverse=True)
    if todo:
        count = len({job.name for job in todo})
        report(f"Compressing {count} file{'s' * (count > 1)}")
    with ThreadPoolExecutor() as pool:
        running = {pool.submit(job.make, contents[job.name]): job for job in todo}
        for count, future in enumerate(as_completed(running), 1):
            job = running[future]
            made[job.name, job.kind] = future.result()
            cache.put(job.kind, job.key, future.result())
            if len(contents[job.name]) >= _LARGE:
                report(f"Compressed {count} of {len(running)}: {job.name} with {job.kind}")
    return {
        name: Variants(*(_if_smaller(made.get((name, kind)), data) for kind in ("brotli", "gzip")))
        for name, data in contents.items()
    }


def is_worth_it(name: str, data: bytes) -> bool:
    """Whether a file is large enough to compress and not compressed already."""
    return len(data) >= SMALLEST and PurePosixPath(name).suffix.lower() not in _COMPRESSED


def _if_smaller(variant: bytes | None, data: bytes) -> bytes | None:
    return variant if variant is not None and len(variant) < len(data) else None


def _encoders(quality: int) -> list[tuple[str, str, Callable[[bytes], bytes]]]:
    """Kind, exact maker (part of the cache's key) and function of each encoding that can be made here."""
    gzip_maker = f"gzip {zlib.ZLIB_RUNTIME_VERSION} 9"
    encoders = [("gzip", gzip_maker, lambda data: gzip.compress(data, compresslevel=9, mtime=0))]
    if find_spec("brotli"):
        import brotli

        maker = f"brotli {metadata.version('brotli')} {quality}"
        encoders.append(("brotli", maker, lambda data: bytes(brotli.compress(data, quality=quality, lgwin=24))))
    return encoders
