"""The lock file that Pyodide reads: which wheel a name means, what it needs, and its digest.

The format is Pyodide's own ``pyodide-lock.json``; the library of that name does not yet write the version that
Pyodide 314 reads on every Python this command runs on, and the file is a few lines of JSON.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from surface.cli.failure import CommandError
from surface.cli.pins import TARGET_MARKERS


@dataclass(frozen=True, slots=True)
class WheelFacts:
    """What a wheel says of itself: normalised name, version, requirements, and the modules it adds."""

    name: str
    version: str
    requires: tuple[Requirement, ...]
    imports: tuple[str, ...]


def read_wheel(file: str, data: bytes) -> WheelFacts:
    """The facts in a wheel. Raises ``CommandError`` where the file is no wheel."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            member = next(name for name in names if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
            headers = HeaderParser().parsestr(archive.read(member).decode("utf-8"))
        requires = tuple(Requirement(text) for text in headers.get_all("Requires-Dist") or [])
        return WheelFacts(
            name=canonicalize_name(headers["Name"]),
            version=headers["Version"],
            requires=requires,
            imports=_imports(names),
        )
    except (zipfile.BadZipFile, StopIteration, InvalidRequirement, TypeError, UnicodeDecodeError) as problem:
        raise CommandError(f"{file} is not a wheel that can be read; build it again.", exit_code=1) from problem


def _imports(names: list[str]) -> tuple[str, ...]:
    found = set()
    for name in names:
        top, _, rest = name.partition("/")
        if rest in {"__init__.py", "__init__.pyc"}:
            found.add(top)
        elif not rest and top.endswith((".py", ".pyc")):
            found.add(top.rpartition(".")[0])
    return tuple(sorted(found))


def applies(requirement: Requirement, extras: frozenset[str] = frozenset()) -> bool:
    """Whether a requirement holds in a page (PEP 508 markers), for a wheel that was asked for with these extras."""
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({**TARGET_MARKERS, "extra": extra}) for extra in ("", *sorted(extras)))


def build_lock(info: Mapping[str, Any], wheels: Mapping[str, bytes]) -> dict[str, Any]:
    """The lock file's content for these wheels (file name → bytes); ``info`` comes from Pyodide's own lock file.

    Raises ``CommandError`` where a wheel needs one that is not there, or not in a release that would do.
    """
    facts = {file: read_wheel(file, data) for file, data in wheels.items()}
    known = {wheel.name: wheel.version for wheel in facts.values()}
    packages = {}
    for file, wheel in sorted(facts.items()):
        needs = [needed for needed in wheel.requires if applies(needed)]
        for needed in needs:
            version = known.get(canonicalize_name(needed.name))
            if version is None or not needed.specifier.contains(version, prereleases=True):
                held = "which the bundle does not hold" if version is None else f"but the bundle holds {version}"
                raise CommandError(f"{wheel.name} {wheel.version} needs {needed}, {held}.")
        packages[wheel.name] = {
            "name": wheel.name,
            "version": wheel.version,
            "file_name": file,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheels[file]).hexdigest(),
            "package_type": "package",
            "imports": list(wheel.imports),
            "depends": sorted({canonicalize_name(needed.name) for needed in needs}),
            "unvendored_tests": False,
        }
    return {"info": dict(info), "packages": packages}
