"""How ./tests/run counts. A suite that breaks, or finds nothing to run, has not passed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from demo.process import ROOT, Finished
from tests.suite import Check, Count, _count, command, junit, playwright

REPORT = """<testsuites><testsuite>
<testcase name="a"/>
<testcase name="b"><failure/></testcase>
<testcase name="c"><error/></testcase>
<testcase name="d"><skipped type="pytest.skip"/></testcase>
<testcase name="e"><skipped type="pytest.xfail"/></testcase>
</testsuite></testsuites>"""


def counted(check: Check, report: Path, code: int) -> Count:
    return _count(check, report, Finished(code, "", 0.0))


def test_pytest_reports_are_counted_by_case() -> None:
    assert junit(REPORT) == Count(passed=2, failed=2, skipped=1)


def test_a_browser_test_that_passed_only_when_repeated_has_failed() -> None:
    stats = {"expected": 5, "unexpected": 1, "flaky": 1, "skipped": 2}
    assert playwright(json.dumps({"stats": stats})) == Count(passed=5, failed=2, skipped=2)


def test_a_check_without_a_report_counts_as_one(tmp_path: Path) -> None:
    check = Check("style", command("true"))
    assert counted(check, tmp_path / "none", 0) == Count(passed=1)
    assert counted(check, tmp_path / "none", 1) == Count(failed=1)


@pytest.mark.parametrize("content", [None, "", "<testsuites", "{"])
def test_a_suite_that_left_no_readable_report_counts_as_one_failure(content: str | None, tmp_path: Path) -> None:
    report = tmp_path / "report"
    if content is not None:
        report.write_text(content)
    assert counted(Check("unit", command("true"), junit), report, 0) == Count(failed=1)


def test_a_suite_that_found_no_test_counts_as_one_failure(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("<testsuites/>")
    assert counted(Check("unit", command("true"), junit), report, 5) == Count(failed=1)


def test_a_suite_that_failed_outside_of_its_tests_counts_as_one_failure_more(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text('<testsuites><testcase name="a"/></testsuites>')
    assert counted(Check("unit", command("true"), junit), report, 1) == Count(passed=1, failed=1)


@pytest.mark.parametrize(
    ("count", "line"),
    [
        (Count(3, 0), "3 passed, 0 failed"),
        (Count(3, 1), "3 passed, 1 failed"),
        (Count(3, 0, 2), "3 passed, 0 failed, 2 skipped"),
    ],
)
def test_the_last_line(count: Count, line: str) -> None:
    assert str(count) == line


def test_help_names_what_is_not_part_of_it() -> None:
    said = subprocess.run([ROOT / "tests" / "run", "--help"], capture_output=True, text=True, check=True).stdout
    assert "tests/bench" in said


def test_an_unknown_suite_is_refused_with_the_names_of_all() -> None:
    run = subprocess.run([ROOT / "tests" / "run", "unti"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "there is no suite 'unti'; there are style, types, unit" in run.stderr
