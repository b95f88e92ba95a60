"""Audit: levels, payloads, redaction, sinks (core rules §17)."""

from __future__ import annotations

from loop import run

from surface import Component, Limits, Registry, audit


class Sink:
    """Keeps what it gets; may redact or fail."""

    def __init__(self, fails=False):
        self.records, self._fails = [], fails

    def record(self, event):
        if self._fails:
            raise RuntimeError
        self.records.append(event.to_wire())


def registry_with(clock, level="full", policies=(), limits=None, sink=None, **options):
    made = Component("box", description="A box")

    @made.action("Open", effect="local-state", audit=level, policies=policies, **options)
    def open(how: str = "gently") -> str:
        return how

    registry = Registry(clock=clock, audit=sink, limits=limits or Limits())
    registry.register(made)
    run(registry.invoke("view:box.open", {}, invocation_id="i1"))
    return registry


def calls(registry):
    return [one.to_wire() for one in registry.audit.records() if one.kind.startswith("invocation")]


def test_audit_1_full_has_the_payload_metadata_has_none_and_none_has_nothing(clock):
    started, settled = calls(registry_with(clock))
    assert (started["kind"], settled["kind"]) == ("invocation-started", "invocation-settled")
    assert settled["payload"] == {"input": {"how": "gently"}, "output": "gently"}
    assert (settled["status"], settled["queueWaitMs"], settled["executionMs"]) == ("ok", 0, 0)
    assert settled["at"] == "1970-01-01T00:16:40.000Z"
    assert all("payload" not in one for one in calls(registry_with(clock, "metadata")))
    assert calls(registry_with(clock, "none")) == []


def test_audit_1_what_did_not_resolve_is_settled_at_metadata(clock):
    registry = Registry(clock=clock)
    run(registry.invoke("view:box.open", {}, invocation_id="i1"))
    (settled,) = calls(registry)
    assert (settled["code"], "registrationId" in settled) == ("CAPABILITY_NOT_FOUND", False)


def test_pipe_5_a_replay_is_not_recorded(clock):
    registry = registry_with(clock)
    run(registry.invoke("view:box.open", {}, invocation_id="i1"))
    assert len(calls(registry)) == 2


def test_audit_2_payloads_are_redacted_or_dropped_and_bounded(clock):
    redacted = registry_with(clock, redact=lambda payload: {**payload, "input": "***"})
    assert calls(redacted)[1]["payload"] == {"input": "***", "output": "gently"}
    assert "payload" not in calls(registry_with(clock, redact=lambda payload: 1 / 0))[1]
    small = registry_with(clock, limits=Limits(max_audit_payload_bytes=10))
    assert calls(small)[1]["payload"] == {"truncated": True, "bytes": 44}


def test_audit_3_a_failing_sink_breaks_nothing_and_the_default_one_goes_on(clock):
    registry = registry_with(clock, sink=Sink(fails=True))
    assert len(calls(registry)) == 2
    assert registry.audit.records()[0].kind == "registration"


def test_the_audit_policy_has_a_sink_and_level_of_its_own(clock):
    sink = Sink()
    registry = registry_with(clock, "metadata", policies=[audit(sink, "full")])
    assert [one["kind"] for one in sink.records] == ["invocation-started", "invocation-settled"]
    assert sink.records[1]["payload"]["output"] == "gently"
    assert "payload" not in calls(registry)[1]


def test_life_the_registrations_are_recorded(clock):
    sink = Sink()
    registry = Registry(clock=clock, audit=sink)
    made = Component("box", description="A box")
    registration = registry.register(made)
    registry.register(made)
    registration.unregister()
    assert [one["kind"] for one in sink.records] == ["registration", "registration-rejected", "unregistration"]
    assert sink.records[1]["reason"] == "duplicate"
