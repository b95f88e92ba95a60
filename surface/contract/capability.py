"""One declared capability: the frozen record that a contract keeps of an observation or an action.

Source: core rules §3. Everything here can be read without an instance, a page or an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surface.canonical import json_problem
from surface.contract.callbacks import Callback, as_callback
from surface.contract.concurrency import Concurrency, as_concurrency
from surface.contract.effects import AUDIT_LEVELS, CONFIRMATION_LEVELS, EFFECTS, AuditLevel, Confirmation, highest
from surface.contract.schema import EMPTY_OBJECT, Schema
from surface.contract.signature import Signature, read_signature
from surface.errors import SurfaceDefinitionError, camel_case
from surface.ids import check_capability_name, check_id_length

# Observations share pools instead of slots of their own (CONC-3).
_SLOTS = {
    "instance": Concurrency.instance(),
    "capability": Concurrency.capability(),
    "observations": Concurrency.capability(),
}
_OBSERVATION_OPTIONS = frozenset(
    [
        "name",
        "title",
        "output",
        "when",
        "unavailable_reason",
        "policies",
        "meta",
        "timeout",
        "audit",
        "redact",
        "untrusted_content",
    ]
)
_OPTIONS = {
    "observation": _OBSERVATION_OPTIONS,
    "action": _OBSERVATION_OPTIONS
    | {
        "effect",
        "input",
        "idempotent",
        "reversible",
        "confirmation",
        "confirmation_ttl",
        "precondition",
        "concurrency",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A capability as declared: names, schemas, effect, levels and the author's functions.

    ``attribute`` is the method's name on the component class, None for a plain function; handlers are looked up
    through it at call time (CONTRACT-4).
    """

    id: str
    kind: str
    name: str
    description: str
    title: str | None
    effect: str
    input: Schema
    output: Schema | None
    idempotent: bool
    reversible: bool | None
    confirmation: Confirmation
    confirmation_declared: bool
    confirmation_ttl: float | None
    audit: AuditLevel
    redact: Callable[..., Any] | None
    timeout: float | None
    concurrency: Concurrency
    group: tuple[str, str]  # of slots, within a registration
    when: Callback | None
    unavailable_reason: str | Callback | None
    precondition: Callback | None
    policies: tuple[Any, ...]
    meta: Mapping[str, Any] | None
    untrusted_content: bool
    signature: Signature = field(repr=False)
    function: Callable[..., Any] = field(repr=False)
    attribute: str | None

    def handler(self, component: object) -> Callable[..., Any]:
        """The function to call now, bound to ``component`` where it is a method."""
        if self.attribute is None:
            return self.function
        bound: Callable[..., Any] = getattr(component, self.attribute)
        return bound


@dataclass(frozen=True, slots=True)
class Declared:
    """What a decorator wrote down on a function, before it is known which component owns it."""

    kind: str
    description: str
    options: Mapping[str, Any]


