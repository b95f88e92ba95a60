"""The page round trip: `executeTool` on a no-op Python action against the same tool hand-written in JavaScript, in
one page, batches of calls alternating.

    .venv/bin/python -m tests.bench.round_trip
"""

from __future__ import annotations

from playwright.sync_api import sync_playwright

from tests.bench.site import ROOT, chromium, median, report, serve

BY_HAND = "by_hand"
PYTHON = ("view_bench__noop__plain", "view_bench__noop__eager")
BATCHES, CALLS = 25, 100
SIZES = {"100 B": 88, "2 kB": 2_036}


def main() -> None:
    """Measure, print and write results/round_trip.json."""
    folders = {
        "bench": ROOT / "tests" / "bench" / "pages",
        "static": ROOT / "static",
        "runtime": ROOT / "build" / "runtime",
    }
    with serve(folders) as url, sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page()
        page.goto(f"{url}/bench/round_trip.html")
        page.wait_for_function("document.documentElement.dataset.agentSurface === 'ready'", timeout=120_000)
        page.wait_for_function("document.modelContext.getTools().then(tools => tools.length >= 4)", timeout=30_000)
        rows = []
        for label, characters in SIZES.items():
            times = page.evaluate(
                "([names, characters, batches, calls]) => measure(names, characters, batches, calls)",
                [[BY_HAND, *PYTHON], characters, BATCHES, CALLS],
            )
            base = median(times[BY_HAND])
            rows += [
                {"input": label, "tool": name, "ms per call": median(found), "ratio": median(found) / base}
                for name, found in times.items()
            ]
        report(
            "round_trip",
            f"executeTool round trip, median of {BATCHES} batches of {CALLS} calls, batches alternating",
            rows,
            browser.version,
        )
        browser.close()


if __name__ == "__main__":
    main()
