"""Which tools an adapter shows now, and by what they differ from those it showed before. Pure functions.

Source: 03, "Mapping". A tool is one available capability of one registration; it is renewed only where its definition
or its registration moved.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surface.errors import SurfaceDefinitionError
from surface.projection.presentation import Presentation, Replacement
from surface.projection.projector import ProjectedTool

if TYPE_CHECKING:
    from surface.registry.snapshot import CapabilityDescriptor, Snapshot

logger = logging.getLogger("webmcp")

Expose = Callable[["CapabilityDescriptor"], "bool | Mapping[str, str] | None"]


@dataclass(frozen=True, slots=True)
class Difference:
    """What to do so that the tools shown become the tools wanted: first every removal, then every addition."""

    remove: tuple[str, ...]
    add: tuple[ProjectedTool, ...]


def difference(shown: Mapping[str, ProjectedTool], wanted: Iterable[ProjectedTool]) -> Difference:
    """Compare by name: a tool whose definition or registration changed is removed and added; equal ones are not
    touched. Removals follow the order of ``shown``, additions that of ``wanted``."""
    target = {tool.name: tool for tool in wanted}
    remove = tuple(name for name, tool in shown.items() if name not in target or not same(tool, target[name]))
    kept = shown.keys() - set(remove)
    return Difference(remove, tuple(tool for name, tool in target.items() if name not in kept))


def same(one: ProjectedTool, other: ProjectedTool) -> bool:
    """True if an agent would see no difference and calls reach the same registration."""
    return one is other or (
        one.registration_id == other.registration_id
        and one.capability_id == other.capability_id
        and one.name == other.name
        and one.title == other.title
        and one.description == other.description
        and one.annotations == other.annotations
        and one.input_schema == other.input_schema
    )


def curated(snapshot: Snapshot, presentation: Presentation, expose: Expose, *, strict: bool) -> Presentation:
    """The presentation with what the author's ``expose`` says of every selected capability.

    An ``expose`` that fails hides the capability and is logged. An answer other than False, True, None or a dict of
    texts is INVALID_DEFINITION where ``strict``, else treated as a failure too.
    """
    selection = presentation.selection
    skip, replacements = list(selection.skip), dict(selection.replace)
    for component in snapshot.components:
        for item in component.capabilities:
            if not selection.shows(item.capability_id):
                continue
            try:
                answer = _checked(expose(item), item.capability_id)
            except Exception as error:
                if strict and isinstance(error, SurfaceDefinitionError):
                    raise
                logger.exception("expose() failed on %s, so it is not shown", item.capability_id)
                answer = False
            if answer is False:
                skip.append(item.capability_id)
            elif isinstance(answer, Replacement):
                replacements[item.capability_id] = answer
    return replace(presentation, selection=replace(selection, skip=tuple(skip), replace=replacements))


def without_names(presentation: Presentation) -> Presentation:
    """The presentation with every replaced name given up, titles and descriptions kept."""
    replacements = {id: replace(one, name=None) for id, one in presentation.selection.replace.items()}
    return replace(presentation, selection=replace(presentation.selection, replace=replacements))


def _checked(answer: object, capability_id: str) -> bool | Replacement:
    if answer is None or isinstance(answer, bool):
        return answer is not False
    if not isinstance(answer, Mapping):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION", f"expose() answers False, True, None or a dict, not {answer!r}", capability_id
        )
    for key, value in answer.items():
        if key not in ("name", "title", "description") or not isinstance(value, str) or not value:
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION",
                f"expose() replaces name, title or description by a text; it gave {key!r}: {value!r}",
                capability_id,
            )
    return Replacement(**answer)


def dropped_by_budget(everything: Snapshot, budgeted: Snapshot) -> Sequence[str]:
    """The capability ids that a budget left out of a snapshot."""
    kept = {component.registration_id for component in budgeted.components}
    return [
        item.capability_id
        for component in everything.components
        if component.registration_id not in kept
        for item in component.capabilities
    ]
