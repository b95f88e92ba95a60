"""Phase 8, admission: a slot now, a place in the queue, or a clear no.

Source: core rules §14 (CONC-1 to CONC-4, CONC-6). A slot belongs to a group of one registration; observations share
pools per consumer and overall.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import partial
from typing import TYPE_CHECKING

from surface.invocation.failures import Refused

if TYPE_CHECKING:
    from surface.invocation.call import Call
    from surface.limits import Limits

GroupKey = tuple[str, tuple[str, str]]


class Group:
    """Slots of one registration; the first entrant fixes size and depth until the group is idle (CONC-1)."""

    def __init__(self, size: int, depth: int) -> None:
        self.size, self.depth = size, depth
        self.running = 0
        self.waiting: deque[Call] = deque()

    def has_room(self) -> bool:
        return self.running < self.size


class Admission:
    """All groups of a registry, and the pools of its observations."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._groups: dict[GroupKey, Group] = {}
        self._reading: Counter[tuple[str, str]] = Counter()
        self._reading_total = 0
        self._readers: deque[Call] = deque()

    def enter(self, call: Call) -> bool:
        """Take a free slot, or a place in the queue (False); RATE_LIMITED{queue-full} if there is neither."""
        if call.capability.kind == "observation":
            return self._enter_pool(call)
        return self._enter_group(call)

    def leave_queue(self, call: Call) -> None:
        """A waiting call has settled: it gives up its place."""
        if call.capability.kind == "observation":
            if call in self._readers:
                self._readers.remove(call)
            return
        group = self._groups.get(_group_key(call))
        if group is not None and call in group.waiting:
            group.waiting.remove(call)
            self._tidy(_group_key(call), group)

    def _enter_group(self, call: Call) -> bool:
        key = _group_key(call)
        group = self._groups.get(key)
        if group is None:
            rule = call.capability.concurrency
            depth = self._limits.action_queue_depth if rule.queue_depth is None else rule.queue_depth
            group = self._groups[key] = Group(rule.max, depth)
        if group.has_room():
            self._grant(group, key, call)
            return True
        if len(group.waiting) >= group.depth:
            raise queue_full()
        group.waiting.append(call)
        return False

    def _grant(self, group: Group, key: GroupKey, call: Call) -> None:
        group.running += 1
        call.release = partial(self._release, group, key)

    def _release(self, group: Group, key: GroupKey) -> None:
        group.running -= 1
        while group.waiting and group.has_room():
            following = group.waiting.popleft()
            self._grant(group, key, following)
            following.wake()
        self._tidy(key, group)

    def _tidy(self, key: GroupKey, group: Group) -> None:
        if not group.running and not group.waiting and self._groups.get(key) is group:
            del self._groups[key]

    # Observations: CONC-3.

    def _enter_pool(self, call: Call) -> bool:
        if self._may_read(call):
            self._grant_reading(call)
            return True
        waiting = sum(1 for one in self._readers if one.consumer.key == call.consumer.key)
        if waiting >= self._limits.max_queued_observations_per_consumer:
            raise queue_full()
        self._readers.append(call)
        return False

    def _may_read(self, call: Call) -> bool:
        return (
            self._reading_total < self._limits.max_concurrent_observations_total
            and self._reading[call.consumer.key] < self._limits.max_concurrent_observations_per_consumer
        )

    def _grant_reading(self, call: Call) -> None:
        self._reading[call.consumer.key] += 1
        self._reading_total += 1
        call.release = partial(self._release_reading, call.consumer.key)

    def _release_reading(self, consumer: tuple[str, str]) -> None:
        self._reading_total -= 1
        self._reading[consumer] -= 1
        if not self._reading[consumer]:
            del self._reading[consumer]
        following = next((one for one in self._readers if self._may_read(one)), None)
        if following is not None:
            self._readers.remove(following)
            self._grant_reading(following)
            following.wake()


def queue_full() -> Refused:
    """The refusal of a full queue."""
    return Refused("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 250})


async def admit(call: Call) -> None:
    """Phase 8: come back with a slot, having waited for it at most ``queue_timeout`` seconds."""
    core = call.core
    call.phase = "queued"
    call.queued_at = core.clock.now()
    if core.admission.enter(call):
        return
    timer = core.clock.call_later(core.limits.queue_timeout, lambda: call.fail(queue_full(), "queue-timeout"))
    try:
        await call.until(lambda: call.release is not None)
    finally:
        timer.cancel()
        core.admission.leave_queue(call)


def _group_key(call: Call) -> GroupKey:
    return (call.registration.id, call.capability.group)
