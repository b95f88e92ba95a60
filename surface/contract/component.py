"""Declaring components: `@component` on a class, or a `Component` with decorated plain functions.

Source: core rules §3; the decorators are the public API's "Declaring".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from surface.contract.capability import (
    Capability,
    Declared,
    build_capability,
    check_description,
    check_meta,
)
from surface.contract.concurrency import Concurrency
from surface.contract.effects import ActionEffect, AuditLevel, Confirmation
from surface.contract.schema import Schema
from surface.errors import SurfaceDefinitionError
from surface.ids import check_component_type
from surface.limits import Limits

_MARK = "__surface_capability__"
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
Reason = str | Callable[..., str] | None


class Component:
    """A component type and the capabilities it owns; readable without an instance, a page or an event loop.

    Used directly, its decorators declare capabilities on plain functions:

    >>> clock = Component("page.clock", description="The clock in the header")
    >>> @clock.observation("The time shown")
    ... def read_time() -> str: ...
    >>> registry.register(clock)
    """

    def __init__(
        self,
        type: str,
        *,
        description: str,
        title: str | None = None,
        tags: Iterable[str] = (),
        policies: Iterable[Any] = (),
        meta: Mapping[str, Any] | None = None,
        available_at_load: bool = False,
    ) -> None:
        self.type = check_component_type(type, "component")
        self.description = check_description(description, self.type)
        self.title = title
        self.tags = _tags(tags, self.type)
        self.policies = tuple(policies)
        self.meta = check_meta(meta, self.type)
        self.available_at_load = bool(available_at_load)
        self.declaration = ""
        self.checked: dict[Limits, Mapping[str, Capability]] = {}  # by the limits of the registries it was checked for
        self._capabilities: dict[str, Capability] = {}

    def __repr__(self) -> str:
        return f"Component({self.type!r}, {', '.join(self._capabilities) or 'no capabilities'})"

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """What was declared so far, observations and actions in the order of declaration."""
        return tuple(self._capabilities.values())

    def observation(self, description: str, **options: Any) -> Callable[[F], F]:
        """Declare a plain function as an observation; the options of the decorator `surface.observation`."""
        return self._declare(Declared("observation", description, options))

    def action(self, description: str, *, effect: ActionEffect | None = None, **options: Any) -> Callable[[F], F]:
        """Declare a plain function as an action; the options of the decorator `surface.action`."""
        return self._declare(Declared("action", description, {"effect": effect, **options}))

    def add(self, declared: Declared, function: Callable[..., Any], attribute: str | None) -> None:
        """Take in one declaration; DUPLICATE_CAPABILITY for a name that is there already."""
        capability = build_capability(declared, function, component_type=self.type, attribute=attribute)
        if capability.name in self._capabilities:
            raise SurfaceDefinitionError(
                "DUPLICATE_CAPABILITY",
                f"two capabilities are named {capability.name!r}; set name= on one of them",
                f"{self.type}.{capability.name}",
            )
        self._capabilities[capability.name] = capability

    def _declare(self, declared: Declared) -> Callable[[F], F]:
        _check_called(declared)

        def decorate(function: F) -> F:
            self.add(declared, function, None)
            return function

        return decorate


def component(
    type: str,
    *,
    description: str,
    title: str | None = None,
    tags: Iterable[str] = (),
    policies: Iterable[Any] = (),
    meta: Mapping[str, Any] | None = None,
    available_at_load: bool = False,
) -> Callable[[C], C]:
    """Make a class a component: its methods marked with `observation` and `action` become its capabilities.

    The class stays an ordinary class; its contract is ``TheClass.contract``.

    >>> @component("devices.table", description="Devices that match the active filters")
    ... class DevicesTable:
    ...     @observation("Visible rows and selection")
    ...     def read_state(self) -> TableState: ...
    """

    def decorate(cls: C) -> C:
        contract = Component(
            type,
            description=description,
            title=title,
            tags=tags,
            policies=policies,
            meta=meta,
            available_at_load=available_at_load,
        )
        contract.declaration = f"{cls.__module__}:{cls.__qualname__}"
        for attribute, (declared, function) in _marked(cls).items():
            contract.add(declared, function, attribute)
        cls.contract = contract  # type: ignore[attr-defined]
        return cls

    return decorate


def observation(
    description: str,
    *,
    name: str | None = None,
    title: str | None = None,
    output: Schema | None = None,
    when: Callable[..., Any] | None = None,
    unavailable_reason: Reason = None,
    policies: Iterable[Any] = (),
    meta: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    audit: AuditLevel | None = None,
    redact: Callable[..., Any] | None = None,
    untrusted_content: bool = False,
) -> Callable[[F], F]:
    """Mark a method as an observation: it reads what the page shows and changes nothing.

    The return annotation (or ``output=``) is the output schema and is required. ``timeout`` is in seconds (5 if not
    given); ``untrusted_content`` says that the output holds text which the page's author does not vouch for.
    """
    options = {key: value for key, value in locals().items() if key != "description"}
    return _mark("observation", description, options)


def action(
    description: str,
    *,
    effect: ActionEffect | None = None,
    name: str | None = None,
    title: str | None = None,
    input: Schema | None = None,
    output: Schema | None = None,
    idempotent: bool | None = None,
    reversible: bool | None = None,
    confirmation: Confirmation | None = None,
    confirmation_ttl: float | None = None,
    audit: AuditLevel | None = None,
    redact: Callable[..., Any] | None = None,
    when: Callable[..., Any] | None = None,
    unavailable_reason: Reason = None,
    precondition: Callable[..., Any] | None = None,
    policies: Iterable[Any] = (),
    meta: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    concurrency: Concurrency | None = None,
    untrusted_content: bool = False,
) -> Callable[[F], F]:
    """Mark a method as an action: it changes the state of the view (``local-state``) or leaves it (``navigation``).

    ``effect`` is required; leaving it out is a definition error like any other.

    The signature is the input schema, the return annotation the output schema; ``input=``/``output=`` take a
    `Schema` instead. ``timeout`` is in seconds (10 if not given).
    """
    options = {key: value for key, value in locals().items() if key != "description"}
    return _mark("action", description, options)


def contract_of(target: object) -> Component:
    """The contract behind ``target``: a `Component`, a component class or an instance of one."""
    contract = target if isinstance(target, Component) else getattr(target, "contract", None)
    if not isinstance(contract, Component):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION",
            f"{target!r} is no component: decorate its class with @component, or make a Component(...)",
        )
    return contract


def _check_called(declared: Declared) -> None:
    """A decorator that was written without its parentheses gets the function as its description."""
    if callable(declared.description):
        example = ', effect="local-state"' if declared.kind == "action" else ""
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION",
            f'write @{declared.kind}("what it is for"{example}) above the function, with parentheses',
            getattr(declared.description, "__qualname__", declared.kind),
        )


def _mark(kind: str, description: str, options: Mapping[str, Any]) -> Callable[[F], F]:
    _check_called(Declared(kind, description, options))

    def decorate(function: F) -> F:
        if not callable(function):
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", f"@{kind} goes on a function; put it below @staticmethod or @property", kind
            )
        setattr(function, _MARK, Declared(kind, description, options))
        return function

    return decorate


def _marked(cls: type) -> dict[str, tuple[Declared, Callable[..., Any]]]:
    """The marked methods of a class and its bases, in order of declaration, base classes first."""
    found: dict[str, tuple[Declared, Callable[..., Any]]] = {}
    for klass in reversed(cls.__mro__):
        for attribute, value in vars(klass).items():
            declared = getattr(value, _MARK, None)
            if isinstance(declared, Declared):
                found[attribute] = (declared, value)
            elif attribute in found and not callable(value):
                del found[attribute]
    return found


def _tags(value: Iterable[str], path: str) -> tuple[str, ...]:
    tags = tuple(value) if not isinstance(value, str) else (0,)
    if not all(isinstance(tag, str) and tag for tag in tags):
        raise SurfaceDefinitionError("INVALID_DEFINITION", "tags must be a list of texts", path)
    return tuple(str(tag) for tag in tags)
