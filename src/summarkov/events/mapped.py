"""Events on disk: written some sequences at a time, then memory-mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np

from summarkov.events.moments import NANOSECONDS, Moments
from summarkov.events.sequences import EventSequences


def map_events(
    chunks: Iterable[EventSequences], folder: Any, about: Callable[[], dict[str, Any]]
) -> EventSequences:
    """Write events, some whole sequences at a time, and map them: they need not fit into memory together.

    All chunks have the same labels and kind of times, and there is one at least. The events own the folder,
    which has a ``path`` and can be removed (``remove()``), and ``about`` returns what else is known of them
    once all are written.

    >>> from summarkov.read.scan import TemporaryFolder
    >>> chunks = [EventSequences.from_lists(each, labels=["A", "B"]) for each in ([["A", "B"]], [["B"], []])]
    >>> with map_events(chunks, TemporaryFolder(), dict) as events:
    ...     events.to_lists(), events.codes.tolist()
    ([['A', 'B'], ['B'], []], [0, 1, 1])
    """
    kinds = {"codes": np.int32, "starts": np.bool_, "times": np.int64}
    lengths, complete = [np.zeros(1, np.int64)], []
    is_plain, has_empty, unit = True, False, None
    with ExitStack() as stack:
        files = {name: stack.enter_context(open(folder.path / f"{name}.map", "wb")) for name in kinds}
        for chunk in chunks:
            moments = chunk.moments or Moments(np.ones(len(chunk.codes), bool))
            is_plain, has_empty = is_plain and moments.is_plain, has_empty or moments.has_empty
            unit = moments.unit if moments.times is not None else unit
            for name, values in zip(kinds, (chunk.codes, moments.starts, moments.times), strict=True):
                files[name].write(b"" if values is None else np.ascontiguousarray(values).data)
            lengths.append(chunk.lengths)
            complete.append(chunk.complete)

    def mapped(name: str) -> Any:
        path = folder.path / f"{name}.map"
        return np.memmap(path, kinds[name], "r") if path.stat().st_size else np.empty(0, kinds[name])

    times = None if unit is None else mapped("times")
    moments = Moments(mapped("starts"), times, unit or NANOSECONDS, has_empty)
    return chunk.but(
        codes=np.asarray(mapped("codes")),
        offsets=np.cumsum(np.concatenate(lengths)),
        moments=None if is_plain else moments,
        complete=np.concatenate(complete),
        _folder=folder,
        **{{"ids": "_ids", "keys": "_keys"}.get(name, name): value for name, value in about().items()},
    )
