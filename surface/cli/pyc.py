"""Rewrites a wheel or the standard library's zip for a page: compiled, trimmed, stored without compression.

This module runs in two places: inside Pyodide, where it is handed over as text and compiles with exactly the
Python that will load the result, and in the command's own Python, where it only trims and stores. It therefore
imports the standard library alone.
"""

from __future__ import annotations

import ast
import base64
import fnmatch
import hashlib
import importlib.util
import io
import marshal
import warnings
import zipfile
from collections.abc import Sequence

# Zip files carry no time zone and start in 1980: one fixed time makes the same inputs the same bytes.
TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def rewrite(
    data: bytes, prefix: str, *, compiled: bool, strip_docstrings: bool = False, drop: Sequence[str] = ()
) -> bytes:
    """The archive again, sorted, stored, and with a new RECORD if it is a wheel.

    ``prefix`` is the folder the members will be imported from, with a slash at the end: it is what tracebacks
    show. ``drop`` lists patterns (``fnmatch``) of members to leave out. With ``compiled`` every ``name.py``
    becomes ``name.pyc`` beside it, hash-based and unchecked (PEP 552), so that the source is never asked for;
    a file that is no valid Python stays a source.
    """
    members: dict[str, bytes] = {}
    record = ""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = info.filename
            if info.is_dir() or any(fnmatch.fnmatchcase(name, pattern) for pattern in drop):
                continue
            if name.endswith(".dist-info/RECORD"):
                record = name
                continue
            content = archive.read(info)
            if name.endswith(".dist-info/METADATA"):
                content = headers_only(content)
            code = bytecode(content, prefix + name, strip_docstrings) if compiled and name.endswith(".py") else None
            members[name if code is None else name + "c"] = content if code is None else code
    if record:
        members[record] = record_of(members, record)
    return stored_zip(members)


def bytecode(source: bytes, filename: str, strip_docstrings: bool) -> bytes | None:
    """A whole ``.pyc`` file for the source, or None where it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source, filename)
            if strip_docstrings:
                remove_docstrings(tree)
            code = compile(tree, filename, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError):
            return None
    # Flag 0b01: hash-based, "check source" off. The loader then needs no file times and no source.
    header = importlib.util.MAGIC_NUMBER + (0b01).to_bytes(4, "little") + importlib.util.source_hash(source)
    return header + marshal.dumps(code)


def remove_docstrings(tree: ast.Module) -> None:
    """Take the docstrings of modules and functions out of the tree.

    Unlike ``optimize=2`` this keeps ``assert`` statements, and the docstrings of classes: pydantic writes those of
    enumerations and typed dictionaries into JSON Schemas, which must be the same in a page as elsewhere.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            while node.body and _is_text(node.body[0]):
                first = node.body.pop(0)
                if not node.body and not isinstance(node, ast.Module):
                    node.body.append(ast.copy_location(ast.Pass(), first))


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def headers_only(metadata: bytes) -> bytes:
    """A METADATA file without the long description, which nothing in a page reads."""
    head, _, _ = metadata.replace(b"\r\n", b"\n").partition(b"\n\n")
    return head.rstrip(b"\n") + b"\n"


def record_of(members: dict[str, bytes], record: str) -> bytes:
    """The RECORD of a wheel with these members (PEP 427): path, digest and size of each, itself without either."""
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for name, content in sorted(members.items())
        if name != record
    ]
    return "".join(line + "\n" for line in [*lines, f"{record},,"]).encode()


def stored_zip(members: dict[str, bytes]) -> bytes:
    """A zip of these members, sorted, with fixed times, uncompressed: HTTP compresses the whole better, and the
    page unpacks it faster."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(members.items()):
            info = zipfile.ZipInfo(name, TIMESTAMP)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return buffer.getvalue()
