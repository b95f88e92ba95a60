"""What ./demo/run and ./tests/run need on a fresh machine, made once and then only looked at. Standard library only.

Each function gives what it is named after, making it first where it is not there, and raises ``Refusal`` with one
sentence where that cannot be done.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demo.process import ROOT, Finished, Refusal, run

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
RUNTIME = ROOT / "build" / "runtime"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NODE_NEEDED = 20

# Neither tool fetches a browser of its own; Debian's is used.
NO_BROWSER_DOWNLOAD = {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1", "PUPPETEER_SKIP_DOWNLOAD": "1"}

_NETWORK = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|NewConnectionError|ConnectTimeout|NameResolutionError"
    r"|Temporary failure|Could not resolve|Network is unreachable|could not fetch"
)


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other run prepares this checkout, and keep others out meanwhile."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "prepare.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("  Another run is preparing this checkout; waiting for it …", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def python_packages(extra: str) -> Path:
    """The interpreter of .venv, with this checkout and its extra (``demo`` or ``dev``, which holds all) installed."""
    stamp = VENV / "installed.json"
    wanted = {"root": str(ROOT), "project": _digest([ROOT / "pyproject.toml"])}
    there = _read_json(stamp)
    # The scripts of an environment name the folder it was made in.
    moved = there.get("root", wanted["root"]) != wanted["root"]
    usable = not moved and PYTHON.exists() and run("Looking at .venv", [PYTHON, "-c", ""]).code == 0
    if usable and {key: there.get(key) for key in wanted} == wanted and there.get("extra") in (extra, "dev"):
        return PYTHON
    if not usable:
        made = run("Making .venv", [sys.executable, "-m", "venv", "--clear", VENV])
        if made.code:
            raise _refusal(made, "Python could not make .venv", "on Debian, apt-get install python3-venv helps")
    if there.get("extra") == "dev":
        extra = "dev"
    done = run(
        "Installing the Python packages",
        [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-e", f".[{extra}]"],
    )
    if done.code:
        raise _refusal(done, "The Python packages could not be installed", "what pip said stands above")
    stamp.write_text(json.dumps({**wanted, "extra": extra}))
    print(f"  Python packages installed ({done.seconds:.0f} s)")
    return PYTHON


def node() -> str:
    """Node 20 or newer, with npm beside it."""
    found, npm = shutil.which("node"), shutil.which("npm")
    version = run("node", [found, "--version"]).output.strip() if found else ""
    if not found or not npm or int((re.findall(r"\d+", version) or ["0"])[0]) < NODE_NEEDED:
        have = f"Node {version} is too old" if found and npm else "Node with npm was not found"
        raise Refusal(f"{have}: install Node {NODE_NEEDED} or newer, then run this again.")
    return found


def node_packages() -> None:
    """The npm packages of package-lock.json: test runner, real clients, type checker, Pyodide."""
    node()
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    wanted = {path: entry["version"] for path, entry in lock.items() if path and not entry.get("optional")}
    if all(_read_json(ROOT / path / "package.json").get("version") == version for path, version in wanted.items()):
        return
    done = run("Installing the npm packages", ["npm", "ci", "--no-audit", "--no-fund"], env=NO_BROWSER_DOWNLOAD)
    if done.code:
        raise _refusal(done, "The npm packages could not be installed", "what npm said stands above")
    print(f"  npm packages installed ({done.seconds:.0f} s)")


def chromium() -> str:
    """A Chromium on the PATH; where there is none, Debian's, installed."""
    if found := _find_chromium():
        return found
    failed, advice = "No Chromium was found", "install one (Debian: apt-get install chromium), then run this again"
    become_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    may = not become_root or (shutil.which("sudo") and run("Asking for sudo", [*become_root, "true"]).code == 0)
    if not shutil.which("apt-get") or not may:
        raise Refusal(f"{failed}: {advice}.")
    quiet = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q"]
    update = run("Asking Debian what there is", [*quiet, "update"])
    done = run("Installing Debian's chromium", [*quiet, "install", "--no-install-recommends", "chromium"])
    found = _find_chromium()
    if not found:
        raise _refusal(Finished(done.code, update.output + done.output, done.seconds), failed, advice)
    print(f"  chromium installed ({update.seconds + done.seconds:.0f} s)")
    return found


def runtime() -> Path:
    """The folder with Pyodide and our own wheel, as ``surface bundle`` makes it, once the Python packages are there."""
    stamp = RUNTIME.with_name("runtime.sha256")
    files = [path for room in ("surface", "webmcp", "static") for path in (ROOT / room).rglob("*")]
    sources = [path for path in files if path.is_file() and path.suffix != ".pyc"]
    wanted = _digest([*sources, ROOT / "pyproject.toml", ROOT / "package-lock.json"])
    if (RUNTIME / "bundle.json").is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return RUNTIME
    node()
    if not (RUNTIME / "bundle.json").is_file():
        # Left by a build that was cut off; the command would not touch a folder it does not recognise.
        shutil.rmtree(RUNTIME, ignore_errors=True)
    # Level 5 compresses in a second what level 11 takes a minute for; here the bytes go no further than loopback.
    done = run("Building the runtime bundle", [VENV / "bin" / "surface", "bundle", RUNTIME, "--brotli-quality", "5"])
    if done.code:
        raise _refusal(done, "The runtime bundle could not be built", "what `surface bundle` said stands above")
    stamp.write_text(wanted)
    print(f"  runtime bundle built ({done.seconds:.0f} s)")
    return RUNTIME


def _find_chromium() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _digest(files: list[Path]) -> str:
    sha = hashlib.sha256()
    for path in sorted(files):
        sha.update(f"{path.relative_to(ROOT)}\0".encode())
        sha.update(hashlib.sha256(path.read_bytes()).digest())
    return sha.hexdigest()


def _read_json(path: Path) -> dict[str, object]:
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError):
        return {}


def _refusal(done: Finished, failed: str, advice: str) -> Refusal:
    """What failed and what to do about it. Where the network is to blame that is said instead of the advice."""
    if _NETWORK.search(done.output):
        return Refusal(f"{failed}, because the network did not answer; connect, then run this again.")
    print("".join(f"    {line}\n" for line in done.output.splitlines()[-20:]), end="")
    return Refusal(f"{failed}; {advice}.")
