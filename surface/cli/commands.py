"""The commands a person types: options in, one line out. Progress and problems go to the standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from surface.cli.failure import CommandError

app = typer.Typer(
    help="Typed, governed capabilities for agents, from Python in a web page.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


@contextmanager
def _failing_clearly() -> Iterator[None]:
    try:
        yield
    except CommandError as problem:
        _fail(problem.message, problem.exit_code)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in {"packaging", "starlette", "uvicorn"}:
            raise
        _fail(f'this needs {package}; install it with: pip install "webmcp-surface[bundle]"', 2)
    except OSError as problem:
        _fail(f"{problem.filename or 'The system'}: {problem.strerror or problem}.", 1)


def _fail(message: str, exit_code: int) -> NoReturn:
    _errors.print(f"surface: {message}", markup=False)
    raise typer.Exit(exit_code)


@app.command()
def bundle(
    out: Annotated[Path, typer.Argument(help="The folder to make; an earlier bundle in it is renewed.")],
    app_folder: Annotated[
        Path | None,
        typer.Option("--app", metavar="DIR", help="Copy the files of this folder, your page, into the bundle."),
    ] = None,
    requirement: Annotated[
        list[str] | None,
        typer.Option(metavar="PKG", help="A pure-Python package your page needs, or the path of a wheel. Repeatable."),
    ] = None,
    no_snapshot: Annotated[
        bool,
        typer.Option(
            "--no-snapshot",
            help="Leave the memory snapshot out. This version makes every bundle without one, so it changes nothing.",
        ),
    ] = False,
    pyodide: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Use the Pyodide in this folder instead of the npm package."),
    ] = None,
    brotli_quality: Annotated[
        int,
        typer.Option(min=0, max=11, help="How hard to compress: 11 is smallest; 5 is quick, for development."),
    ] = 11,
) -> None:
    """Make a folder that any static server can host: Python for your page, without a CDN."""
    with _failing_clearly(), _errors.status("Looking for Pyodide") as status:
        from surface.cli.bundle import build_bundle

        def report(message: str) -> None:
            # A terminal gets one line that changes; a log gets a line per step.
            if _errors.is_terminal:
                status.update(message)
            else:
                _errors.print(message, markup=False)

        made = build_bundle(
            out,
            app=app_folder,
            requirements=requirement or (),
            pyodide=pyodide,
            quality=brotli_quality,
            report=report,
            warn=lambda message: _errors.print(f"surface: {message}", markup=False),
        )
    index = made.index
    print(
        f"{out}: {len(index['files'])} files, {made.size / 1e6:.1f} MB, {made.on_the_wire / 1e6:.1f} MB compressed; "
        f"Pyodide {index['pyodideVersion']}, Python {index['pythonVersion']}, pydantic {index['versions']['pydantic']}"
    )


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to serve, such as a bundle.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the default is this machine alone.")
    ] = "127.0.0.1",
    csp: Annotated[
        bool,
        typer.Option("--csp", help="Send a strict Content-Security-Policy, to see whether the page lives with it."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.")] = False,
) -> None:
    """Serve a folder for development: right types, compressed variants, caching by content."""
    with _failing_clearly():
        from surface.cli.serve import serve_folder

        serve_folder(
            folder,
            host=host,
            port=port,
            csp=csp,
            verbose=verbose,
            started=lambda url: print(f"Serving {folder} at {url}", flush=True),
        )
    sys.stdout.flush()
