"""Rewriting archives for a page: compiled, trimmed, stored, and the same bytes from the same inputs."""

from __future__ import annotations

import base64
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import pytest

from surface.cli.pyc import bytecode, headers_only, rewrite
from surface.cli.wheels import make_wheel

FILES = {
    "shop/__init__.py": b'"""About the shop."""\nfrom shop.till import Size, total\n',
    "shop/till.py": b"""
import enum
class Size(enum.Enum):
    "How large."
    SMALL = 1
def total(prices):
    "Add up."
    assert prices, "no prices"
    return sum(prices)
""",
    "shop/till.pyi": b"def total(prices: list[int]) -> int: ...\n",
    "shop/tests/test_till.py": b"assert True\n",
    "shop/template.py": b"def {{ name }}(): ...\n",
    "shop/data.json": b"{}",
}


def wheel(files: dict[str, bytes] = FILES) -> bytes:
    return make_wheel("shop", "1.0", files)[1]


def names(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.namelist()


def read(data: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name)


def test_the_same_members_in_another_order_with_other_times_give_the_same_bytes() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in reversed(names(wheel())):
            archive.writestr(zipfile.ZipInfo(name, (2031, 5, 6, 7, 8, 10)), read(wheel(), name))
    assert rewrite(buffer.getvalue(), "/site/", compiled=True) == rewrite(wheel(), "/site/", compiled=True)


def test_members_are_stored_without_compression_and_sorted() -> None:
    with zipfile.ZipFile(io.BytesIO(rewrite(wheel(), "/site/", compiled=True))) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.namelist() == sorted(archive.namelist())


def test_a_compiled_wheel_runs_without_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "shop.zip"
    archive.write_bytes(rewrite(wheel(), "/site/", compiled=True, strip_docstrings=True))
    monkeypatch.syspath_prepend(str(archive))
    try:
        import shop

        assert shop.total([1, 2]) == 3
        assert shop.total.__code__.co_filename == "/site/shop/till.py"
        assert shop.__doc__ is None
        assert shop.total.__doc__ is None
        assert shop.Size.__doc__ == "How large."
        with pytest.raises(AssertionError, match="no prices"):
            shop.total([])
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
            del sys.modules[name]


def test_compiled_modules_are_hash_based_and_never_ask_for_the_source() -> None:
    code = read(rewrite(wheel(), "/site/", compiled=True), "shop/till.pyc")
    assert int.from_bytes(code[4:8], "little") == 0b01


def test_a_file_that_is_no_valid_python_stays_a_source() -> None:
    assert read(rewrite(wheel(), "/site/", compiled=True), "shop/template.py") == FILES["shop/template.py"]
    assert bytecode(b"def (", "x.py", False) is None


def test_a_future_import_after_a_docstring_still_compiles_without_it() -> None:
    assert bytecode(b'"""Doc."""\nfrom __future__ import annotations\n', "x.py", True) is not None


def test_without_a_compiler_the_sources_stay() -> None:
    assert read(rewrite(wheel(), "/site/", compiled=False), "shop/till.py") == FILES["shop/till.py"]


def test_dropped_members_are_gone_from_the_wheel_and_its_record() -> None:
    rewritten = rewrite(wheel(), "/site/", compiled=True, drop=("*.pyi", "*/tests/*"))
    assert not [name for name in names(rewritten) if name.endswith(".pyi") or "/tests/" in name]
    assert b"till.pyi" not in read(rewritten, "shop-1.0.dist-info/RECORD")


def test_the_record_names_every_member_with_its_digest() -> None:
    rewritten = rewrite(wheel(), "/site/", compiled=True)
    lines = read(rewritten, "shop-1.0.dist-info/RECORD").decode().splitlines()
    assert [line.split(",")[0] for line in lines[:-1]] == [n for n in names(rewritten) if not n.endswith("RECORD")]
    assert lines[-1] == "shop-1.0.dist-info/RECORD,,"
    for line in lines[:-1]:
        name, digest, size = line.split(",")
        content = read(rewritten, name)
        expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={expected}", str(len(content)))


def test_metadata_keeps_its_headers_and_loses_the_long_description() -> None:
    assert headers_only(b"Name: shop\r\nVersion: 1.0\r\n\r\n# Shop\r\n\r\nLong.\r\n") == b"Name: shop\nVersion: 1.0\n"
    assert headers_only(b"Name: shop\nVersion: 1.0\n") == b"Name: shop\nVersion: 1.0\n"
