"""Reading a large CSV file, and starting the command."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import summarkov as sm
from benchmarks.data import planted
from benchmarks.timing import Row, best_of, seconds


def rows() -> Iterator[Row]:
    """Time reading against merely parsing; look at what a start imports."""
    events = planted(10**7, 200)
    case = np.repeat(np.arange(len(events)), events.lengths)
    labels = pa.array(events.labels)
    table = pa.table({"case": pa.array(case), "event": pa.DictionaryArray.from_arrays(events.codes, labels)})
    table = table.set_column(1, "event", table["event"].cast(pa.string()))
    order = np.random.default_rng(0).permutation(len(case))
    with tempfile.TemporaryDirectory() as folder:
        for name, chosen, wanted in (
            ("grouped by case", None, "at most 2.5x"),
            ("shuffled", order, "reported"),
        ):
            path = Path(folder) / "events.csv"
            pyarrow.csv.write_csv(table if chosen is None else table.take(chosen), path)
            reading, parsing = best_of(2, partial(sm.read_events, path), partial(pyarrow.csv.read_csv, path))
            yield Row(
                f"CSV of 1e7 rows, {name}: to EventSequences / pyarrow merely parsing",
                f"{reading / parsing:.2f}x ({seconds(reading)})",
                wanted,
            )

    code = "import sys, summarkov.cli.main; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [
        name for name, there in zip(("numpy", "pyarrow"), done.stdout.split(), strict=True) if there == "True"
    ]
    yield Row("summarkov --help imports", ", ".join(loaded) or "neither numpy nor pyarrow", "neither")
