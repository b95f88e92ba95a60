"""``./demo/run``: set up, serve the devices page and say what to try, or play the scripted agent on it."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from demo import prepare
from demo.process import Refusal, end_cleanly_on_signals, start, stop

ADDRESS = re.compile(r"Devices demo: (http://\S+)")
DEFAULT_PORT = 8800

WHAT_TO_TRY = """\
The devices page is at {address}  (Ctrl-C stops it)

  Any browser shows the page. For its agent tools the browser needs WebMCP:
    {browser} --enable-features=WebMCP --user-data-dir=$(mktemp -d) {address}
  or, in Chrome 150 and newer, chrome://flags/#enable-webmcp-testing.
  Then, in the page's console:
    tools = await document.modelContext.getTools(); tools.map(tool => tool.name)
    filter = tools.find(tool => tool.name.endsWith("setFilters"))
    await document.modelContext.executeTool(filter, {{ status: ["offline"] }})
  A scripted agent does the same and more:  ./demo/run --agent
"""


def main() -> int:
    """Returns the exit code: 0, 1 where an agent's step went wrong, 2 where the demo could not start."""
    options = _options()
    end_cleanly_on_signals()
    try:
        with prepare.alone():
            python = prepare.python_packages("demo")
            if options.agent:
                needed = prepare.chromium(), prepare.runtime()
            else:
                wanted = _chromium_if_possible(), _runtime_if_possible()
        return play(python, *needed) if options.agent else serve(python, *wanted, options.port)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def serve(python: Path, browser: str, runtime: Path | None, port: int) -> int:
    """Serve until Ctrl-C."""
    server = start([python, "-m", "demo.backend", "--port", str(port), *_runtime_option(runtime)])
    try:
        print(WHAT_TO_TRY.format(address=_address(server), browser=Path(browser).name), flush=True)
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        stop(server)


def play(python: Path, browser: str, runtime: Path) -> int:
    """Serve on a free port with a database of its own, and play the agent there."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "devices.sqlite3"
        server = start([python, "-m", "demo.backend", "--port", "0", "--db", database, *_runtime_option(runtime)])
        try:
            address = _address(server)
            print(f"The agent opens {address} in headless Chromium and waits for Python in the page …", flush=True)
            agent = start([python, "-u", "-m", "demo.agent", address, "--chromium", browser], stdout=None)
            try:
                return agent.wait()
            finally:
                stop(agent)
        finally:
            stop(server)


def _address(server: subprocess.Popen[str]) -> str:
    """Waits for the line that says where the server listens; what it says afterwards is passed on."""
    assert server.stdout is not None
    said = []
    for line in server.stdout:
        if found := ADDRESS.search(line):
            threading.Thread(target=sys.stdout.writelines, args=(server.stdout,), daemon=True).start()
            return found[1]
        said.append(line)
    raise Refusal("".join(said).strip() or "The demo's server ended without saying why.")


def _runtime_option(runtime: Path | None) -> list[str | Path]:
    return ["--runtime", runtime] if runtime else []


def _runtime_if_possible() -> Path | None:
    try:
        return prepare.runtime()
    except Refusal as refusal:
        print(f"{refusal}\nThe page is served without its agent tools.", file=sys.stderr)
        return None


def _chromium_if_possible() -> str:
    try:
        return prepare.chromium()
    except Refusal as refusal:
        print(f"{refusal}\nAny other browser shows the page.", file=sys.stderr)
        return "chromium"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./demo/run",
        description="Serve the devices demo: a page whose agent tools are written in Python. Sets itself up.",
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes any free one (default: %(default)s)")
    parser.add_argument(
        "--agent",
        action="store_true",
        help="play a scripted agent in headless Chromium instead, on a free port, and exit by its result",
    )
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error(f"{options.port} is no port; ports are 0 to 65535")
    return options


if __name__ == "__main__":
    sys.exit(main())
