"""``surface bundle``: one folder with all that a page needs to run Python, which any static server can host.

The folder is flat: Pyodide (``pyodide.mjs``, ``pyodide.asm.mjs``, ``pyodide.asm.wasm``), ``python_stdlib.zip``, one
wheel per package, ``pyodide-lock.json``, our JavaScript (``surface.js`` and what it imports), the files of ``--app``,
and beside every file worth compressing its ``.br`` and ``.gz`` variant. ``bundle.json`` describes it::

    {
      "bundleVersion": 1,
      "pyodideVersion": "314.0.7",
      "pythonVersion": "3.14.2",
      "abiVersion": "2026_0",
      "modules": "pyc",                      // or "py", where there was no Node to compile with
      "packages": ["pydantic", "jsonschema", "webmcp-surface"],   // loadPyodide({packages}); then the requirements
      "versions": {"pydantic": "2.14.4"},    // of every wheel, by normalised name
      "files": {"pyodide.mjs": {"size": 17931, "sha256": "…", "gzip": 6811, "brotli": 6105}}
    }

``size``, ``gzip`` and ``brotli`` are bytes; ``gzip`` and ``brotli`` are null where there is no such variant. Every
file is listed except ``bundle.json`` itself and the variants. A page boots it by public options alone::

    loadPyodide({indexURL, stdLibURL: indexURL + "python_stdlib.zip", lockFileURL: indexURL + "pyodide-lock.json",
                 packageBaseUrl: indexURL, packages: bundle.packages})

The same inputs give the same bytes: releases are pinned, archives are sorted and carry no times, and modules are
compiled by the very Python that loads them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from surface.cli.cache import Cache, cache_folder
from surface.cli.compile import Archive, find_node, prepare
from surface.cli.encode import BEST, Variants, encode
from surface.cli.failure import CommandError
from surface.cli.lock import build_lock, read_wheel
from surface.cli.own import own_wheel, static_files
from surface.cli.pins import BOOT_PACKAGES, DROP_BY_NAME, DROP_FROM_STDLIB, DROP_FROM_WHEELS
from surface.cli.requirements import resolve
from surface.cli.runtime import LOCK, RUNTIME_FILES, STDLIB, Pyodide, find_pyodide
from surface.cli.wheels import download, pinned_wheels, rpds_wheel

BUNDLE_VERSION = 1
INDEX = "bundle.json"
NO_NODE = (
    "Node 20 or newer was not found, so the modules stay Python sources: the bundle works, and its pages start "
    "about two seconds later; install Node and run the command again to compile them."
)
NO_BROTLI = "The Python package brotli is not installed, so only gzip variants were made."


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished bundle: its folder and the content of its ``bundle.json``."""

    folder: Path
    index: Mapping[str, Any]

    @property
    def size(self) -> int:
        """Bytes of all files as they are."""
        return sum(entry["size"] for entry in self.index["files"].values())

    @property
    def on_the_wire(self) -> int:
        """Bytes of all files in their smallest form."""
        files = self.index["files"].values()
        return sum(min(n for n in (e["size"], e["gzip"], e["brotli"]) if n is not None) for e in files)


def build_bundle(
    out: Path,
    *,
    app: Path | None = None,
    requirements: Sequence[str] = (),
    pyodide: Path | None = None,
    quality: int = BEST,
    cache: Cache | None = None,
    report: Callable[[str], None] = lambda message: None,
    warn: Callable[[str], None] = lambda message: None,
) -> Bundle:
    """Make or renew the bundle in ``out`` and return it. The folder is created; files in it that an earlier bundle
    wrote are replaced, anything else is left alone.

    ``app`` is a folder whose files are copied to the top of the bundle as they are. ``requirements`` are texts that
    pip understands, or paths of wheels. ``report`` is told what is going on, ``warn`` what is missing and what works
    all the same. Raises ``CommandError``.
    """
    cache = cache or Cache(cache_folder())
    previous = _previous(out)
    own_files = _app_files(app, out) if app is not None else {}
    runtime = find_pyodide(pyodide, cache, report)
    node = find_node()
    if node is None:
        warn(NO_NODE)

    pinned = pinned_wheels(cache, report)
    own, rpds = own_wheel(), rpds_wheel()
    carried = {**pinned, rpds[0]: rpds[1], own[0]: own[1]}
    versions = {facts.name: facts.version for facts in (read_wheel(file, data) for file, data in carried.items())}
    extra = resolve(requirements, versions, download, report)
    archives = [
        Archive(STDLIB, (runtime.folder / STDLIB).read_bytes(), runtime.stdlib_prefix, True, DROP_FROM_STDLIB),
        *(_archive(file, data, runtime, strip=file in carried) for file, data in {**carried, **extra}.items()),
    ]
    contents = {name: (runtime.folder / name).read_bytes() for name in RUNTIME_FILES}
    contents |= prepare(archives, runtime, node, cache, report)
    wheels = {name: contents[name] for name in (*carried, *extra)}
    contents[LOCK] = _json(build_lock(runtime.info, wheels))
    contents |= static_files()
    if clash := sorted(set(own_files) & {*contents, INDEX}):
        raise CommandError(f"{clash[0]} in {app} would replace a file of the runtime; rename it.")
    contents |= own_files

    added = [read_wheel(file, data) for file, data in extra.items()]
    versions |= {facts.name: facts.version for facts in added}
    variants = encode(contents, cache, report, quality=quality)
    if not any(variant.brotli for variant in variants.values()):
        warn(NO_BROTLI)
    index = {
        "bundleVersion": BUNDLE_VERSION,
        "pyodideVersion": runtime.version,
        "pythonVersion": runtime.info["python"],
        "abiVersion": runtime.info["abi_version"],
        "modules": "py" if node is None else "pyc",
        "packages": [*BOOT_PACKAGES, *sorted(facts.name for facts in added)],
        "versions": dict(sorted(versions.items())),
        "files": {name: _entry(data, variants[name]) for name, data in sorted(contents.items())},
    }
    _write(out, contents, variants, index, previous)
    return Bundle(out, index)


