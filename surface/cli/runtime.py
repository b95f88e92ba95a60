"""Where Pyodide comes from: a folder the user names, an installed npm package, or one fetched by npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surface.cli.cache import Cache
from surface.cli.failure import CommandError
from surface.cli.own import checkout
from surface.cli.pins import ABI_VERSION, PYODIDE_VERSION

# What a page loads of the npm package; the standard library comes on top, rewritten.
RUNTIME_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
STDLIB = "python_stdlib.zip"
LOCK = "pyodide-lock.json"
# npm waits a minute and more between tries by default; a person without a network should hear of it sooner.
_QUICK_TO_FAIL = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")


@dataclass(frozen=True, slots=True)
class Pyodide:
    """One Pyodide in a folder: its version (``314.0.7``) and the ``info`` of its lock file (its Python, its ABI)."""

    folder: Path
    version: str
    info: dict[str, Any]

    @property
    def stdlib_prefix(self) -> str:
        """Where the standard library's zip lies in a page, with a slash at the end."""
        major, minor, *_ = self.info["python"].split(".")
        return f"/lib/python{major}{minor}.zip/"

    @property
    def site_prefix(self) -> str:
        """Where a page's wheels are unpacked, with a slash at the end."""
        major, minor, *_ = self.info["python"].split(".")
        return f"/lib/python{major}.{minor}/site-packages/"


def find_pyodide(chosen: Path | None, cache: Cache, report: Callable[[str], None]) -> Pyodide:
    """The Pyodide to bundle: ``chosen`` if given, else the pinned version from a ``node_modules`` at or above the
    current folder or this checkout, else from npm.

    Raises ``CommandError`` where a chosen folder holds none or one for another ABI, and where npm is missing or
    cannot reach its registry.
    """
    if chosen is not None:
        found = read_pyodide(chosen)
        if found is None:
            raise CommandError(
                f"{chosen} does not hold Pyodide: {', '.join((*RUNTIME_FILES, STDLIB, LOCK))} belong there."
            )
        if found.info.get("abi_version") != ABI_VERSION:
            raise CommandError(
                f"Pyodide {found.version} in {chosen} has the ABI {found.info.get('abi_version')}, but this command's "
                f"wheels are built for {ABI_VERSION}; use Pyodide {PYODIDE_VERSION}."
            )
        return found
    for folder in _installed():
        found = read_pyodide(folder)
        if found is not None and found.version == PYODIDE_VERSION:
            return found
    return _from_npm(cache, report)


def read_pyodide(folder: Path) -> Pyodide | None:
    """The Pyodide in this folder, or None where the files of one are not all there."""
    if not all((folder / name).is_file() for name in (*RUNTIME_FILES, STDLIB, LOCK, "package.json")):
        return None
    version = json.loads((folder / "package.json").read_text("utf-8"))["version"]
    return Pyodide(folder.resolve(), version, json.loads((folder / LOCK).read_text("utf-8"))["info"])


def _installed() -> Iterator[Path]:
    starts = [Path.cwd(), checkout()]
    for start in starts:
        if start is not None:
            for folder in (start, *start.parents):
                yield folder / "node_modules" / "pyodide"


def _from_npm(cache: Cache, report: Callable[[str], None]) -> Pyodide:
    home = cache.folder / f"pyodide-{PYODIDE_VERSION}"
    if found := read_pyodide(home):
        return found
    npm = shutil.which("npm")
    if npm is None:
        raise CommandError(
            f"Pyodide {PYODIDE_VERSION} is not here, and npm, which fetches it, is not installed; install Node 20 or "
            "newer, or name a folder that holds Pyodide with --pyodide."
        )
    report(f"Downloading Pyodide {PYODIDE_VERSION}")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".pyodide-") as folder:
        run = subprocess.run(
            [npm, "pack", f"pyodide@{PYODIDE_VERSION}", "--pack-destination", folder, "--silent", *_QUICK_TO_FAIL],
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        packed = sorted(Path(folder).glob("*.tgz"))
        if run.returncode != 0 or not packed:
            raise CommandError(
                f"npm could not fetch pyodide {PYODIDE_VERSION}; connect to the network and run the command again, "
                "or name a folder that holds Pyodide with --pyodide.",
                exit_code=1,
            )
        with tarfile.open(packed[0]) as archive:
            archive.extractall(folder, filter="data")
        _move(Path(folder) / "package", home)
    found = read_pyodide(home)
    if found is None:
        raise CommandError(
            f"npm's pyodide {PYODIDE_VERSION} lacks files that a page needs; name a folder with --pyodide."
        )
    return found


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:
        # Another command put the same package there first; its copy is as good as this one.
        if read_pyodide(target) is None:
            raise
