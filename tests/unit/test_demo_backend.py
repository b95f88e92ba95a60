"""The demo's backend, over real SQLite files and real HTTP."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from demo.backend import seed
from demo.backend.server import create_app, main
from demo.backend.store import Store, StoreError

REPOSITORY = Path(__file__).resolve().parents[2]
NOW = 1_790_000_000
DOCUMENTATION = [ipaddress.ip_network(name) for name in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "devices.sqlite3"


@pytest.fixture
def client(database: Path) -> Iterator[TestClient]:
    with TestClient(create_app(database), raise_server_exceptions=False) as client:
        yield client


def opened(database: Path, now: int = NOW) -> Store:
    store = Store(database, clock=lambda: now)
    store.open()
    return store


def error_of(response: Any) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert list(body) == ["error"]
    return body["error"]


def test_the_first_start_seeds_at_least_240_devices_with_every_status_and_site(database: Path) -> None:
    devices = opened(database).devices()
    assert len(devices) == 248
    assert {device["status"] for device in devices} == set(seed.STATUSES)
    assert {device["site"] for device in devices} == {site.code for site in seed.SITES}
    assert len({device["id"] for device in devices}) == len({device["ip"] for device in devices}) == 248
    # A person tells two devices of one site apart by their names.
    assert max(Counter((device["site"], device["name"]) for device in devices).values()) == 1


def test_seeding_is_the_same_on_every_machine(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "a.sqlite3"), opened(tmp_path / "b.sqlite3")
    assert first.devices() == second.devices()
    assert first.device("dev-0100") == second.device("dev-0100")


def test_every_address_is_from_a_range_reserved_for_documentation(database: Path) -> None:
    for device in opened(database).devices():
        assert any(ipaddress.ip_address(device["ip"]) in network for network in DOCUMENTATION)


def test_the_file_is_in_wal_mode(database: Path) -> None:
    opened(database)
    with contextlib.closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_second_start_keeps_what_changed_and_moves_the_times_forward(database: Path) -> None:
    before = {device["id"]: device for device in opened(database).devices()}
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE devices SET name = 'Renamed' WHERE id = 'dev-0001'")
    a_week = 7 * seed.DAY
    after = {device["id"]: device for device in opened(database, NOW + a_week).devices()}
    assert after["dev-0001"]["name"] == "Renamed"
    for key, device in after.items():
        moved = datetime.fromisoformat(device["lastSeen"]) - datetime.fromisoformat(before[key]["lastSeen"])
        assert moved == timedelta(seconds=a_week)


def test_a_clock_that_went_back_moves_nothing(database: Path) -> None:
    before = opened(database).devices()
    assert opened(database, NOW - seed.DAY).devices() == before


def test_two_first_starts_at_once_seed_once(database: Path) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            opened(database)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Store(database).count() == 248


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite3"
    file.write_text("not a database at all, but long enough to look like a header of one" * 20)
    with pytest.raises(StoreError, match=re.escape(str(file))):
        Store(file).open()
    assert file.read_text().startswith("not a database")


def test_a_file_of_another_version_is_refused_and_left_alone(database: Path) -> None:
    opened(database)
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"another version of the demo\. Delete it"):
        opened(database)
    assert Store(database).count() == 248


def test_the_list_gives_every_device_with_iso_times_in_utc(client: TestClient, database: Path) -> None:
    body = client.get("/api/devices").json()
    assert len(body["devices"]) == 248
    assert set(body["devices"][0]) == {
        *("id", "name", "site", "siteName", "status", "kind", "model", "firmware", "ip", "lastSeen")
    }
    for device in body["devices"]:
        seen = datetime.fromisoformat(device["lastSeen"])
        assert seen.tzinfo == UTC
        assert seen <= datetime.now(UTC)
    with contextlib.closing(sqlite3.connect(database)) as db:
        stored = dict(db.execute("SELECT id, status FROM devices"))
    assert {device["id"]: device["status"] for device in body["devices"]} == stored


def test_the_list_counts_the_devices_of_each_site(client: TestClient) -> None:
    body = client.get("/api/devices").json()
    counted = Counter(device["site"] for device in body["devices"])
    assert {site["code"]: site["devices"] for site in body["sites"]} == counted


def test_one_device_comes_with_readings_and_events_newest_first(client: TestClient) -> None:
    body = client.get("/api/devices/dev-0042").json()
    assert body["device"]["id"] == "dev-0042"
    assert len(body["readings"]) == seed.READINGS_PER_DEVICE
    assert body["events"][-1]["text"] == "Installed"
    for rows in (body["readings"], body["events"]):
        times = [row["at"] for row in rows]
        assert times == sorted(times, reverse=True)


def test_an_offline_device_has_no_reading_after_it_was_last_seen(client: TestClient) -> None:
    devices = client.get("/api/devices").json()["devices"]
    for device in [device for device in devices if device["status"] == "offline"]:
        report = client.get(f"/api/devices/{device['id']}").json()
        assert report["readings"][0]["at"] <= report["device"]["lastSeen"]
        assert report["events"][0]["text"] == "Lost contact"


@pytest.mark.parametrize("name", ["dev-9999", "%27%20OR%201%3D1", "%3Cscript%3E", "x" * 5000])
def test_an_unknown_device_is_a_typed_404(client: TestClient, name: str) -> None:
    response = client.get(f"/api/devices/{name}")
    assert response.status_code == 404
    error = error_of(response)
    assert error["code"] == "DEVICE_NOT_FOUND"
    assert len(error["message"]) < 200


def test_an_unknown_address_of_the_api_is_a_typed_404(client: TestClient) -> None:
    response = client.get("/api/nothing/here")
    assert response.status_code == 404
    assert error_of(response)["code"] == "NOT_FOUND"


def test_a_wrong_method_is_a_typed_405_that_says_what_is_allowed(client: TestClient) -> None:
    response = client.delete("/api/devices/dev-0001")
    assert response.status_code == 405
    assert error_of(response)["code"] == "METHOD_NOT_ALLOWED"
    assert "GET" in response.headers["allow"]


def test_a_database_that_went_away_is_a_typed_503_without_sql_in_it(client: TestClient, database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("ALTER TABLE devices RENAME TO gone")
    response = client.get("/api/devices")
    assert response.status_code == 503
    assert error_of(response)["code"] == "STORAGE_UNAVAILABLE"
    assert "gone" not in response.text
    assert "devices d" not in response.text


def test_every_answer_carries_a_policy_without_inline_script_or_style(client: TestClient) -> None:
    for path in ("/", "/api/devices", "/api/nope", "/main.js", "/app.py", "/nope.js"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "script-src 'self' 'wasm-unsafe-eval'" in policy
        assert "unsafe-inline" not in policy
        assert "'unsafe-eval'" not in policy


def test_the_page_has_no_inline_script_or_style_and_names_no_other_host(client: TestClient) -> None:
    page = client.get("/").text
    assert re.search(r"<script(?![^>]*\bsrc=)", page) is None
    assert re.search(r"<style|\sstyle=|\son\w+=", page) is None
    assert re.search(r"""(?:src|href)=["'](?:https?:)?//""", page) is None
    start = page.index("/static/surface.js")
    assert start < page.index("/main.js")


