"""Where the fleet lives: one SQLite file in WAL mode, seeded the first time it is opened.

Times are stored as epoch seconds and leave this module as ISO 8601 text in UTC.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from demo.backend import seed

SCHEMA_VERSION = 1
SCHEMA = Path(__file__).with_name("schema.sql")
BUSY_TIMEOUT = 5.0

DEVICE_COLUMNS = """d.id, d.name, d.site_code AS site, s.name AS siteName, d.status, d.kind, d.model, d.firmware,
                    d.ip, d.last_seen AS lastSeen"""


class StoreError(Exception):
    """The database file cannot be used; the message says why and what to do."""


class Store:
    """The fleet in the file at ``path``. Every method opens its own connection, so threads may share one Store.

    ``clock`` gives epoch seconds; only seeding and :meth:`open` read it.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock

    def open(self) -> None:
        """Create and seed the file if it is new, or move an older fleet's times forward so that it looks current.

        Several processes may do this at once. Raises :class:`StoreError` where the file cannot be used.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._connection() as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("BEGIN IMMEDIATE")
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
                    _create(db, int(self._clock()))
                elif version == SCHEMA_VERSION:
                    _catch_up(db, int(self._clock()))
                else:
                    raise StoreError(f"{self.path} was made by another version of the demo. Delete it and start again.")
                db.commit()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.path} cannot be used as the demo's database: {error}.") from error

    def count(self) -> int:
        """How many devices there are."""
        with self._connection() as db:
            return int(db.execute("SELECT count(*) FROM devices").fetchone()[0])

    def devices(self) -> list[dict[str, Any]]:
        """Every device as the table shows it, by name."""
        with self._connection() as db:
            rows = db.execute(
                f"SELECT {DEVICE_COLUMNS} FROM devices d JOIN sites s ON s.code = d.site_code ORDER BY d.name, d.id"
            )
            return [_timed(row, "lastSeen") for row in rows]

    def sites(self) -> list[dict[str, Any]]:
        """Every site with its number of devices, by code."""
        with self._connection() as db:
            rows = db.execute(
                """SELECT s.code, s.name, s.country, count(d.id) AS devices
                   FROM sites s LEFT JOIN devices d ON d.site_code = s.code GROUP BY s.code ORDER BY s.code"""
            )
            return [dict(row) for row in rows]

    def device(self, device_id: str) -> dict[str, Any] | None:
        """One device with its recent readings and events, newest first; None if there is no such device."""
        with self._connection() as db:
            row = db.execute(
                f"""SELECT {DEVICE_COLUMNS}, d.hostname, d.serial, d.note
                    FROM devices d JOIN sites s ON s.code = d.site_code WHERE d.id = ?""",
                (device_id,),
            ).fetchone()
            if row is None:
                return None
            readings = db.execute(
                """SELECT at, temperature_c AS temperatureC, load_percent AS loadPercent, latency_ms AS latencyMs
                   FROM readings WHERE device_id = ? ORDER BY at DESC LIMIT 24""",
                (device_id,),
            )
            events = db.execute(
                "SELECT at, kind, text FROM events WHERE device_id = ? ORDER BY at DESC, id LIMIT 20", (device_id,)
            )
            return {
                "device": _timed(row, "lastSeen"),
                "readings": [_timed(reading, "at") for reading in readings],
                "events": [_timed(event, "at") for event in events],
            }

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        try:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA foreign_keys = ON")
            yield db
        finally:
            db.close()


def _create(db: sqlite3.Connection, now: int) -> None:
    # executescript() would commit the transaction that keeps a second process out.
    for statement in SCHEMA.read_text(encoding="utf-8").split(";\n"):
        db.execute(statement)
    db.execute("INSERT INTO seed_clock VALUES (1, ?)", (now,))
    db.executemany("INSERT INTO sites VALUES (?, ?, ?)", (site[:3] for site in seed.SITES))
    for device in seed.fleet():
        *values, last_seen = device
        db.execute(f"INSERT INTO devices VALUES ({', '.join('?' * 12)})", (*values, now - last_seen))
        db.executemany(
            "INSERT INTO readings VALUES (?, ?, ?, ?, ?)",
            ((reading.device_id, now - reading.ago, *reading[2:]) for reading in seed.readings(device)),
        )
        db.executemany(
            "INSERT INTO events (device_id, at, kind, text) VALUES (?, ?, ?, ?)",
            ((event.device_id, now - event.ago, event.kind, event.text) for event in seed.events(device)),
        )
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _catch_up(db: sqlite3.Connection, now: int) -> None:
    elapsed = now - int(db.execute("SELECT base FROM seed_clock").fetchone()[0])
    if elapsed <= 0:
        return
    db.execute("UPDATE devices SET last_seen = last_seen + ?", (elapsed,))
    db.execute("UPDATE readings SET at = at + ?", (elapsed,))
    db.execute("UPDATE events SET at = at + ?", (elapsed,))
    db.execute("UPDATE seed_clock SET base = ?", (now,))


def _timed(row: sqlite3.Row, key: str) -> dict[str, Any]:
    return {**row, key: iso(row[key])}


def iso(seconds: float) -> str:
    """Epoch seconds as ISO 8601 text in UTC, such as ``2026-03-01T09:30:00Z``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
