"""Every test of this folder runs once with each kind of kernels."""

import importlib
import itertools
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov import kernels
from summarkov.engines import source as sources
from summarkov.engines.source import make_source
from summarkov.kernels import edges, numpy_kernels, trees

#: Backends by name, and the module that holds their functions.
BACKENDS = {
    "numpy": "summarkov.kernels.numpy_kernels",
    "native": "summarkov.kernels.native_kernels",
}

#: Where the NumPy twins are of all that C++ does.
TWINS = (numpy_kernels, edges, trees)


@pytest.fixture(autouse=True, scope="module", params=BACKENDS)
def backend(request):
    """Let this backend serve all kernels; its module."""
    native = pytest.importorskip(BACKENDS["native"])
    chosen = importlib.import_module(BACKENDS[request.param])
    twins = {name: twin for module in TWINS for name, twin in vars(module).items()}
    with pytest.MonkeyPatch.context() as patch:
        for name in twins.keys() & vars(native).keys() & vars(kernels).keys():
            if callable(twins[name]) and not isinstance(twins[name], type):
                patch.setattr(kernels, name, getattr(chosen, name, twins[name]))
        yield chosen


@pytest.fixture(params=["memory", "stream", "spark"])
def engine(request, backend, tmp_path):
    """Opens a table of rows as a source of this engine."""
    if request.param == "spark" and backend is numpy_kernels:
        pytest.skip("the workers of Spark have kernels of their own")
    spark = request.getfixturevalue("spark") if request.param == "spark" else None

    @contextmanager
    def open_(table, pieces=40, **settings):
        size = len(table) // pieces
        if request.param == "memory":
            with mock.patch.object(sources, "SHARD_EVENTS", size):
                yield make_source(sm.read_events(table, **settings), n_jobs=2)
        elif request.param == "stream":
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            for number, (a, b) in enumerate(itertools.pairwise([0, 5, len(table) // 2, len(table)])):
                parquet.write_table(table.slice(a, b - a), folder / f"{number}.parquet")
            with (
                mock.patch.object(sources, "_MAPPED_EVENTS", size),
                sm.scan_events(folder, scratch=tmp_path, **settings) as events,
            ):
                yield make_source(events, n_jobs=2)
        else:
            frame = spark.createDataFrame(table)
            with sm.scan_spark(frame, partitions=3, **settings) as source:
                yield source

    open_.name = request.param
    return open_
