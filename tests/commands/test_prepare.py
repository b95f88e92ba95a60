"""What is missing on a machine is said in one sentence with what to do about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from demo import prepare
from demo.process import ROOT, Finished, Refusal


@pytest.fixture
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it; what a test needs it puts there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    """Puts a program on the bare PATH."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_no_python_is_one_sentence(bare_path: Path) -> None:
    found = subprocess.run(["/bin/sh", "-c", f". {ROOT}/demo/python.sh"], capture_output=True, text=True)
    assert found.returncode == 2
    assert found.stderr.startswith("Python 3.11 or newer is needed and none was found: install one")
    assert found.stderr.count("\n") == 1


def test_no_node_is_one_sentence(bare_path: Path) -> None:
    with pytest.raises(
        Refusal, match=r"^Node with npm was not found: install Node 20 or newer, then run this again\.$"
    ):
        prepare.node()


def test_an_old_node_is_one_sentence(bare_path: Path) -> None:
    program(bare_path, "npm", "")
    program(bare_path, "node", "echo v18.20.4")
    with pytest.raises(Refusal, match=r"^Node v18\.20\.4 is too old: install Node 20 or newer, then run this again\.$"):
        prepare.node()


def test_a_node_that_is_new_enough_is_taken(bare_path: Path) -> None:
    program(bare_path, "npm", "")
    program(bare_path, "node", "echo v24.0.1")
    assert prepare.node() == str(bare_path / "node")


def test_no_chromium_where_none_can_be_installed_is_one_sentence(bare_path: Path) -> None:
    with pytest.raises(Refusal, match=r"^No Chromium was found: install one \(Debian: apt-get install chromium\)"):
        prepare.chromium()


def test_a_chromium_that_could_not_be_fetched_is_the_networks_fault_where_it_was(
    bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    program(bare_path, "env", 'shift; exec "$@"')
    program(bare_path, "apt-get", "echo 'E: Could not resolve deb.example'; exit 100")
    with pytest.raises(Refusal, match=r"^No Chromium was found, because the network did not answer; connect, then"):
        prepare.chromium()


def test_what_a_tool_said_last_is_shown_where_the_network_is_not_to_blame(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = prepare._refusal(Finished(1, "first\n" * 30 + "disk full\n", 1.0), "It failed", "see above")
    assert str(refusal) == "It failed; see above."
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == "    disk full"
    assert len(shown) == 20
