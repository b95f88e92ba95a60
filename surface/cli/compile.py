"""Archives made ready for a page: compiled inside Pyodide under Node where there is Node, trimmed in either case."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from surface.cli.cache import Cache, digest
from surface.cli.failure import CommandError
from surface.cli.pyc import rewrite
from surface.cli.runtime import Pyodide

NODE_MAJOR = 20
_HERE = files("surface.cli")


@dataclass(frozen=True, slots=True)
class Archive:
    """One zip or wheel to rewrite: its file name and bytes, where its modules will be imported from, and what goes."""

    name: str
    data: bytes
    prefix: str
    strip_docstrings: bool = False
    drop: tuple[str, ...] = ()


def find_node() -> str | None:
    """The ``node`` command if it is new enough to compile with, else None."""
    node = shutil.which("node")
    if node is None:
        return None
    try:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.match(r"v(\d+)\.", version)
    return node if match and int(match[1]) >= NODE_MAJOR else None


def prepare(
    archives: Sequence[Archive], pyodide: Pyodide, node: str | None, cache: Cache, report: Callable[[str], None]
) -> dict[str, bytes]:
    """Every archive rewritten, by name. With ``node`` its modules are ``.pyc`` files, without it they stay sources.

    What was compiled before is taken from the cache; one Node process compiles the rest. Raises ``CommandError``
    where Node fails.
    """
    if node is None:
        return {
            archive.name: rewrite(archive.data, archive.prefix, compiled=False, drop=archive.drop)
            for archive in archives
        }
    keys = {archive.name: _key(archive, pyodide) for archive in archives}
    done = {name: data for name, key in keys.items() if (data := cache.get("compiled", key))}
    todo = [archive for archive in archives if archive.name not in done]
    if todo:
        for name, data in _compile(todo, pyodide, node, report).items():
            cache.put("compiled", keys[name], data)
            done[name] = data
    return {archive.name: done[archive.name] for archive in archives}


def _key(archive: Archive, pyodide: Pyodide) -> str:
    rewriter = (_HERE / "pyc.py").read_bytes() + (_HERE / "compile.mjs").read_bytes()
    options = json.dumps([archive.prefix, archive.strip_docstrings, archive.drop])
    return digest(pyodide.version, rewriter, options, archive.data)


def _compile(
    archives: Sequence[Archive], pyodide: Pyodide, node: str, report: Callable[[str], None]
) -> dict[str, bytes]:
    report(f"Compiling {len(archives)} archive{'s' * (len(archives) > 1)} inside Pyodide")
    with tempfile.TemporaryDirectory() as folder:
        names, entries = {}, []
        for number, archive in enumerate(archives):
            source, target = Path(folder, f"{number}.in"), Path(folder, f"{number}.out")
            source.write_bytes(archive.data)
            names[str(target)] = archive.name
            entries.append(
                {
                    "input": str(source),
                    "output": str(target),
                    "prefix": archive.prefix,
                    "stripDocstrings": archive.strip_docstrings,
                    "drop": list(archive.drop),
                }
            )
        for file in ("compile.mjs", "pyc.py"):
            Path(folder, file).write_bytes((_HERE / file).read_bytes())
        job = {
            "pyodide": str(pyodide.folder),
            "rewriter": str(Path(folder, "pyc.py")),
            "info": pyodide.info,
            "archives": entries,
        }
        Path(folder, "job.json").write_text(json.dumps(job), encoding="utf-8")
        command = [node, str(Path(folder, "compile.mjs")), str(Path(folder, "job.json"))]
        with (
            open(Path(folder, "errors"), "w+", encoding="utf-8") as errors,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True
            ) as process,
        ):
            assert process.stdout is not None
            for count, line in enumerate(process.stdout, 1):
                report(f"Compiled {count} of {len(archives)}: {names.get(line.strip(), 'an archive')}")
            process.wait()
            errors.seek(0)
            told = errors.read().strip().splitlines()
        if process.returncode != 0 or not all(Path(target).is_file() for target in names):
            reason = told[-1].strip() if told else f"Node ended with {process.returncode}"
            raise CommandError(f"Compiling inside Pyodide {pyodide.version} failed: {reason[:300]}", exit_code=1)
        return {name: Path(target).read_bytes() for target, name in names.items()}
