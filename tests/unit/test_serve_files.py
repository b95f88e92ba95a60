"""What ``BundleFiles`` answers, over real sockets: types, variants, caching, ranges, and nothing outside its folder."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from surface.cli.serve import listen
from surface.cli.static import STRICT_CSP, BundleFiles

SCRIPT = b"export const answer = 42;\n" * 100


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Server(NamedTuple):
    port: int
    folder: Path

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """One request whose path goes out exactly as written; ``http.client`` normalises nothing."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("files")
    folder = root / "site"
    (folder / "docs").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / ".well-known").mkdir()
    (root / "secret.txt").write_text("outside")
    (folder / ".env").write_text("KEY=1")
    (folder / ".well-known" / "about.txt").write_text("public")
    (folder / "index.html").write_text("<p>home</p>")
    (folder / "docs" / "index.html").write_text("<p>docs</p>")
    for name in ("a.mjs", "a.js", "a.json", "a.wasm", "a.whl", "a.zip", "a.css", "a.py", "a.unknown", "ä b.txt"):
        (folder / name).write_bytes(SCRIPT)
    (folder / "a.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (folder / "a.js.br").write_bytes(b"brotli bytes")
    (folder / "stale.js.br").write_bytes(b"of an older file")
    (folder / "stale.js").write_bytes(SCRIPT)
    os.utime(folder / "stale.js.br", (1, 1))
    (folder / "link.txt").symlink_to(root / "secret.txt")

    app = Starlette(
        routes=[
            Mount("/runtime", app=BundleFiles(folder)),
            Mount("/strict", app=BundleFiles(folder, csp=STRICT_CSP)),
            Mount("/", app=BundleFiles(folder)),
        ]
    )
    listening = listen("127.0.0.1", 0)
    running = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    yield Server(listening.getsockname()[1], folder)
    running.should_exit = True
    thread.join(10)
    listening.close()


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.wasm", "application/wasm"),
        ("a.json", "application/json"),
        ("a.whl", "application/zip"),
        ("a.zip", "application/zip"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.unknown", "application/octet-stream"),
        ("", "text/html; charset=utf-8"),
    ],
)
def test_a_file_has_the_type_a_browser_insists_on(server: Server, name: str, media_type: str) -> None:
    answer = server.get(f"/{name}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, media_type)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br;q=0, *;q=0.1", "gzip"),
        ("BR", "br"),
        ("identity", None),
        ("gzip;q=0", None),
        ("gzip;q=oops", None),
        ("", None),
    ],
)
def test_the_variant_follows_accept_encoding(server: Server, accepted: str, encoding: str | None) -> None:
    answer = server.get("/a.js", Accept_Encoding=accepted)
    bodies = {"br": b"brotli bytes", "gzip": gzip.compress(SCRIPT, mtime=0), None: SCRIPT}
    assert (answer.status, answer.headers["Content-Encoding"], answer.body) == (200, encoding, bodies[encoding])
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert int(answer.headers["Content-Length"]) == len(answer.body)


def test_a_variant_older_than_its_file_is_not_sent(server: Server) -> None:
    assert server.get("/stale.js", Accept_Encoding="br").body == SCRIPT


def test_the_etag_is_the_content_and_tells_encodings_apart(server: Server) -> None:
    digest = hashlib.sha256(SCRIPT).hexdigest()
    assert server.get("/a.js").headers["ETag"] == f'"{digest}"'
    assert server.get("/a.mjs").headers["ETag"] == f'"{digest}"'
    assert server.get("/a.js", Accept_Encoding="br").headers["ETag"] == f'"{digest}-br"'


def test_an_unchanged_file_is_answered_with_304_and_no_body(server: Server) -> None:
    first = server.get("/a.js", Accept_Encoding="br")
    again = server.get("/a.js", Accept_Encoding="br", If_None_Match=f'"other", W/{first.headers["ETag"]}')
    assert (again.status, again.body) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Vary"] == "Accept-Encoding"
    assert again.headers["Content-Encoding"] is None


def test_a_changed_file_has_a_new_etag_at_once(server: Server) -> None:
    file = server.folder / "changing.txt"
    file.write_text("one")
    first = server.get("/changing.txt").headers["ETag"]
    file.write_text("three")
    again = server.get("/changing.txt", If_None_Match=first)
    assert (again.status, again.body) == (200, b"three")


