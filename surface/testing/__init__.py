"""What tests of a surface need; nothing here runs in production."""

from surface.testing.clock import FakeClock

__all__ = ["FakeClock"]
