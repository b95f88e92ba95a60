"""The lock file, the wheels that are made here, and the requirements of a page."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

from surface.cli.failure import CommandError
from surface.cli.lock import applies, build_lock, read_wheel
from surface.cli.own import own_wheel
from surface.cli.pins import BOOT_PACKAGES, PINS
from surface.cli.requirements import resolve
from surface.cli.wheels import download_failure, make_wheel, rpds_wheel

INFO = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"}


def simple(name: str, version: str = "1.0", *requires: str) -> tuple[str, bytes]:
    module = name.replace("-", "_")
    return make_wheel(name, version, {f"{module}/__init__.py": b""}, requires)


class Index:
    """A package index of wheels made on the spot; the newest that fits a requirement is what it gives."""

    def __init__(self, *wheels: tuple[str, bytes]) -> None:
        self.wheels = wheels
        self.asked: list[list[str]] = []

    def __call__(self, requirements: Sequence[str]) -> Mapping[str, bytes]:
        self.asked.append(list(requirements))
        found = {}
        for requirement in map(Requirement, requirements):
            fitting = []
            for file, data in self.wheels:
                name, version, _, _ = parse_wheel_filename(file)
                if name == requirement.name and requirement.specifier.contains(version):
                    fitting.append((version, file, data))
            if not fitting:
                raise download_failure(f"ERROR: No matching distribution found for {requirement}")
            _, file, data = max(fitting)
            found[file] = data
        return found


def chosen(index: Index, *requirements: str, carried: Mapping[str, str] | None = None) -> list[str]:
    wheels = resolve(requirements, carried or {}, index, lambda message: None)
    return [f"{read_wheel(file, data).name} {read_wheel(file, data).version}" for file, data in wheels.items()]


def test_the_lock_names_file_digest_imports_and_dependencies_of_every_wheel() -> None:
    wheels = dict([simple("shop-till", "2.1", "coins>=1"), simple("coins")])
    lock = build_lock(INFO, wheels)
    file, data = next(iter(wheels.items()))
    assert lock["info"] == INFO
    assert lock["packages"]["shop-till"] == {
        "name": "shop-till",
        "version": "2.1",
        "file_name": file,
        "install_dir": "site",
        "sha256": hashlib.sha256(data).hexdigest(),
        "package_type": "package",
        "imports": ["shop_till"],
        "depends": ["coins"],
        "unvendored_tests": False,
    }


def test_the_lock_is_the_same_for_any_order_of_wheels() -> None:
    wheels = [simple("shop", "1.0", "coins"), simple("coins")]
    assert json.dumps(build_lock(INFO, dict(wheels))) == json.dumps(build_lock(INFO, dict(reversed(wheels))))


def test_a_wheel_whose_need_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match=r"shop 1\.0 needs coins"):
        build_lock(INFO, dict([simple("shop", "1.0", "coins")]))


def test_a_wheel_whose_need_is_there_in_another_release_is_refused_with_both() -> None:
    with pytest.raises(CommandError, match=r"shop 1\.0 needs coins==2\.0, but the bundle holds 1\.0"):
        build_lock(INFO, dict([simple("shop", "1.0", "coins==2.0"), simple("coins")]))


def test_needs_are_read_for_the_page_and_not_for_this_machine() -> None:
    assert applies(Requirement('tool; sys_platform == "emscripten"'))
    assert not applies(Requirement('tool; sys_platform != "emscripten"'))
    assert not applies(Requirement('tool; python_version < "3.14"'))
    assert not applies(Requirement('tool; extra == "fast"'))
    assert applies(Requirement('tool; extra == "fast"'), frozenset({"fast"}))


def test_a_file_that_is_no_wheel_is_named() -> None:
    with pytest.raises(CommandError, match=r"broken\.whl"):
        read_wheel("broken.whl", b"not a zip")


def test_the_pinned_releases_hold_one_wheel_per_name_and_all_that_boot_needs() -> None:
    names = [pin.name for pin in PINS]
    assert len(names) == len(set(names))
    assert {*BOOT_PACKAGES} <= {*names, read_wheel(*own_wheel()).name}
    assert [pin.name for pin in PINS if pin.native] == ["pydantic-core"]


def test_rpds_is_two_lines_over_a_pure_package_that_is_pinned() -> None:
    facts = read_wheel(*rpds_wheel())
    assert (facts.name, facts.imports) == ("rpds-py", ("rpds",))
    assert {need.name for need in facts.requires} <= {pin.name for pin in PINS}


def test_our_own_wheel_is_the_same_each_time_and_leaves_out_what_no_page_needs() -> None:
    file, data = own_wheel()
    assert own_wheel() == (file, data)
    facts = read_wheel(file, data)
    assert facts.imports == ("surface", "webmcp")
    assert {need.name for need in facts.requires} == {"pydantic", "jsonschema"}
    assert b"surface/cli/" not in data
    assert b"surface/testing/" not in data
    assert b"webmcp/static/" not in data


def test_a_requirement_brings_all_that_it_needs() -> None:
    index = Index(simple("shop", "1.0", "till"), simple("till", "1.0", "coins"), simple("coins"))
    assert chosen(index, "shop") == ["coins 1.0", "shop 1.0", "till 1.0"]


def test_an_extra_brings_its_needs_and_others_stay_away() -> None:
    index = Index(
        simple("shop", "1.0", 'coins; extra == "cash"', 'cards; extra == "card"'), simple("coins"), simple("cards")
    )
    assert chosen(index, "shop[cash]") == ["coins 1.0", "shop 1.0"]


def test_a_later_narrower_need_replaces_an_earlier_choice() -> None:
    index = Index(simple("shop", "1.0", "coins<2"), simple("coins", "1.5"), simple("coins", "2.0"))
    assert chosen(index, "coins", "shop") == ["coins 1.5", "shop 1.0"]


def test_what_the_bundle_carries_is_not_fetched_again() -> None:
    index = Index(simple("shop", "1.0", "pydantic>=2"))
    assert chosen(index, "shop", carried={"pydantic": "2.14.4"}) == ["shop 1.0"]
    assert index.asked == [["shop"]]


def test_a_need_that_contradicts_the_bundle_names_both_sides() -> None:
    index = Index(simple("shop", "1.0", "pydantic<2"))
    with pytest.raises(CommandError, match=r"pydantic 2\.14\.4.*shop \(pydantic<2\)"):
        chosen(index, "shop", carried={"pydantic": "2.14.4"})


def test_a_requirement_without_a_pure_wheel_is_named() -> None:
    with pytest.raises(CommandError, match=r"^numpy has no pure-Python wheel for Python 3\.14"):
        chosen(Index(), "numpy")


@pytest.mark.parametrize("text", ["not a name!", "shop @ https://example.org/shop.whl", "missing-1.0-py3-none-any.whl"])
def test_a_text_that_is_no_requirement_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(CommandError, match=r"write one such as|give its path|does not exist"):
        chosen(Index(), text)


def test_the_path_of_a_wheel_is_a_requirement(tmp_path: Path) -> None:
    file, data = simple("shop", "3.0", "coins")
    (tmp_path / file).write_bytes(data)
    assert chosen(Index(simple("coins")), str(tmp_path / file)) == ["coins 1.0", "shop 3.0"]


def test_a_native_wheel_by_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop-1.0-cp314-cp314-linux_x86_64.whl"
    path.write_bytes(simple("shop")[1])
    with pytest.raises(CommandError, match="not a pure-Python wheel"):
        chosen(Index(), str(path))


def test_no_network_is_told_apart_from_no_such_wheel() -> None:
    offline = "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found for shop"
    assert "cannot be reached" in download_failure(offline).message
    assert download_failure("ERROR: disk full").message.endswith("disk full")
