"""How many calls of a capability may run at once, and how many may wait (CONTRACT-3, CONC-1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surface.errors import SurfaceDefinitionError


@dataclass(frozen=True, slots=True)
class Concurrency:
    """A group of slots; make one with `instance`, `capability`, `key` or `parallel`.

    ``queue_depth`` is how many calls may wait for a slot; None means the registry's limit (2).
    """

    mode: str
    name: str | None = None
    max: int = 1
    queue_depth: int | None = None

    @classmethod
    def instance(cls, *, queue_depth: int | None = None) -> Concurrency:
        """One call at a time for the whole component instance."""
        return cls("instance", queue_depth=queue_depth)

    @classmethod
    def capability(cls, *, queue_depth: int | None = None) -> Concurrency:
        """One call at a time for this capability of this instance."""
        return cls("capability", queue_depth=queue_depth)

    @classmethod
    def key(cls, name: str, *, queue_depth: int | None = None) -> Concurrency:
        """One call at a time among all capabilities of the instance that name the same key."""
        return cls("key", name, queue_depth=queue_depth)

    @classmethod
    def parallel(cls, max: int, *, queue_depth: int | None = None) -> Concurrency:
        """Up to ``max`` calls of this capability at once."""
        return cls("parallel", max=max, queue_depth=queue_depth)

    def checked(self, path: str) -> Concurrency:
        """This group if it is well formed, else INVALID_DEFINITION at ``path``."""
        problem = None
        if self.mode not in ("instance", "capability", "key", "parallel"):
            problem = f"{self.mode!r} is none of instance, capability, key, parallel"
        elif self.mode == "key" and not (isinstance(self.name, str) and self.name):
            problem = "key needs a text that is not empty"
        elif type(self.max) is not int or self.max < 1:
            problem = "parallel needs max as a whole number of 1 or more"
        elif self.queue_depth is not None and (type(self.queue_depth) is not int or self.queue_depth < 0):
            problem = "queue_depth must be a whole number of 0 or more"
        if problem:
            raise SurfaceDefinitionError("INVALID_DEFINITION", f"concurrency: {problem}", path)
        return replace(self)

    def group(self, capability_id: str) -> tuple[str, str]:
        """What tells this group from the others of one registration (CONC-1)."""
        if self.mode == "instance":
            return ("instance", "")
        return ("key", self.name or "") if self.mode == "key" else (self.mode, capability_id)

    def to_wire(self) -> dict[str, object]:
        """``{mode, key?, max?, queueDepth?}``, the form digests are made of."""
        wire: dict[str, object] = {"mode": self.mode}
        if self.mode == "key":
            wire["key"] = self.name
        if self.mode == "parallel":
            wire["max"] = self.max
        if self.queue_depth is not None:
            wire["queueDepth"] = self.queue_depth
        return wire


def as_concurrency(value: object, path: str) -> Concurrency:
    """``value`` as a `Concurrency`; INVALID_DEFINITION for anything else."""
    if not isinstance(value, Concurrency):
        raise SurfaceDefinitionError(
            "INVALID_DEFINITION",
            f"concurrency must be a Concurrency such as Concurrency.instance(), not {value!r}",
            path,
        )
    return value.checked(path)
