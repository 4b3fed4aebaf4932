"""The native kernels are optional: where they cannot be built, the NumPy ones serve."""

import sys
from pathlib import Path

from pybind11.setup_helpers import Pybind11Extension, build_ext
from setuptools import setup


class OptionalBuild(build_ext):
    """Builds the extension if that is possible, and says in one line if it is not."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as problem:
            self._go_on(problem)

    def build_extension(self, ext: Pybind11Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as problem:
            self._go_on(problem)

    def _go_on(self, problem: Exception) -> None:
        print(
            f"summarkov: native kernels not built ({type(problem).__name__}: no C++17 compiler?); "
            "the NumPy kernels serve, slower",
            file=sys.stderr,
        )


#: The stack is watched, and what the loader fills in cannot be written afterwards.
HARDENED = ["-fstack-protector-strong"] if sys.platform != "win32" else []

native = Pybind11Extension(
    "summarkov.kernels._native",
    ["src/summarkov/kernels/native/module.cpp"],
    depends=[str(header) for header in Path("src/summarkov/kernels/native").glob("*.hpp")],
    cxx_std=17,
    # For any processor of its kind: what newer ones have makes no difference here (decision 0012).
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-g0", *HARDENED],
    extra_link_args=["-Wl,-z,relro,-z,now"] if sys.platform == "linux" else [],
)

setup(ext_modules=[native], cmdclass={"build_ext": OptionalBuild})
