"""``python -m fuzz.differential``: random tables in every way of reading, equal or equally refused.

Every process has a hash seed and a time zone of its own, and tries the kernels in NumPy and native; what
they find is compared, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

import summarkov as sm
from fuzz.tables import Outcome, outcome, random_reading, random_table, ways

#: What may not matter: the seed of Python's hashes, the time zone, and the kernels.
SETTINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "TZ": "America/New_York", "SUMMARKOV_KERNELS": "numpy"},
    {"PYTHONHASHSEED": "31337", "TZ": "Pacific/Chatham"},
)
#: How many tables are compared before more are tried.
_AT_ONCE = 500


def check(rng: random.Random, folder: Path) -> tuple[Outcome, int]:
    """Read one table in every way; what all of them find, and how many they are."""
    table = random_table(rng)
    reading = random_reading(rng, table)
    found = {way: outcome(read) for way, read in ways(table, folder, reading)}
    first = next(iter(found.values()))
    for way, other in found.items():
        if other != first:
            told = f"{way} finds {other}, and {first} is found in memory"
            raise AssertionError(f"{told}, of {table.to_pydict()} with {table.schema} and {reading}")
    return first, len(found)


def learned(table: pa.Table, reading: dict[str, Any]) -> str:
    """What a graph learns from a table, as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        events = sm.read_events(table, **reading)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events)
    return json.dumps([[str(edge.influencer), str(edge.target), edge.ratio] for edge in graph.edges_])


def main() -> None:
    """Try tables in as many processes as there are settings; their results must be the same."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.differential", description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first table, by its number")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    tables = range(given.first, given.first + given.tables)
    if given.inside:
        print(json.dumps(inside(tables)))
        return
    so_far = Counter[str]()
    for start in tables[::_AT_ONCE]:
        some = tables[start - given.first :][:_AT_ONCE]
        each = [_apart(some, setting) for setting in SETTINGS]
        if any(found != each[0] for found in each):
            sys.exit(f"{some}: what is found depends on the seed of hashes, the time zone or the kernels")
        so_far.update({name: n for name, n in each[0].items() if name != "digest"})
        print(f"equal with each of {len(each)} settings: {dict(so_far)}", flush=True)


def _apart(tables: range, setting: dict[str, str]) -> dict[str, Any]:
    """Try tables in a process of its own."""
    command = [sys.executable, "-m", "fuzz.differential", "--inside"]
    command += ["--tables", str(len(tables)), "--first", str(tables.start)]
    done = subprocess.run(command, env={**os.environ, **setting}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{tables}: ways to read a table differ with {setting}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def inside(tables: range) -> dict[str, object]:
    """Try tables in this process."""
    digest, counted = hashlib.sha256(), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in tables:
            found, n = check(random.Random(seed), folder)
            counted["readings"] += n
            counted["refused" if found is None else "read"] += 1
            told = repr(found)
            if found is not None and sum(len(rows) for _, rows in found[0]) > 1:
                rng = random.Random(seed)
                table = random_table(rng)
                told += learned(table, random_reading(rng, table))
                counted["learned"] += 1
            digest.update(told.encode("utf-8", "surrogatepass"))
    return {**counted, "digest": digest.hexdigest()}


if __name__ == "__main__":
    main()