def build_capability(
    declared: Declared, function: Callable[..., Any], *, component_type: str, attribute: str | None
) -> Capability:
    """Check a declaration and freeze it; raises `SurfaceDefinitionError` naming the parameter and the place."""
    options = declared.options
    name = options.get("name")
    if name is None:
        name = camel_case(getattr(function, "__name__", ""))
    path = f"{component_type}.{name}"
    if unknown := sorted(set(options) - _OPTIONS[declared.kind]):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"an {declared.kind} has no option {unknown[0]!r}", path)
    check_capability_name(name, path)
    check_id_length(f"view:{path}", path)
    effect = _effect(declared.kind, options.get("effect", "read"), path)
    row = EFFECTS[effect]
    method = attribute is not None
    explicit_input, explicit_output = options.get("input"), options.get("output")
    for what, schema in (("input", explicit_input), ("output", explicit_output)):
        if schema is not None and not isinstance(schema, Schema):
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION",
                f"{what}= takes a Schema: Schema.of(SomeType) or Schema.from_json_schema({{...}})",
                path,
            )
    signature = read_signature(
        function,
        method=method,
        path=path,
        explicit_input=explicit_input,
        explicit_output=explicit_output,
        observation=declared.kind == "observation",
    )
    if declared.kind == "observation" and signature.output is None:
        raise SurfaceDefinitionError("INVALID_DEFINITION", "an observation needs a return annotation or output=", path)
    declared_confirmation = options.get("confirmation")
    unavailable_reason = options.get("unavailable_reason")
    if unavailable_reason is not None and not isinstance(unavailable_reason, str):
        unavailable_reason = as_callback(unavailable_reason, method=method, what="unavailable_reason", path=path)
    concurrency = options.get("concurrency")
    concurrency = _SLOTS[row.slots] if concurrency is None else as_concurrency(concurrency, path)
    when, precondition = (
        as_callback(value, method=method, what=key, path=path) if value is not None else None
        for key, value in ((key, options.get(key)) for key in ("when", "precondition"))
    )
    return Capability(
        id=f"view:{path}",
        kind=declared.kind,
        name=name,
        description=check_description(declared.description, path),
        title=_text(options.get("title"), "title", path),
        effect=effect,
        input=signature.input or EMPTY_OBJECT,
        output=signature.output,
        idempotent=_flag(options.get("idempotent"), "idempotent", row.idempotent, path),
        reversible=_flag(options.get("reversible"), "reversible", row.reversible, path),
        confirmation=highest(row.confirmation, _confirmation(declared_confirmation, path)),
        confirmation_declared=declared_confirmation is not None,
        confirmation_ttl=check_seconds(options.get("confirmation_ttl"), "confirmation_ttl", path),
        audit=_audit(options.get("audit") or row.audit, path),
        redact=options.get("redact"),
        timeout=check_seconds(options.get("timeout"), "timeout", path),
        concurrency=concurrency,
        group=concurrency.group(f"view:{path}"),
        when=when,
        unavailable_reason=unavailable_reason,
        precondition=precondition,
        policies=tuple(options.get("policies") or ()),
        meta=check_meta(options.get("meta"), path),
        untrusted_content=bool(options.get("untrusted_content")),
        signature=signature,
        function=function,
        attribute=attribute,
    )


def check_description(value: object, path: str) -> str:
    """The description if it says something, else INVALID_DEFINITION."""
    if not isinstance(value, str) or not value.strip():
        raise SurfaceDefinitionError("INVALID_DEFINITION", "the description is blank; say what this is for", path)
    return value


def check_meta(value: object, path: str) -> Mapping[str, Any] | None:
    """``meta`` if it is None or a JSON object, else INVALID_DEFINITION."""
    if value is None:
        return None
    problem = json_problem(value) if isinstance(value, dict) else "not an object"
    if problem:
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"meta must be a JSON object: {problem}", path)
    assert isinstance(value, dict)
    return value


def check_seconds(value: object, what: str, path: str) -> float | None:
    """A positive number of seconds or None, else INVALID_DEFINITION."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"{what} must be seconds above 0, not {value!r}", path)
    return float(value)


def _effect(kind: str, effect: object, path: str) -> str:
    row = EFFECTS.get(effect) if isinstance(effect, str) else None
    if row is None or not isinstance(effect, str):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION",
            f"effect must be local-state or navigation (it leaves the view), not {effect!r}",
            path,
        )
    if row.kind != kind:
        raise SurfaceDefinitionError(
            "PLANE_VIOLATION", f"effect {effect!r} belongs to a {row.kind}, not to an {kind}; see procedure()", path
        )
    return effect


def _text(value: object, what: str, path: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"{what} must be text, not {value!r}", path)
    return value


def _flag(value: object, what: str, default: Any, path: str) -> Any:
    if value is None:
        return default
    if not isinstance(value, bool):
        raise SurfaceDefinitionError("INVALID_DEFINITION", f"{what} must be True or False, not {value!r}", path)
    return value


def _confirmation(value: object, path: str) -> Confirmation:
    if value is None:
        return "never"
    for level in CONFIRMATION_LEVELS:
        if value == level:
            return level
    raise SurfaceDefinitionError(
        "INVALID_DEFINITION", f"confirmation must be never, optional or required, not {value!r}", path
    )


def _audit(value: object, path: str) -> AuditLevel:
    for level in AUDIT_LEVELS:
        if value == level:
            return level
    raise SurfaceDefinitionError("INVALID_DEFINITION", f"audit must be none, metadata or full, not {value!r}", path)
