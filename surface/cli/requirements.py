"""A page's own requirements: pure-Python wheels and all that they need, chosen for the page and not for this machine.

pip downloads; the choice is made here, because pip reads markers such as ``sys_platform == "emscripten"`` for the
machine it runs on and would insist on native wheels that the bundle replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from surface.cli.failure import CommandError
from surface.cli.lock import WheelFacts, applies, read_wheel

# More rounds than any honest set of requirements takes; a set that keeps changing its mind is a conflict.
_ROUNDS = 25

Fetch = Callable[[Sequence[str]], Mapping[str, bytes]]


@dataclass
class _Wanted:
    """What all who need one distribution ask of it together."""

    specifier: SpecifierSet = field(default_factory=SpecifierSet)
    extras: frozenset[str] = frozenset()
    by: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Chosen:
    file: str
    data: bytes
    facts: WheelFacts


def resolve(
    requirements: Sequence[str], carried: Mapping[str, str], fetch: Fetch, report: Callable[[str], None]
) -> dict[str, bytes]:
    """The wheels (file name → bytes) that the requirements add to a bundle which carries ``carried`` (name → version).

    A requirement is what pip takes (``name``, ``name[extra]>=1``) or the path of a pure-Python wheel. ``fetch`` gets
    requirement texts and returns wheels. Raises ``CommandError`` for a text that is no requirement, a wheel that is
    not pure Python, and requirements that contradict each other or the bundle.
    """
    roots, chosen = _read(requirements)
    local = set(chosen)
    for _ in range(_ROUNDS):
        wanted = dict(_closure(roots, chosen))
        _check_carried(wanted, carried)
        pending = [name for name in wanted if name not in carried and not _satisfied(wanted[name], chosen.get(name))]
        if not pending:
            return {chosen[name].file: chosen[name].data for name in sorted(wanted) if name in chosen}
        for name in pending:
            if name in local:
                raise _conflict(name, wanted[name], chosen[name].facts.version)
        report(f"Downloading {', '.join(pending)}")
        for file, data in fetch([f"{name}{wanted[name].specifier}" for name in pending]).items():
            facts = read_wheel(file, data)
            chosen[facts.name] = _Chosen(file, data, facts)
    raise CommandError(f"No set of releases satisfies {', '.join(requirements)}; pin some of them to one release.")


def _read(requirements: Sequence[str]) -> tuple[list[Requirement], dict[str, _Chosen]]:
    roots, chosen = [], {}
    for text in requirements:
        if text.endswith(".whl"):
            path = Path(text)
            if not path.is_file():
                raise CommandError(f"The wheel {text} does not exist.")
            if not path.name.endswith("-none-any.whl"):
                raise CommandError(f"{path.name} is not a pure-Python wheel (…-none-any.whl), so no page can load it.")
            data = path.read_bytes()
            facts = read_wheel(path.name, data)
            chosen[facts.name] = _Chosen(path.name, data, facts)
            roots.append(Requirement(facts.name))
            continue
        try:
            roots.append(Requirement(text))
        except InvalidRequirement as problem:
            raise CommandError(
                f'"{text}" is not a requirement; write one such as "humanize>=4", or the path of a wheel.'
            ) from problem
        if roots[-1].url:
            raise CommandError(f'"{text}" names an address; download the wheel and give its path instead.')
    return roots, chosen


def _closure(roots: list[Requirement], chosen: Mapping[str, _Chosen]) -> Iterator[tuple[str, _Wanted]]:
    """Everything the roots need by what is chosen so far, with all that is asked of each name."""
    wanted: dict[str, _Wanted] = {}
    queue = [(requirement, "--requirement") for requirement in roots if applies(requirement)]
    expanded: set[tuple[str, frozenset[str]]] = set()
    while queue:
        requirement, parent = queue.pop(0)
        name = canonicalize_name(requirement.name)
        entry = wanted.setdefault(name, _Wanted())
        entry.specifier &= requirement.specifier
        entry.extras |= requirement.extras
        entry.by.append(f"{parent} ({requirement})")
        if name in chosen and (name, entry.extras) not in expanded:
            expanded.add((name, entry.extras))
            needs = chosen[name].facts.requires
            queue += [(needed, name) for needed in needs if applies(needed, entry.extras)]
    yield from wanted.items()


def _satisfied(wanted: _Wanted, chosen: _Chosen | None) -> bool:
    return chosen is not None and wanted.specifier.contains(chosen.facts.version, prereleases=True)


def _check_carried(wanted: Mapping[str, _Wanted], carried: Mapping[str, str]) -> None:
    for name, entry in wanted.items():
        if name in carried and not entry.specifier.contains(carried[name], prereleases=True):
            raise _conflict(name, entry, carried[name])


def _conflict(name: str, wanted: _Wanted, version: str) -> CommandError:
    return CommandError(
        f"The bundle holds {name} {version}, but another is asked for by {' and '.join(wanted.by)}; "
        "choose a release of that requirement which works with it."
    )
