"""What one consumer may see: the policies' discovery hooks, asked with the context of one snapshot or one call.

Source: POLICY-2, PIPE-4, PIPE-12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from surface.governance.policy import EXPOSE, Decision, PolicyContext, discover

if TYPE_CHECKING:
    from surface.contract.capability import Capability
    from surface.registry.registration import Registration
    from surface.values import Consumer


class Viewer:
    """A consumer together with the host context of the moment, which is computed once, when a policy first asks."""

    def __init__(
        self,
        consumer: Consumer,
        environment: str,
        host: Callable[[], Mapping[str, Any]],
        now: Callable[[], float],
    ) -> None:
        self.consumer = consumer
        self._environment = environment
        self._make_host = host
        self._host: Mapping[str, Any] | None = None
        self._now = now

    @property
    def host(self) -> Mapping[str, Any]:
        """The host context."""
        if self._host is None:
            self._host = self._make_host()
        return self._host

    def decide(self, registration: Registration, capability: Capability) -> Decision:
        """What the capability's chain lets this consumer see."""
        chain = registration.chains[capability.id]
        if not chain.discovery:
            return EXPOSE
        return discover(chain, lambda: self.context(registration, capability))

    def context(self, registration: Registration, capability: Capability) -> PolicyContext:
        """What a policy may know."""
        return PolicyContext(**self.facts(registration, capability))

    def facts(self, registration: Registration, capability: Capability) -> dict[str, Any]:
        """The fields of a `PolicyContext`."""
        return {
            "capability_id": capability.id,
            "plane": capability.id.partition(":")[0],
            "kind": capability.kind,
            "effect": capability.effect,
            "registration_id": registration.id,
            "consumer": self.consumer,
            "host": self.host,
            "meta": registration.meta(capability),
            "internal": registration.internal,
            "environment": self._environment,
            "now": self._now,
        }