@pytest.mark.parametrize(
    ("query", "kept"),
    [("", False), ("?v=1.0", False), ("?v=deadbeef", False), (f"?v={hashlib.sha256(SCRIPT).hexdigest()[:12]}", True)],
)
def test_only_an_address_that_names_the_content_may_be_kept(server: Server, query: str, kept: bool) -> None:
    expected = "public, max-age=31536000, immutable" if kept else "no-cache"
    assert server.get(f"/a.js{query}").headers["Cache-Control"] == expected


def test_head_has_the_headers_of_get_and_no_body(server: Server) -> None:
    get, head = server.get("/a.js", Accept_Encoding="br"), server.get("/a.js", "HEAD", Accept_Encoding="br")
    assert (head.status, head.body) == (200, b"")
    for name in ("Content-Length", "Content-Type", "Content-Encoding", "ETag", "Cache-Control"):
        assert head.headers[name] == get.headers[name]


def test_a_range_is_cut_from_the_uncompressed_file(server: Server) -> None:
    answer = server.get("/a.js", Range="bytes=7-11", Accept_Encoding="br")
    assert (answer.status, answer.body) == (206, SCRIPT[7:12])
    assert answer.headers["Content-Range"] == f"bytes 7-11/{len(SCRIPT)}"
    assert answer.headers["Content-Encoding"] is None


def test_a_range_beyond_the_end_is_416_and_a_malformed_one_400(server: Server) -> None:
    assert server.get("/a.js", Range="bytes=999999-").status == 416
    assert server.get("/a.js", Range="bytes=nonsense").status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_405_and_say_what_is_allowed(server: Server, method: str) -> None:
    answer = server.get("/a.js", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/docs/../../secret.txt",
        "/docs/..%2f..%2fsecret.txt",
        "/..%5csecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/C:/Windows/win.ini",
        "/a.js%00.txt",
        "/link.txt",
        "/.env",
        "/docs/./index.html",
        "/a.js/",
        "/a.js/index.html",
        "/empty/",
        "/empty",
        "/missing.js",
        "/" + "x" * 5000,
    ],
)
def test_nothing_outside_hidden_or_missing_is_served(server: Server, path: str) -> None:
    answer = server.get(path)
    assert answer.status == 404
    assert answer.body == b"Not Found"


def test_well_known_and_names_beyond_ascii_are_served(server: Server) -> None:
    assert server.get("/.well-known/about.txt").body == b"public"
    assert server.get("/%C3%A4%20b.txt").body == SCRIPT


def test_a_folder_stands_for_its_index_and_gets_its_slash(server: Server) -> None:
    assert server.get("/docs/").body == b"<p>docs</p>"
    answer = server.get("/docs?x=1")
    assert (answer.status, answer.headers["Location"]) == (307, "docs/?x=1")


def test_it_can_be_mounted_below_a_path(server: Server) -> None:
    assert server.get("/runtime/a.js").body == SCRIPT
    assert server.get("/runtime/docs/").body == b"<p>docs</p>"
    assert server.get("/runtime/docs").headers["Location"] == "docs/"
    assert server.get("/runtime/../secret.txt").status == 404


def test_the_strict_policy_is_sent_with_every_answer_where_asked_for(server: Server) -> None:
    assert "script-src 'self' 'wasm-unsafe-eval'" in STRICT_CSP
    for path in ("/strict/a.js", "/strict/missing", "/strict/docs"):
        assert server.get(path).headers["Content-Security-Policy"] == STRICT_CSP
    assert server.get("/a.js").headers["Content-Security-Policy"] is None


def test_a_folder_that_does_not_exist_is_refused_when_the_app_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        BundleFiles(tmp_path / "missing")


def test_many_requests_at_once_are_all_answered(server: Server) -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(server.get("/a.js").status)) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == [200] * 40


def test_a_connection_that_is_cut_while_sending_harms_no_other(server: Server) -> None:
    (server.folder / "large.bin").write_bytes(bytes(5_000_000))
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert server.get("/a.js").status == 200
