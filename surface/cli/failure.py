"""What a command tells a person when it cannot go on: one sentence and an exit code, never a stack trace."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot go on. The message is one clear sentence that says what to do next.

    ``exit_code`` is 2 where the command could not start (an option, a missing tool, a port in use) and 1 where
    it started and failed (no network, a compiler that gave up).
    """

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        self.message = message
        self.exit_code = exit_code
        super().__init__(message)
