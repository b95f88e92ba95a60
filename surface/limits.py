"""Every bound the core obeys, in one table.

Source: core rules §24. Python times are seconds; on the wire they are milliseconds and say so in their name.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from surface.errors import SurfaceDefinitionError, camel_case

# Fixed: no registry may change these.
MAX_ID_LENGTH = 128
MAX_WIRE_NAME = 64
MAX_JSON_DEPTH = 64
RESOLVED_CONFIRMATIONS = 200
AUDIT_RECORDS = 1_000

_TIMES = frozenset(
    {
        "observation_timeout",
        "action_timeout",
        "procedure_timeout",
        "policy_timeout",
        "queue_timeout",
        "handler_grace",
        "dedupe_cache_ttl",
        "tombstone_ttl",
        "confirmation_ttl",
        "server_approval_ttl",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The overridable bounds of one registry; times in seconds, sizes in UTF-8 bytes of compact JSON.

    >>> Registry(limits=Limits(action_timeout=2.0, max_output_bytes=65_536))
    """

    max_component_description: int = 500
    max_capability_description: int = 300
    max_meta_bytes: int = 2_048
    max_input_bytes: int = 65_536
    max_output_bytes: int = 32_768
    max_schema_bytes: int = 16_384
    max_schema_depth: int = 8
    observation_timeout: float = 5.0
    action_timeout: float = 10.0
    procedure_timeout: float = 30.0
    policy_timeout: float = 5.0
    queue_timeout: float = 30.0
    handler_grace: float = 5.0
    action_queue_depth: int = 2
    max_concurrent_observations_per_consumer: int = 8
    max_concurrent_observations_total: int = 32
    max_queued_observations_per_consumer: int = 8
    dedupe_cache_size: int = 200
    dedupe_cache_ttl: float = 600.0
    tombstone_size: int = 100
    tombstone_ttl: float = 300.0
    confirmation_ttl: float = 120.0
    max_pending_confirmations: int = 32
    max_server_approvals: int = 200
    server_approval_ttl: float = 600.0
    max_exposure_keys: int = 256
    max_rate_limit_keys: int = 1_000
    max_audit_payload_bytes: int = 8_192

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            numeric = isinstance(value, (int, float)) if field.name in _TIMES else isinstance(value, int)
            if not numeric or isinstance(value, bool) or value < 0:
                kind = "seconds, 0 or more" if field.name in _TIMES else "a whole number, 0 or more"
                raise SurfaceDefinitionError("INVALID_DEFINITION", f"must be {kind}, not {value!r}", field.name)

    def to_wire(self) -> dict[str, int]:
        """The limits as camelCase JSON, times in milliseconds."""
        wire: dict[str, int] = {}
        for field in fields(self):
            name = camel_case(field.name)
            value = getattr(self, field.name)
            wire[f"{name}Ms" if field.name in _TIMES else name] = round(value * 1000) if field.name in _TIMES else value
        return wire
