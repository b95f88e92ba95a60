"""The structure a registration freezes: the contract's capabilities, checked against this registry's limits, and the
options of the registration itself (LIFE-1 "structure", LIMIT-1, CONTRACT-4)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from surface.canonical import json_text
from surface.errors import SurfaceDefinitionError
from surface.governance.policy import check_policies
from surface.ids import check_component_type, check_instance_id

if TYPE_CHECKING:
    from surface.contract.capability import Capability
    from surface.contract.component import Component
    from surface.limits import Limits


def checked_capabilities(contract: Component, limits: Limits) -> Mapping[str, Capability]:
    """The contract's capabilities by id; LIMIT_EXCEEDED or UNSUPPORTED_SCHEMA where one breaks the limits."""
    known = contract.checked.get(limits)
    if known is not None and len(known) == len(contract.capabilities):
        return known
    _check_size(contract.description, limits.max_component_description, contract.type)
    _check_meta(contract.meta, limits, contract.type)
    check_policies(contract.policies, contract.type)
    for capability in contract.capabilities:
        path = f"{contract.type}.{capability.name}"
        _check_size(capability.description, limits.max_capability_description, path)
        _check_meta(capability.meta, limits, path)
        check_policies(capability.policies, path)
        if capability.kind == "action":
            capability.input.check(
                direction="input",
                max_bytes=limits.max_schema_bytes,
                max_depth=limits.max_schema_depth,
                path=path,
                must_be_object=True,
            )
        if capability.output is not None:
            capability.output.check(
                direction="output",
                max_bytes=limits.max_schema_bytes,
                max_depth=limits.max_schema_depth,
                path=path,
                must_be_object=False,
            )
    checked = MappingProxyType({capability.id: capability for capability in contract.capabilities})
    contract.checked[limits] = checked
    return checked


def checked_options(options: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The options of `Registry.register`, well formed; INVALID_ID or INVALID_DEFINITION otherwise."""
    checked = dict(options)
    check_instance_id(checked["instance_id"], path)
    parent = checked["parent"]
    if parent is not None:
        if not isinstance(parent, (tuple, list)) or len(parent) != 2:
            raise SurfaceDefinitionError(
                "INVALID_DEFINITION", f"parent must be (type, instance id), not {parent!r}", path
            )
        checked["parent"] = (check_component_type(parent[0], path), check_instance_id(parent[1], path))
    if type(checked["priority"]) is not int:
        raise SurfaceDefinitionError("INVALID_DEFINITION", "priority must be a whole number", path)
    if not isinstance(checked["origin"], str) or not checked["origin"].strip():
        raise SurfaceDefinitionError("INVALID_DEFINITION", "origin must be text such as first-party", path)
    if not isinstance(checked["enabled"], bool):
        raise SurfaceDefinitionError("INVALID_DEFINITION", "enabled must be True or False", path)
    return checked


def _check_size(text: str, limit: int, path: str) -> None:
    if len(text) > limit:
        raise SurfaceDefinitionError(
            "LIMIT_EXCEEDED", f"the description has {len(text)} characters; at most {limit} are allowed", path
        )


def _check_meta(meta: Mapping[str, Any] | None, limits: Limits, path: str) -> None:
    if meta is not None:
        size = len(json_text(meta).encode())
        if size > limits.max_meta_bytes:
            raise SurfaceDefinitionError(
                "LIMIT_EXCEEDED", f"meta has {size} bytes; at most {limits.max_meta_bytes} are allowed", path
            )
