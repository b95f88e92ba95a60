"""Boot: from the start of the navigation until Python serves its first call, bare stock Pyodide with pydantic against
this library's bundle, alternating in one run, cold (a new browser profile) and warm (the same page again).

    .venv/bin/python -m tests.bench.boot [RUNS]

The stock page stops where pydantic has validated one input; ours where the browser's own `executeTool` has answered,
so ours does strictly more.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

from surface.cli.bundle import build_bundle
from tests.bench.site import ROOT, chromium, median, report, serve

OBSERVE = """
globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
SERVED_BY_US = """async () => {
  const context = document.modelContext;
  const until = performance.now() + 60000;
  while (performance.now() < until) {
    const tool = (await context.getTools()).find((tool) => tool.name === "view_bench__noop__plain");
    if (tool) {
      await context.executeTool(tool, { text: "x" });
      globalThis.servedAt = performance.now();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("no tool within a minute");
}"""
VARIANTS = {"stock Pyodide + pydantic": "stock.html", "surface bundle (.pyc)": "round_trip.html"}


def visit(page: Page, url: str, ours: bool) -> tuple[float, float]:
    """Milliseconds from navigation start to the first call served, and of the longest main-thread task."""
    page.goto(url, wait_until="commit")
    if ours:
        page.evaluate(SERVED_BY_US)
    page.wait_for_function("globalThis.servedAt !== undefined", timeout=120_000)
    served, longest = page.evaluate("[globalThis.servedAt, globalThis.longest]")
    return float(served), float(longest)


def one_profile(browser: Browser, url: str, ours: bool) -> dict[str, tuple[float, float]]:
    """A cold and a warm visit in a profile of its own."""
    context = browser.new_context()
    context.add_init_script(OBSERVE)
    page = context.new_page()
    found = {"cold": visit(page, url, ours), "warm": visit(page, url, ours)}
    context.close()
    return found


def main() -> None:
    """Measure, print and write results/boot.json."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with TemporaryDirectory() as folder:
        stock = Path(folder) / "stock"
        with patch("surface.cli.bundle.find_node", return_value=None):
            build_bundle(stock)
        folders = {
            "bench": ROOT / "tests" / "bench" / "pages",
            "static": ROOT / "static",
            "runtime": ROOT / "build" / "runtime",
            "stock": stock,
        }
        with serve(folders) as url, sync_playwright() as playwright:
            browser = chromium(playwright)
            times: dict[tuple[str, str], list[tuple[float, float]]] = {}
            for _ in range(runs):
                for variant, name in VARIANTS.items():
                    found = one_profile(browser, f"{url}/bench/{name}", ours="stock" not in name)
                    for state, figure in found.items():
                        times.setdefault((state, variant), []).append(figure)
            rows = []
            for (state, variant), figures in sorted(times.items()):
                served = median([one[0] for one in figures])
                base = median([one[0] for one in times[state, next(iter(VARIANTS))]])
                rows.append(
                    {
                        "state": state,
                        "variant": variant,
                        "first call served, ms": round(served),
                        "ratio": served / base,
                        "longest task, ms": round(median([one[1] for one in figures])),
                    }
                )
            report("boot", f"navigation start to first call served, median of {runs} runs", rows, browser.version)
            browser.close()


if __name__ == "__main__":
    main()
