"""The Spark engine without Spark: partitions are tables in memory, and workers are function calls."""

import zlib
from contextlib import nullcontext

import numpy as np
import pyarrow as pa

from summarkov.spark import frames, source
from summarkov.spark.session import Answering

KINDS = {"int64": "bigint", "int32": "int"}


class FakeFrame:
    """A table that answers what is asked of a dataframe before anything is sorted."""

    sparkSession = None

    def __init__(self, table):
        self.table, self.columns = table, table.column_names
        kinds = [(field.name, str(field.type).partition("[")[0]) for field in table.schema]
        self.dtypes = [(name, KINDS.get(kind, kind)) for name, kind in kinds]

    def select(self, *columns):
        return self


class _Anything:
    def __getattr__(self, name):
        return lambda *args: self


def frame_of(monkeypatch, table, reading):
    """What :meth:`Frame.of` makes of a dataframe with these rows."""
    monkeypatch.setattr(frames, "check_frame", lambda frame: None)
    monkeypatch.setattr(frames, "f", _Anything())
    monkeypatch.setattr(frames, "_came", lambda frame: {})
    return frames.Frame.of(FakeFrame(table), reading)


def partitions_of(frame, table, n=3):
    """The rows of some cases each, as batches."""
    table = table.select(frame.chosen.names())
    part = [zlib.crc32(str(case).encode()) % n for case in table.column(frame.chosen.case).to_pylist()]
    return [table.filter(pa.array(np.array(part) == k)).to_batches(max_chunksize=37) for k in range(n)]


class _Batches(list):
    def toArrow(self):
        return self

    def to_batches(self):
        return self


class LocalData(source.Data):
    """Shards in memory."""

    def _map(self, function):
        answering = Answering(source.OnShard(function))
        return _Batches(batch for shard in self.shards for batch in answering(shard))


class _Shards(list):
    def unpersist(self):
        pass


def scan(monkeypatch, table, **reading):
    """As :func:`scan_spark`."""
    monkeypatch.setattr(source, "job", lambda *what: nullcontext())
    frame = frame_of(monkeypatch, table, reading)
    read = Answering(frame.shards())
    shards = _Shards(list(read(batches)) for batches in partitions_of(frame, table))
    return source.SparkSource(LocalData(None, shards, 3).look(frame), 1 << 27)
