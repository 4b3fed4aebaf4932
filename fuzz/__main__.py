"""``python -m fuzz``: look for inputs that crash a reader, for a number of runs each."""

from __future__ import annotations

import argparse
import math
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from fuzz import CORPUS, FOLDER, NAMES, check_of, kept

#: What an input of n bytes may take: processor time in proportion to n log n, and memory to n.
SECONDS, SECONDS_PER_STEP = 2.0, 1e-4
BYTES, BYTES_PER_BYTE = 1 << 27, 1 << 14
#: Inputs that crash, to be looked at, mended, and then moved into the corpus.
CRASHES = FOLDER / "crashes"


def main() -> None:
    """Fuzz some doors one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs to try for each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        fuzz(given.names[0], given.runs, given.seed)
    bad = [name for name in given.names if not outside(name, given.runs, given.seed)]
    if bad:
        sys.exit(f"crashes of {', '.join(bad)}: see {CRASHES}")


def outside(name: str, runs: int, seed: int) -> bool:
    """Fuzz in a new process; whether it found nothing."""
    CRASHES.mkdir(exist_ok=True)
    start = time.monotonic()
    command = [sys.executable, "-m", "fuzz", name, "--runs", str(runs), "--seed", str(seed), "--inside"]
    ended = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, errors="replace")
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("INFO")]
    told = [line for line in lines if re.match(r"#\d", line)]
    shown = told[-1:] if ended.returncode == 0 else (ended.stdout.splitlines() + lines)[-60:]
    print(f"{name}: exit {ended.returncode} after {time.monotonic() - start:.0f} s", *shown, sep="\n  ")
    sys.stdout.flush()
    return ended.returncode == 0


def bounded(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The same check, which fails too if it takes more time or memory than in proportion to its input."""

    def within(data: bytes) -> None:
        start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        check(data)
        took = time.process_time() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        size = len(data)
        assert took < SECONDS + SECONDS_PER_STEP * size * math.log2(size + 2), f"took {took:.1f} s"
        assert grown < BYTES + BYTES_PER_BYTE * size, f"took {grown:,} bytes more"

    return within


def fuzz(name: str, runs: int, seed: int) -> None:
    """Fuzz in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["summarkov"], enable_loader_override=False):
        check = check_of(name)
        for path in kept(name):  # what is imported late is instrumented too
            check(path.read_bytes())
    check = bounded(check)
    with tempfile.TemporaryDirectory() as found:  # new inputs of interest are for this run only
        options = [f"-runs={runs}", f"-seed={seed}", "-max_len=4096", "-rss_limit_mb=4096", "-timeout=60"]
        atheris.Setup(
            [sys.argv[0], *options, f"-artifact_prefix={CRASHES}/{name}-", found, str(CORPUS / name)], check
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