def _archive(file: str, data: bytes, runtime: Pyodide, *, strip: bool) -> Archive:
    # The docstrings of a page's own requirements stay: what they are good for is not known here.
    drop = (*DROP_FROM_WHEELS, *DROP_BY_NAME.get(read_wheel(file, data).name, ()))
    return Archive(file, data, runtime.site_prefix, strip, drop)


def _app_files(app: Path, out: Path) -> dict[str, bytes]:
    """The page's own files by their path in the bundle: all but hidden ones, caches, node_modules and the bundle."""
    if not app.is_dir():
        raise CommandError(f"The app folder {app} does not exist.")
    found = {}
    for folder, subfolders, names in os.walk(app):
        here = Path(folder)
        subfolders[:] = [
            name
            for name in sorted(subfolders)
            if not _is_private(name) and name != "node_modules" and (here / name).resolve() != out.resolve()
        ]
        if here.resolve() == out.resolve():
            raise CommandError(f"{out} is the app folder itself; make the bundle in a folder of its own.")
        for name in sorted(names):
            if not _is_private(name):
                found[(here / name).relative_to(app).as_posix()] = (here / name).read_bytes()
    return found


def _is_private(name: str) -> bool:
    return (name.startswith(".") and name != ".well-known") or name == "__pycache__"


def _previous(out: Path) -> dict[str, Any]:
    """What the bundle that lies in ``out`` consists of; raises where something else lies there."""
    if not out.exists():
        return {}
    if not out.is_dir():
        raise CommandError(f"{out} is a file; name a folder to make the bundle in.")
    try:
        files = json.loads((out / INDEX).read_text("utf-8"))["files"]
        return dict(files)
    except (OSError, ValueError, KeyError, TypeError):
        if any(out.iterdir()):
            raise CommandError(
                f"{out} holds files and no {INDEX}, so it is not a bundle to renew; name an empty or new folder."
            ) from None
        return {}


def _write(
    out: Path,
    contents: Mapping[str, bytes],
    variants: Mapping[str, Variants],
    index: Mapping[str, Any],
    previous: Mapping[str, Any],
) -> None:
    # Until all is written the index says only whose files these are: should this be interrupted, no page boots from
    # half a bundle, and the next run may renew it.
    out.mkdir(parents=True, exist_ok=True)
    names = {name for name in previous if _is_inside(name)} | {*contents}
    unfinished = {"bundleVersion": BUNDLE_VERSION, "unfinished": True, "files": dict.fromkeys(sorted(names))}
    _put(out / INDEX, _json(unfinished, indent=2))
    for name in names - {*contents}:
        for file in (name, f"{name}.br", f"{name}.gz"):
            (out / file).unlink(missing_ok=True)
    for name, data in contents.items():
        _put(out / name, data)
        # Variants are written after their file: a server takes an older one for left over.
        for suffix, variant in ((".br", variants[name].brotli), (".gz", variants[name].gzip)):
            if variant is None:
                (out / (name + suffix)).unlink(missing_ok=True)
            else:
                _put(out / (name + suffix), variant)
    _put(out / INDEX, _json(index, indent=2))


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and name != INDEX


def _put(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    partial.write_bytes(data)
    os.replace(partial, target)


def _entry(data: bytes, variants: Variants) -> dict[str, Any]:
    return {
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "gzip": len(variants.gzip) if variants.gzip else None,
        "brotli": len(variants.brotli) if variants.brotli else None,
    }


def _json(value: Mapping[str, Any], indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else None
    return (json.dumps(value, indent=indent, sort_keys=indent is None, separators=separators) + "\n").encode()
