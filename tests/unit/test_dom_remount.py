"""Mounts that come before their predecessor of the same name has left."""

from __future__ import annotations

from test_dom_bridge import FakePage, Table, live

from surface import Registry
from webmcp.dom import Dom


def test_a_mount_that_was_refused_for_its_predecessor_follows_it():
    page, registry = FakePage(), Registry(environment="production")
    Dom(page.connect).attach(registry, Table)
    page.mount(1)
    page.mount(2)
    page.listener.unmounted(1)
    assert live(registry) == [("devices.table", "main")]
    page.listener.unmounted(2)
    assert live(registry) == []
