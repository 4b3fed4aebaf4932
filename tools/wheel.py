"""Build the source archive and the wheel, look into both, and run the demo from the installed wheel.

Run by ``make wheel``. The wheel is built from the source archive, so that whatever is missing there shows.
Wheels for other systems and Pythons are built by cibuildwheel, as pyproject.toml says.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"

#: What must be in the wheel, by how the names start.
IN_WHEEL = (
    "summarkov/__init__.py",
    "summarkov/kernels/_native.",
    "summarkov/py.typed",
    "summarkov/show/page.html",
)
#: What the wheel can be built from.
IN_SOURCES = ("LICENSE", "README.md", "pyproject.toml", "setup.py", "src/summarkov/kernels/native/module.cpp")


def main() -> int:
    """Build, look and try; what comes back is the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    (archive,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", str(archive), str(wheel))
    with tarfile.open(archive) as opened:
        sources = {each.name.partition("/")[2]: each.size for each in opened.getmembers() if each.isfile()}
    with zipfile.ZipFile(wheel) as packed:
        modules = {each.filename: each.file_size for each in packed.infolist()}
    wrong = [*missing(sources, IN_SOURCES, archive.name), *missing(modules, IN_WHEEL, wheel.name)]
    wrong += [f"{wheel.name} has {name}" for name in modules if not name.startswith("summarkov")]
    wrong += [f"{wheel.name} has {name}" for name in modules if name.endswith((".cpp", ".hpp"))]
    for line in [*contents(archive, sources), *contents(wheel, modules), *wrong]:
        print(line)
    if not wrong:
        try_out(wheel)
    return bool(wrong)


def run(*command: str, **extra: str) -> None:
    """Run a command, or end with its exit code."""
    ended = subprocess.run(command, cwd=extra.get("cwd"))
    if ended.returncode:
        sys.exit(ended.returncode)


def missing(found: dict[str, int], wanted: tuple[str, ...], where: str) -> list[str]:
    """A line for each name that nothing starts with.

    >>> missing({"a/b.py": 3}, ("a/b.", "c"), "x.whl")
    ['x.whl lacks c']
    """
    return [f"{where} lacks {start}" for start in wanted if not any(name.startswith(start) for name in found)]


def contents(path: Path, files: dict[str, int]) -> list[str]:
    """The size of an archive, and how many files and bytes each folder of it has."""
    folders: dict[str, list[int]] = {}
    for name, size in files.items():
        parts = name.split("/")
        folders.setdefault("/".join(parts[: min(len(parts) - 1, 3)]), []).append(size)
    lines = [f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {len(files)} files"]
    for folder, sizes in sorted(folders.items()):
        lines.append(f"  {folder or '.':<45} {len(sizes):>4} files {sum(sizes) / 1e3:>9,.1f} kB")
    return lines


def try_out(wheel: Path) -> None:
    """Install the wheel into an empty environment, far from the sources, and run the demo there."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", f"{folder}/venv")
        commands = Path(folder, "venv", "Scripts" if sys.platform == "win32" else "bin")
        run(str(commands / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        native = "import sys; from summarkov import kernels; sys.exit(kernels.backend() != 'native')"
        run(str(commands / "python"), "-c", native, cwd=folder)
        run(str(commands / "summarkov"), "demo", cwd=folder)
        saved = sorted(path.name for path in Path(folder, "demo").iterdir())
        if saved != ["events.jsonl", "model.json", "report.html", "truth.json"]:
            sys.exit(f"the demo saved {', '.join(saved)}")
        print(f"{wheel.name}: installed into an empty environment, where the demo ran with native kernels")


if __name__ == "__main__":
    sys.exit(main())
