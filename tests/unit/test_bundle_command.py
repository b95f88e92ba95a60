"""``surface bundle`` as a person meets it where something is missing: one clear sentence, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from surface.cli.bundle import build_bundle
from surface.cli.cache import Cache
from surface.cli.compile import Archive, find_node, prepare
from surface.cli.encode import encode
from surface.cli.failure import CommandError
from surface.cli.runtime import Pyodide, find_pyodide, read_pyodide

RUN = "from surface.cli import main; main()"
# Nothing listens on the discard port, so no index and no registry is ever reached.
OFFLINE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_FIND_LINKS": "",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple/",
    "npm_config_registry": "http://127.0.0.1:9/",
}


def surface(*arguments: str, code: str = RUN, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={**os.environ, **env},
    )


def pyodide_folder(folder: Path, abi: str = "2026_0") -> Path:
    folder.mkdir(parents=True)
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
        (folder / name).write_bytes(b"")
    (folder / "package.json").write_text('{"version": "314.0.7"}')
    (folder / "pyodide-lock.json").write_text(json.dumps({"info": {"abi_version": abi, "python": "3.14.2"}}))
    return folder


def no_report(message: str) -> None:
    """Nobody listens."""


def test_without_typer_the_command_names_the_extra_and_exits_2() -> None:
    run = surface("--help", code=f"import sys; sys.modules['typer'] = None; {RUN}")
    assert run.returncode == 2
    assert run.stderr == (
        'surface: the command line needs typer; install it with: pip install "webmcp-surface[bundle]"\n'
    )


def test_without_packaging_the_command_names_the_extra_and_exits_2(tmp_path: Path) -> None:
    run = surface("bundle", str(tmp_path / "out"), code=f"import sys; sys.modules['packaging'] = None; {RUN}")
    assert run.returncode == 2
    assert 'pip install "webmcp-surface[bundle]"' in run.stderr
    assert "Traceback" not in run.stderr


def test_help_says_of_the_snapshot_only_what_is_true() -> None:
    run = surface("bundle", "--help", COLUMNS="200", NO_COLOR="1", TERM="dumb")
    assert run.returncode == 0
    assert "This version makes every bundle without one" in " ".join(run.stdout.split())


def test_without_a_network_and_a_cache_one_sentence_says_so(tmp_path: Path) -> None:
    pyodide = pyodide_folder(tmp_path / "pyodide")
    run = surface(
        "bundle", "out", "--pyodide", str(pyodide), cwd=tmp_path, WEBMCP_SURFACE_CACHE=str(tmp_path / "c"), **OFFLINE
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.splitlines()[-1].startswith("surface: The package index cannot be reached")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_bundle_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    run = surface("bundle", str(tmp_path), "--no-snapshot")
    assert run.returncode == 2
    assert "is not a bundle to renew" in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_page_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"The app folder .*page does not exist"):
        build_bundle(tmp_path / "out", app=tmp_path / "page")


def test_a_bundle_cannot_be_made_in_the_page_folder_itself(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is the app folder itself"):
        build_bundle(tmp_path, app=tmp_path)


def test_a_folder_without_pyodide_is_refused_with_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"does not hold Pyodide: pyodide\.mjs"):
        find_pyodide(tmp_path, Cache(tmp_path), no_report)


def test_a_pyodide_of_another_abi_is_refused_with_the_one_to_use(tmp_path: Path) -> None:
    folder = pyodide_folder(tmp_path / "pyodide", abi="2025_0")
    with pytest.raises(CommandError, match=r"ABI 2025_0.*use Pyodide 314\.0\.7"):
        find_pyodide(folder, Cache(tmp_path), no_report)


def test_without_npm_and_without_pyodide_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("surface.cli.runtime.checkout", lambda: None)
    with pytest.raises(CommandError, match="npm, which fetches it, is not installed; install Node 20"):
        find_pyodide(None, Cache(tmp_path), no_report)


def test_npm_without_a_network_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("surface.cli.runtime.checkout", lambda: None)
    with pytest.raises(CommandError, match=r"npm (could not fetch pyodide|, which)"):
        find_pyodide(None, Cache(tmp_path / "cache"), no_report)


def test_the_nearest_npm_package_of_the_right_version_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pyodide_folder(tmp_path / "node_modules" / "pyodide")
    (tmp_path / "site" / "page").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "site" / "page")
    assert find_pyodide(None, Cache(tmp_path), no_report) == read_pyodide(folder)


def test_a_node_that_is_missing_or_too_old_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_node() is None
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v18.19.1\n")
    node.chmod(0o755)
    assert find_node() is None
    node.write_text("#!/bin/sh\necho v20.11.0\n")
    assert find_node() == str(node)


def test_a_node_that_fails_while_compiling_is_reported_with_its_reason(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'out of memory' >&2\nexit 3\n")
    node.chmod(0o755)
    pyodide = Pyodide(tmp_path, "314.0.7", {"python": "3.14.2"})
    with pytest.raises(CommandError, match=r"Compiling inside Pyodide 314\.0\.7 failed: out of memory"):
        prepare([Archive("a.zip", b"", "/lib/")], pyodide, str(node), Cache(tmp_path / "cache"), no_report)


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = Cache(blocked)
    cache.put("gzip", "key", b"data")
    assert cache.get("gzip", "key") is None


def test_what_was_compressed_once_is_not_compressed_again(tmp_path: Path) -> None:
    said: list[str] = []
    contents = {"big.js": b"let a = 1;\n" * 500, "photo.png": b"\x89PNG" * 500, "tiny.js": b"1"}
    first = encode(contents, Cache(tmp_path), said.append, quality=5)
    assert said == ["Compressing 1 file"]
    assert encode(contents, Cache(tmp_path), said.append, quality=5) == first
    assert said == ["Compressing 1 file"]
    assert first["big.js"].gzip is not None
    assert first["big.js"].brotli is not None
    assert (first["photo.png"].gzip, first["tiny.js"].brotli) == (None, None)
