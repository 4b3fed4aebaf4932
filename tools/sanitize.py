"""The native kernels under AddressSanitizer and UndefinedBehaviorSanitizer, on the tests that use them most.

Builds a copy of the package in ``build/sanitize`` with the sanitizers compiled in, and runs the tests of the
engines and the properties on it (or those given). Any access out of bounds, overflow or misaligned pointer
ends the run. Needs GCC; ``make sanitize``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "build" / "sanitize"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1"
TESTS = (
    "-knot [numpy and not spark",  # what is not watched, and a virtual machine
    "tests/every_engine",
    "tests/properties",
    "tests/hostile/test_load.py",
    "--deselect=tests/hostile/test_load.py::test_many_fits_without_growth",
)


def main() -> None:
    """Build, and run."""
    shutil.rmtree(BUILT, ignore_errors=True)
    shutil.copytree(
        ROOT / "src" / "summarkov", BUILT / "summarkov", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    build = ["setup.py", "-q", "build_ext", "--build-lib", str(BUILT), "--build-temp", str(BUILT / "temp")]
    flags = {"CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
    subprocess.run([sys.executable, *build], cwd=ROOT, env={**os.environ, **flags}, check=True)
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}.so"], capture_output=True, text=True, check=True)
        for name in ("libasan", "libubsan")
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(BUILT), str(ROOT)]),
        "SUMMARKOV_KERNELS": "native",  # an error where they were not built
        "LD_PRELOAD": ":".join(library.stdout.strip() for library in libraries),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",  # Python keeps what it needs to the end
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",  # so that arrays of Python's own are watched too
    }
    check = "import summarkov.kernels._native as n, sys; sys.exit('build/sanitize' not in n.__file__)"
    subprocess.run([sys.executable, "-c", check], env=environment, check=True)
    tests = sys.argv[1:] or TESTS
    command = [sys.executable, "-m", "pytest", "-q", *tests]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
