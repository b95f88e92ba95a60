"""The scripted agent can fail: what does not match stops it, and its last line says so."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as BrowserError

from demo.agent.transcript import Stopped, Transcript, same, true


def test_steps_that_match_are_ok() -> None:
    transcript = Transcript()
    with transcript.step("First"):
        same("counts", 2, 2)
    with transcript.step("Second"):
        true("it holds", True)
    assert transcript.summary() == "agent: 2 steps, 2 ok"


def test_a_mismatch_is_printed_and_stops_the_agent(capsys: pytest.CaptureFixture[str]) -> None:
    transcript = Transcript()
    with transcript.step("Fine"):
        pass

    def read_the_table() -> None:
        with transcript.step("Read the table"):
            transcript.called("read", {"a": 1})
            same("the rows read and shown", [1, 2], [1])

    with pytest.raises(Stopped):
        read_the_table()
    assert transcript.summary() == "agent: 2 steps, 1 ok"
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  2  FAILED  Read the table",
        '             call  read {"a": 1}',
        "             but   the rows read and shown differ: [1, 2] against [1]",
    ]


def test_an_objection_of_the_browser_stops_the_agent() -> None:
    transcript = Transcript()
    with pytest.raises(Stopped), transcript.step("Call"):
        raise BrowserError("the page is gone")
    assert transcript.summary() == "agent: 1 steps, 0 ok"


def test_a_mistake_in_the_agent_itself_is_no_step_that_failed() -> None:
    with pytest.raises(ZeroDivisionError), Transcript().step("Divide"):
        1 / 0  # noqa: B018
