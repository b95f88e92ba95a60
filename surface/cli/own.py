"""This distribution as a page gets it: our own wheel and our own static files, from a checkout or an installation."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from surface.cli.failure import CommandError
from surface.cli.wheels import make_wheel

DISTRIBUTION = "webmcp-surface"
# Not for a page: the command line, and the test helpers, which drive a page from outside or stand in for a browser.
# static/ is served beside the wheel, not from within it.
_LEFT_OUT = ("surface/cli/", "surface/testing/", "webmcp/static/")
_ROOT = Path(__file__).resolve().parents[2]


def checkout() -> Path | None:
    """The root of the source checkout this code runs from, or None where it runs from an installed wheel."""
    project = _ROOT / "pyproject.toml"
    if project.is_file() and tomllib.loads(project.read_text("utf-8"))["project"]["name"] == DISTRIBUTION:
        return _ROOT
    return None


def own_wheel() -> tuple[str, bytes]:
    """A wheel of ``surface`` and ``webmcp`` for pages: its file name and its bytes.

    It is made from the package files themselves, so that a checkout and an installed wheel of it give the same
    bytes, and no build backend is needed.
    """
    files = {}
    for package in ("surface", "webmcp"):
        for path in (_ROOT / package).rglob("*"):
            name = path.relative_to(_ROOT).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not name.startswith(_LEFT_OUT):
                files[name] = path.read_bytes()
    if "webmcp/__init__.py" not in files:
        raise CommandError("The package webmcp is not beside surface; install webmcp-surface again.")
    version, requires, python = _facts()
    return make_wheel(DISTRIBUTION, version, files, requires, requires_python=python)


def _facts() -> tuple[str, list[str], str]:
    """Version, requirements without extras, and the Python versions; the same from a checkout and an installation."""
    if root := checkout():
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
        version, listed, python = project["version"], project["dependencies"], project["requires-python"]
    else:
        try:
            found = metadata.metadata(DISTRIBUTION)
        except metadata.PackageNotFoundError:
            raise CommandError(f"{DISTRIBUTION} is not installed here; install it with pip.") from None
        version, python = found["Version"], found["Requires-Python"]
        listed = found.get_all("Requires-Dist") or []
    requirements = [Requirement(text) for text in listed]
    plain = [str(requirement) for requirement in requirements if "extra" not in str(requirement.marker or "")]
    return version, sorted(plain), python


def static_files() -> dict[str, bytes]:
    """The JavaScript side by its path in the bundle: ``surface.js``, ``model_context.js``, ``elements/…``."""
    root = checkout()
    folder = root / "static" if root else _ROOT / "webmcp" / "static"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