def test_everything_the_page_refers_to_is_served_with_its_type(client: TestClient) -> None:
    page = client.get("/").text
    types = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    for address in re.findall(r'(?:src|href)="(/[^"]+\.(?:css|js|svg))"', page):
        if address.startswith("/static/"):
            continue
        response = client.get(address)
        assert response.status_code == 200, address
        assert response.headers["content-type"].startswith(types[address.rsplit(".", 1)[1]])


def test_the_capabilities_are_served_and_the_backend_is_not(client: TestClient) -> None:
    assert "devices.table" in client.get("/app.py").text
    for path in ("/backend/server.py", "/server.py", "/../backend/server.py", "/%2e%2e/backend/server.py"):
        assert client.get(path).status_code == 404


def test_without_a_bundle_the_runtime_is_a_typed_404(client: TestClient) -> None:
    response = client.get("/runtime/pyodide.mjs")
    assert response.status_code == 404
    assert error_of(response)["code"] == "NO_RUNTIME"


def test_with_a_bundle_its_files_are_served(database: Path, tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "python.wasm").write_bytes(b"\0asm")
    client = TestClient(create_app(database, runtime=tmp_path / "runtime"))
    assert client.get("/runtime/python.wasm").headers["content-type"] == "application/wasm"


@contextlib.contextmanager
def running(database: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "demo.backend", "--port", "0", "--db", str(database)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield process, line
        finally:
            process.kill()


def test_the_server_prints_one_line_once_it_listens_and_stops_on_a_signal(database: Path) -> None:
    with running(database) as (process, line):
        found = re.fullmatch(r"Devices demo: (http://127\.0\.0\.1:(\d+)/)\n", line)
        assert found, process.stderr and process.stderr.read()
        with socket.create_connection(("127.0.0.1", int(found[2])), timeout=5) as connection:
            connection.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert b'{"status":"ok","devices":248}' in answer
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_port_in_use_is_one_sentence_and_2(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port), "--db", str(database)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"Port {port} on 127.0.0.1 is in use; choose another with --port, or --port 0.\n"
    # Whoever starts the demo twice must not have touched the first one's data.
    assert not database.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--runtime", "nowhere"], "nowhere is no runtime bundle"),
        (["--host", "no.such.host.invalid", "--port", "0"], "is no address of this machine"),
        (["--host", "203.0.113.9", "--port", "0"], "Cannot listen on 203.0.113.9"),
    ],
)
def test_what_keeps_the_server_from_starting_is_one_sentence_and_2(
    database: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert main([*arguments, "--db", str(database)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err


def test_a_bad_database_is_one_sentence_and_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    assert main(["--port", "0", "--db", str(tmp_path / "taken" / "devices.sqlite3")]) == 2
    assert "cannot be used as the demo's database" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "http", ""])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["--port", port])
    assert exit.value.code == 2
    assert "is no port" in capsys.readouterr().err
