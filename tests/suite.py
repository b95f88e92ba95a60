"""``./tests/run``: sets up, runs every suite, and ends with one line for all. Standard library only."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from demo import prepare
from demo.process import ROOT, Finished, Refusal, end_cleanly_on_signals, run

BIN = prepare.VENV / "bin"
NODE_BIN = ROOT / "node_modules" / ".bin"
HOUSE_CHECK = ROOT.parent / "shared" / "tools" / "house-check"

OTHERS = """\
not part of it, to be run by hand:
  .venv/bin/pytest tests/bench               the benchmarks, as tables and JSON
  npx playwright test -g 'part of a title'   some browser tests, after `./tests/run browser` has set things up
  .venv/bin/pytest tests/clients -k NAME     one real client
"""


@dataclass(frozen=True)
class Count:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


@dataclass(frozen=True)
class Check:
    """One command of a suite. ``report`` reads the file its tests are counted from; without one it counts as one."""

    label: str
    command: Callable[[Path], list[str | Path]]
    report: Callable[[str], Count] | None = None


def junit(text: str) -> Count:
    """Counts pytest's report. What fails as it was expected to has passed."""
    count = Count()
    for case in ElementTree.fromstring(text).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count += Count(failed=1)
        elif skipped is not None and skipped.get("type") != "pytest.xfail":
            count += Count(skipped=1)
        else:
            count += Count(passed=1)
    return count


def playwright(text: str) -> Count:
    """Counts Playwright's report. A test that passed only when it was repeated has failed."""
    stats = json.loads(text)["stats"]
    return Count(stats["expected"], stats["unexpected"] + stats["flaky"], stats["skipped"])


def command(*parts: str | Path) -> Callable[[Path], list[str | Path]]:
    """A command that writes no report."""
    return lambda report: list(parts)


def pytest(folder: str) -> Check:
    """The tests of one folder."""
    return Check(folder, lambda report: [BIN / "pytest", folder, f"--junitxml={report}", "--durations=3"], junit)


def browser_tests() -> Check:
    """The browser suite, its JSON report beside the list a person reads."""
    return Check(
        "playwright",
        lambda report: [
            "env",
            f"PLAYWRIGHT_JSON_OUTPUT_FILE={report}",
            NODE_BIN / "playwright",
            "test",
            "--reporter=list,json",
        ],
        playwright,
    )


SUITES: dict[str, list[Check]] = {
    "style": [
        Check("ruff check", command(BIN / "ruff", "check", "--output-format=concise")),
        Check("ruff format", command(BIN / "ruff", "format", "--check")),
        *([Check("house-check", command(sys.executable, HOUSE_CHECK))] if HOUSE_CHECK.exists() else []),
    ],
    "types": [
        Check("mypy --strict", command(BIN / "mypy")),
        Check("tsc: pages", command(NODE_BIN / "tsc", "-p", "jsconfig.json")),
        Check("tsc: tools", command(NODE_BIN / "tsc", "-p", "tests/jsconfig.json")),
    ],
    "unit": [pytest("tests/unit")],
    "property": [pytest("tests/property")],
    "commands": [pytest("tests/commands")],
    "browser": [browser_tests()],
    "clients": [pytest("tests/clients")],
    "agent": [Check("demo/run --agent", command(ROOT / "demo" / "run", "--agent"))],
}
NEED_NODE = {"types", "browser", "clients"}
NEED_BROWSER = {"commands", "browser", "clients", "agent"}


def main() -> int:
    """Returns the exit code: 0 where everything passed, 1 where something failed, 2 where it could not start."""
    names = _options()
    end_cleanly_on_signals()
    started = time.monotonic()
    try:
        _set_up(names)
        with tempfile.TemporaryDirectory() as reports:
            results = {
                f"{name}: {check.label}": _run(check, Path(reports) / f"{name}-{number}")
                for name in names
                for number, check in enumerate(SUITES[name])
            }
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    total = sum(results.values(), Count())
    for label, count in results.items():
        if count.failed:
            print(f"failed: {label}: {count}")
    print(f"{time.monotonic() - started:.0f} s for everything")
    print(total)
    return 1 if total.failed else 0


def _set_up(names: list[str]) -> None:
    print("setting up", flush=True)
    with prepare.alone():
        prepare.python_packages("dev")
        if NEED_NODE & {*names}:
            prepare.node_packages()
        if NEED_BROWSER & {*names}:
            prepare.chromium()
            prepare.runtime()


def _run(check: Check, report: Path) -> Count:
    """Runs one command, shows its result in a line and what it said where it failed."""
    done = run(check.label, check.command(report))
    count = _count(check, report, done)
    detail = f"{count}" if check.report else ""
    print(
        f"  {'FAILED' if count.failed else 'ok    '}  {check.label:18} {done.seconds:6.1f} s  {detail}".rstrip(),
        flush=True,
    )
    if count.failed:
        print("".join(f"    {line}\n" for line in done.output.splitlines()), end="", flush=True)
    return count


def _count(check: Check, report: Path, done: Finished) -> Count:
    if check.report is None:
        return Count(failed=1) if done.code else Count(passed=1)
    try:
        count = check.report(report.read_text())
    except (OSError, ValueError, KeyError, ElementTree.ParseError):
        return Count(failed=1)
    # A run that failed outside of its tests, or found none, has not passed.
    return count + Count(failed=1) if (done.code or count == Count()) and not count.failed else count


def _options() -> list[str]:
    parser = argparse.ArgumentParser(
        prog="./tests/run",
        description="Run the checks and tests of this repository; sets everything up first. The last line counts all.",
        epilog=OTHERS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", nargs="*", help=f"run only these: {', '.join(SUITES)} (default: all)")
    chosen = parser.parse_args().suite
    for name in chosen:
        if name not in SUITES:
            parser.error(f"there is no suite {name!r}; there are {', '.join(SUITES)}")
    return [name for name in SUITES if not chosen or name in chosen]


if __name__ == "__main__":
    sys.exit(main())
