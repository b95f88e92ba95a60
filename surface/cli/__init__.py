"""The command line: ``surface bundle`` makes the folder a page runs from, ``surface serve`` serves it.

Nothing in a page imports this package, so the bundle leaves it out.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the ``surface`` command; exits 2 with one sentence where its own dependencies are not installed."""
    try:
        from surface.cli.commands import app
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in {"typer", "rich"}:
            raise
        print(
            f'surface: the command line needs {missing.name}; install it with: pip install "webmcp-surface[bundle]"',
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    app()
