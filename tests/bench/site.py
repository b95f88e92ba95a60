"""What the page benches share: folders served on loopback, Debian's Chromium, tables and JSON."""

from __future__ import annotations

import json
import platform
import shutil
import statistics
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Playwright
from starlette.applications import Starlette
from starlette.routing import Mount

from demo.agent.browser import CHROMIUM_ARGS
from surface.cli.serve import address, listen
from surface.cli.static import BundleFiles

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests" / "bench" / "results"


@contextmanager
def serve(folders: Mapping[str, Path]) -> Iterator[str]:
    """Serve each folder under its name on a free port; gives the address."""
    app = Starlette(routes=[Mount(f"/{name}", app=BundleFiles(folder)) for name, folder in folders.items()])
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield address(listening).rstrip("/")
    finally:
        server.should_exit = True
        thread.join()


def chromium(playwright: Playwright) -> Browser:
    """A headless Debian Chromium with WebMCP on."""
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium was not found; on Debian: apt-get install chromium")
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)


def median(values: Sequence[float]) -> float:
    """The median, the figure to quote."""
    return statistics.median(values)


def report(name: str, what: str, rows: Sequence[Mapping[str, Any]], browser: str) -> None:
    """Print the rows as a table and write them, with what they were measured on, to results/NAME.json."""
    columns = list(rows[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    print(f"\n{what}")
    for number, line in enumerate(cells):
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
    RESULTS.mkdir(exist_ok=True)
    measured = {"what": what, "python": platform.python_version(), "browser": browser, "rows": list(rows)}
    (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
