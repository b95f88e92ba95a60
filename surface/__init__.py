"""Capabilities of a page for agents: declared, typed, governed, and held by one registry.

The public names are exactly those listed here; everything else is private. Protocol-free: nothing in this package
imports a browser, a network library or `webmcp`.
"""

from surface.adapters.toolset import Toolset
from surface.contract.component import Component, action, component, observation
from surface.contract.concurrency import Concurrency
from surface.contract.schema import Schema
from surface.errors import PreconditionFailed, RegistryDisposed, SurfaceDefinitionError, SurfaceError
from surface.facade import Registry
from surface.governance.audit import AuditLog, AuditRecord
from surface.governance.builtin import (
    audit,
    authenticated,
    environment,
    has_permission,
    rate_limit,
    require_confirmation,
    tenant_boundary,
)
from surface.governance.confirmation import Confirmation
from surface.governance.policy import Decision, InvokeContext, Policy, PolicyContext, disable, expose, hide
from surface.ids import CapabilityId, parse_id
from surface.limits import Limits
from surface.projection.presentation import Presentation, Replacement, Selection
from surface.projection.projector import ProjectedTool, Projection, project
from surface.projection.wire_names import decode_wire_name, encode_wire_name
from surface.registry.registration import Registration
from surface.registry.snapshot import Budget, Snapshot
from surface.values import (
    ActionContext,
    CancelSignal,
    Consumer,
    InvocationError,
    InvocationResult,
    ReadContext,
)

__all__ = [
    "ActionContext",
    "AuditLog",
    "AuditRecord",
    "Budget",
    "CancelSignal",
    "CapabilityId",
    "Component",
    "Concurrency",
    "Confirmation",
    "Consumer",
    "Decision",
    "InvocationError",
    "InvocationResult",
    "InvokeContext",
    "Limits",
    "Policy",
    "PolicyContext",
    "PreconditionFailed",
    "Presentation",
    "ProjectedTool",
    "Projection",
    "ReadContext",
    "Registration",
    "Registry",
    "RegistryDisposed",
    "Replacement",
    "Schema",
    "Selection",
    "Snapshot",
    "SurfaceDefinitionError",
    "SurfaceError",
    "Toolset",
    "action",
    "audit",
    "authenticated",
    "component",
    "decode_wire_name",
    "disable",
    "encode_wire_name",
    "environment",
    "expose",
    "has_permission",
    "hide",
    "observation",
    "parse_id",
    "project",
    "rate_limit",
    "require_confirmation",
    "tenant_boundary",
]
