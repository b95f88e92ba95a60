"""The wheels of a bundle: the pinned ones from the package index, and the two that are made here."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from surface.cli.cache import Cache
from surface.cli.failure import CommandError
from surface.cli.pins import (
    NATIVE_PLATFORM,
    PINS,
    RPDS_REQUIRES,
    RPDS_SOURCE,
    RPDS_VERSION,
    TARGET_ABI,
    TARGET_PYTHON,
    Pin,
)
from surface.cli.pyc import record_of, stored_zip

# pip prefers a native wheel to a pure one of the same release, so a pure one is asked for in so many words.
PURE = ("--platform", "any", "--implementation", "py", "--abi", "none")
NATIVE = ("--platform", NATIVE_PLATFORM, "--implementation", "cp", "--abi", TARGET_ABI)

_OFFLINE_SIGNS = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError", "Max retries")


def pinned_wheels(cache: Cache, report: Callable[[str], None]) -> dict[str, bytes]:
    """The wheels of the table in ``pins``, by file name, checked against their digests.

    Raises ``CommandError`` where one is neither in the cache nor to be had.
    """
    wheels = {pin.file: data for pin in PINS if (data := cache.get("wheels", pin.file)) and _matches(pin, data)}
    missing = [pin for pin in PINS if pin.file not in wheels]
    for options, pins in (
        (PURE, [pin for pin in missing if not pin.native]),
        (NATIVE, [pin for pin in missing if pin.native]),
    ):
        if not pins:
            continue
        report(f"Downloading {', '.join(pin.name for pin in pins)}")
        found = download([f"{pin.name}=={pin.version}" for pin in pins], options)
        for pin in pins:
            data = found.get(pin.file)
            if data is None or not _matches(pin, data):
                raise CommandError(
                    f"The package index gave another {pin.name} {pin.version} than the one this command was written "
                    "for (the SHA-256 differs); check which index pip is set to use.",
                    exit_code=1,
                )
            cache.put("wheels", pin.file, data)
            wheels[pin.file] = data
    return dict(sorted(wheels.items()))


def download(requirements: Sequence[str], options: Sequence[str] = PURE) -> dict[str, bytes]:
    """What ``pip download --no-deps`` brings for a page, by file name. Follows the user's own pip settings.

    Raises ``CommandError`` without pip, without a network, and where a requirement has no fitting wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        # pip tells of a network that fails only where it tries again.
        how = ("--quiet", "--retries", "2", "--no-deps", "--only-binary", ":all:")
        command = [*_pip(), "download", *how, "--dest", folder]
        run = subprocess.run(
            [*command, "--python-version", TARGET_PYTHON, *options, *requirements],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"},
        )
        if run.returncode != 0:
            raise download_failure(run.stderr, "pure-Python" if options is PURE else NATIVE_PLATFORM)
        return {file.name: file.read_bytes() for file in sorted(Path(folder).glob("*.whl"))}


def download_failure(output: str, kind: str = "pure-Python") -> CommandError:
    """What pip's complaint means to the person who asked for a bundle, in one sentence. ``kind`` is the kind of wheel
    that was asked for."""
    if any(sign in output for sign in _OFFLINE_SIGNS):
        return CommandError(
            "The package index cannot be reached, and this bundle needs wheels that are not in the cache yet; "
            "connect to the network and run the command again.",
            exit_code=1,
        )
    for line in output.splitlines():
        _, found, culprit = line.partition("No matching distribution found for ")
        if found:
            return CommandError(
                f"{culprit.split(' (from')[0].strip()} has no {kind} wheel for Python {TARGET_PYTHON} on the "
                "package index, so it cannot be part of a page; check its name and version, or leave it out.",
                exit_code=1,
            )
    last = [line for line in output.splitlines() if line.strip()][-1:] or ["it said nothing"]
    return CommandError(f"pip could not download what the bundle needs: {last[0].strip()}", exit_code=1)


def _pip() -> list[str]:
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    # An environment made by another tool may have no pip of its own; any pip can download for another Python.
    if found := which("pip") or which("pip3"):
        return [found]
    raise CommandError(
        "The bundle's wheels are downloaded with pip, which this environment does not have; "
        "install it with: python -m ensurepip"
    )


def _matches(pin: Pin, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == pin.sha256


def make_wheel(
    name: str, version: str, files: Mapping[str, bytes], requires: Sequence[str] = (), **headers: str
) -> tuple[str, bytes]:
    """A pure-Python wheel (PEP 427) of these files: its file name, and bytes that depend on nothing else.

    ``headers`` are further lines of METADATA, such as ``requires_python=">=3.11"``.
    """
    stem = f"{name.replace('-', '_')}-{version}"
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"{key.replace('_', '-').title()}: {value}" for key, value in sorted(headers.items())]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    members = {
        **files,
        f"{stem}.dist-info/METADATA": ("\n".join(lines) + "\n").encode(),
        f"{stem}.dist-info/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: surface bundle\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = f"{stem}.dist-info/RECORD"
    members[record] = record_of(members, record)
    return f"{stem}-py3-none-any.whl", stored_zip(members)


def rpds_wheel() -> tuple[str, bytes]:
    """The wheel named ``rpds-py`` that lets jsonschema run where the compiled one does not exist."""
    return make_wheel("rpds-py", RPDS_VERSION, {"rpds/__init__.py": RPDS_SOURCE.encode()}, RPDS_REQUIRES)
