"""One real bundle: made from npm's Pyodide and PyPI's wheels, then run under Node and in Chromium.

It shares the user's cache with ``surface bundle``, so that only the first run downloads, compiles and compresses.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import sync_playwright

from demo.agent.browser import CHROMIUM_ARGS
from surface.cli.bundle import Bundle, build_bundle
from surface.cli.failure import CommandError
from surface.cli.serve import address, listen
from surface.cli.static import STRICT_CSP, BundleFiles

# Quick to compress; the bytes a page unpacks are the same at any quality.
QUALITY = 5
# What a page must be able to do: validate by a type and by a raw JSON Schema, and find our own packages compiled.
CHECK = """
import json
import jsonschema
import pydantic
import surface
import webmcp

class Row(pydantic.BaseModel):
    ids: list[int] = pydantic.Field(min_length=1)

def wrong(value):
    try:
        Row.model_validate(value)
    except pydantic.ValidationError as problem:
        return problem.errors()[0]["type"]

schema = {"properties": {"name": {"pattern": "^x"}, "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
problems = jsonschema.Draft202012Validator(schema).iter_errors({"name": "y", "size": "z"})
json.dumps({
    "right": Row.model_validate({"ids": [3]}).ids,
    "wrong": wrong({"ids": []}),
    "raw": sorted(problem.validator for problem in problems),
    "version": pydantic.VERSION,
    "files": [module.__file__.rpartition(".")[2] for module in (json, pydantic, surface, webmcp)],
})
"""
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Check</title>
<script type="module" src="page.mjs"></script>"""
BOOT = """export async function check(base, read) {
  const bundle = JSON.parse(await read("bundle.json"));
  const { loadPyodide } = await import(base.href + "pyodide.mjs");
  const at = base.protocol === "file:" ? decodeURIComponent(base.pathname) : base.href;
  const pyodide = await loadPyodide({
    indexURL: at, stdLibURL: at + "python_stdlib.zip", lockFileURL: at + "pyodide-lock.json",
    packageBaseUrl: at, packages: bundle.packages,
  });
  return pyodide.runPython(await read("check.py"));
}
"""
IN_CHROMIUM = """import { check } from "./boot.mjs";
const base = new URL(".", import.meta.url);
const read = async (name) => (await fetch(base.href + name)).text();
try {
  document.body.dataset.result = await check(base, read);
} catch (error) {
  document.body.dataset.result = String(error);
}
"""
IN_NODE = """import { readFile } from "node:fs/promises";
import { check } from "./boot.mjs";
const base = new URL(".", import.meta.url);
try {
  console.log(await check(base, (name) => readFile(new URL(name, base), "utf8")));
  process.exit(0);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    (folder / ".git").mkdir()
    (folder / "node_modules").mkdir()
    for name, text in {
        "index.html": PAGE,
        "boot.mjs": BOOT,
        "page.mjs": IN_CHROMIUM,
        "node.mjs": IN_NODE,
        "check.py": CHECK,
        ".git/config": "",
        "node_modules/left.js": "",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def bundle(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return build_bundle(tmp_path_factory.mktemp("made") / "site", app=page, quality=QUALITY)


@pytest.fixture(scope="module")
def site(bundle: Bundle) -> Iterator[str]:
    with listen("127.0.0.1", 0) as listening:
        app = BundleFiles(bundle.folder, csp=STRICT_CSP)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield address(listening)
        server.should_exit = True
        thread.join(10)


def expect_python_to_work(result: str, bundle: Bundle, suffix: str = "pyc") -> None:
    assert json.loads(result) == {
        "right": [3],
        "wrong": "too_short",
        "raw": ["anyOf", "pattern"],
        "version": bundle.index["versions"]["pydantic"],
        "files": [suffix] * 4,
    }


def under_node(bundle: Bundle) -> str:
    command = [str(shutil.which("node")), str(bundle.folder / "node.mjs")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-500:]
    return run.stdout.strip().splitlines()[-1]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_python_validates_both_ways_under_node(bundle: Bundle) -> None:
    expect_python_to_work(under_node(bundle), bundle)


def test_python_validates_both_ways_in_chromium_under_a_strict_policy_and_stays_on_loopback(
    bundle: Bundle, site: str
) -> None:
    asked, complaints = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(site)
        page.locator("body[data-result]").wait_for(state="attached", timeout=60_000)
        result = page.locator("body").get_attribute("data-result")
        browser.close()
    assert result is not None
    expect_python_to_work(result, bundle)
    assert complaints == []
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
    assert site + "pyodide.asm.wasm" in asked


def test_the_index_describes_every_file_and_every_variant(bundle: Bundle) -> None:
    files = files_of(bundle.folder)
    index = json.loads(files.pop("bundle.json"))
    assert index == bundle.index
    assert index["packages"] == ["pydantic", "jsonschema", "webmcp-surface"]
    for name, entry in index["files"].items():
        data = files.pop(name)
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["size"], entry["sha256"])
        for key, suffix in (("gzip", ".gz"), ("brotli", ".br")):
            variant = files.pop(name + suffix, None)
            assert entry[key] == (None if variant is None else len(variant))
    assert files == {}


def test_wheels_are_stored_and_compiled_and_the_lock_has_their_digests(bundle: Bundle) -> None:
    lock = json.loads((bundle.folder / "pyodide-lock.json").read_text())
    assert {*bundle.index["packages"], "pydantic-core", "rpds-py"} <= {*lock["packages"]}
    for package in lock["packages"].values():
        assert package["sha256"] == bundle.index["files"][package["file_name"]]["sha256"]
        with zipfile.ZipFile(bundle.folder / package["file_name"]) as wheel:
            assert {info.compress_type for info in wheel.infolist()} == {zipfile.ZIP_STORED}
            assert not [name for name in wheel.namelist() if name.endswith((".py", ".pyi")) or "/tests/" in name]


def test_the_page_is_copied_as_it_is_without_hidden_folders_and_node_modules(bundle: Bundle, page: Path) -> None:
    for name in ("index.html", "check.py"):
        assert (bundle.folder / name).read_bytes() == (page / name).read_bytes()
    assert not [name for name in files_of(bundle.folder) if ".git" in name or "node_modules" in name]


def test_the_same_inputs_give_the_same_bytes(bundle: Bundle, page: Path, tmp_path: Path) -> None:
    again = build_bundle(tmp_path / "again", app=page, quality=QUALITY)
    assert files_of(again.folder) == files_of(bundle.folder)


def test_a_bundle_is_renewed_and_what_it_did_not_write_is_left_alone(page: Path, tmp_path: Path) -> None:
    out, old = tmp_path / "out", tmp_path / "old"
    old.mkdir()
    (old / "old.js").write_text("let old = 1;\n" * 200)
    build_bundle(out, app=old, quality=QUALITY)
    (out / "notes.txt").write_text("mine")
    assert (out / "old.js.br").is_file()
    renewed = build_bundle(out, app=page, quality=QUALITY)
    assert not [path.name for path in out.glob("old.js*")]
    assert (out / "notes.txt").read_text() == "mine"
    assert "index.html" in renewed.index["files"]


def test_a_bundle_that_was_interrupted_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace, count = os.replace, iter(range(100))

    def full_disk(source: str, target: str) -> None:
        if str(target).startswith(str(tmp_path)) and next(count) == 5:
            raise OSError(28, "No space left on device", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        build_bundle(tmp_path / "out", quality=QUALITY)
    assert "packages" not in json.loads((tmp_path / "out" / "bundle.json").read_text())
    made = build_bundle(tmp_path / "out", quality=QUALITY)
    assert "packages" in made.index


def test_a_page_file_may_not_replace_one_of_the_runtime(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "pyodide.mjs").write_text("")
    with pytest.raises(CommandError, match=r"pyodide\.mjs in .* would replace a file of the runtime"):
        build_bundle(tmp_path / "out", app=tmp_path / "page", quality=QUALITY)


def test_without_node_one_sentence_says_so_and_the_modules_work_as_sources(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    with monkeypatch.context() as without:
        without.setattr("surface.cli.bundle.find_node", lambda: None)
        made = build_bundle(tmp_path / "plain", app=page, quality=1, warn=warnings.append)
    assert made.index["modules"] == "py"
    assert [warning.partition(",")[0] for warning in warnings] == ["Node 20 or newer was not found"]
    expect_python_to_work(under_node(made), made, "py")
