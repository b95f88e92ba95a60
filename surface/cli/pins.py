"""What a bundle is made of, in one table: exact releases with their digests, so that the same command makes the
same bytes on every machine.

The releases belong together. Pyodide fixes the Python version and the ABI, pydantic asks for exactly one
pydantic-core, and pydantic-core must have a wheel for that ABI.
"""

from __future__ import annotations

from dataclasses import dataclass

PYODIDE_VERSION = "314.0.7"
# The ABI a native wheel must be built for; Pyodide's own lock file names it.
ABI_VERSION = "2026_0"
NATIVE_PLATFORM = f"pyemscripten_{ABI_VERSION}_wasm32"
TARGET_PYTHON = "3.14"
TARGET_ABI = "cp314"

# How PEP 508 markers are read for a page, whatever machine makes the bundle.
TARGET_MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.14.2",
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_python_implementation": "CPython",
    "platform_release": "5.0.3",
    "platform_system": "Emscripten",
    "platform_version": "#1",
    "python_full_version": "3.14.2",
    "python_version": TARGET_PYTHON,
    "sys_platform": "emscripten",
}


@dataclass(frozen=True, slots=True)
class Pin:
    """One wheel on the package index: its file name and SHA-256."""

    file: str
    sha256: str

    @property
    def name(self) -> str:
        """The distribution's normalised name, such as ``pydantic-core``."""
        return self.file.split("-")[0].replace("_", "-").lower()

    @property
    def version(self) -> str:
        """The release, such as ``2.50.5``."""
        return self.file.split("-")[1]

    @property
    def native(self) -> bool:
        """Whether the wheel holds WebAssembly rather than Python alone."""
        return NATIVE_PLATFORM in self.file


PINS = (
    Pin("annotated_types-0.8.0-py3-none-any.whl", "f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0"),
    Pin("attrs-26.1.0-py3-none-any.whl", "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"),
    Pin("jsonschema-4.26.0-py3-none-any.whl", "d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce"),
    Pin(
        "jsonschema_specifications-2025.9.1-py3-none-any.whl",
        "98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe",
    ),
    Pin("pydantic-2.14.4-py3-none-any.whl", "653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc"),
    Pin(
        f"pydantic_core-2.50.5-cp314-cp314-{NATIVE_PLATFORM}.whl",
        "b2910ec0fa5aeb9bef70156f2b79f4783978fdcfaa7b2f1b5d1814458d2e79a1",
    ),
    Pin("pyrsistent-0.20.0-py3-none-any.whl", "c55acc4733aad6560a7f5f818466631f07efc001fd023f34a6c203f8b6df0f0b"),
    Pin(
        "pyrsistent_as_rpds_py-2.1.0-py3-none-any.whl",
        "f16935a819b1fc52ca2f545cf30004f94a737012153d72f107b4836c8a1ad144",
    ),
    Pin("referencing-0.37.0-py3-none-any.whl", "381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231"),
    Pin(
        "typing_extensions-4.16.0-py3-none-any.whl", "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    ),
    Pin("typing_inspection-0.4.5-py3-none-any.whl", "bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39"),
)

# rpds-py has no WebAssembly wheel; this one re-exports the same classes from a pure-Python package. The version
# says which rpds-py interface it stands for: the one jsonschema and referencing ask for at least.
RPDS_VERSION = "0.25.0"
RPDS_REQUIRES = ("pyrsistent", "pyrsistent-as-rpds-py")
RPDS_SOURCE = '"""Persistent maps for jsonschema, from pyrsistent."""\nfrom pyrsistent_as_rpds.pure import *\n'

# Names the boot loads; their dependencies follow from the lock file. jsonschema is among them because a contract
# may carry a raw JSON Schema; it is imported only when one does.
BOOT_PACKAGES = ("pydantic", "jsonschema", "webmcp-surface")

# Members no page needs, as fnmatch patterns. Every wheel: type stubs, the tests and benchmarks some carry, and
# bills of material. Licences stay.
DROP_FROM_WHEELS = ("*.pyi", "*/py.typed", "*/tests/*", "*/benchmarks/*", "*.dist-info/sboms/*")
# pydantic: plugins of type checkers. Its v1 stays: it is imported while a schema is made for an unknown class.
DROP_BY_NAME = {
    "pydantic": ("pydantic/mypy.py",),
}
# The standard library: the import system's own test modules. Pyodide leaves out tests, Tk and IDLE already, and what
# looks unused is imported by something: pdb and pydoc need _pyrepl, concurrent.futures needs multiprocessing.
DROP_FROM_STDLIB = ("__hello__.py", "__phello__/*", "site-packages/*")
