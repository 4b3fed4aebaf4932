"""Events on disk, counted block by block in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines.counts import Counts
from summarkov.engines.event_source import EventSource
from summarkov.engines.local import AT_ONCE, SHARD_EVENTS, TABLE_BYTES, most_targets, pool_of, threads, total
from summarkov.engines.past import joint_memory
from summarkov.engines.pieces import carried
from summarkov.engines.requests import Request, join
from summarkov.engines.shard import Shard
from summarkov.errors import DataError, SettingError
from summarkov.events.labels import vocabulary_of
from summarkov.readers.batches import Files, find_files
from summarkov.readers.columns import Columns
from summarkov.readers.scratch import Scratch
from summarkov.readers.spill import Block, Spill
from summarkov.readers.stream import Progress, Task, spill

#: What the kernels need for an event while they count, beside the counts.
EVENT_BYTES = 1 << 7


class StreamSource(EventSource):
    """An :class:`EventSource` over codes on disk, which it owns."""

    def __init__(self, scratch: Scratch, content: Spill, *, memory: int, n_jobs: int | None = None) -> None:
        self.n_jobs = threads(n_jobs)
        self.tied_order = content.tied_order
        self._scratch, self._content, self._memory = scratch, content, memory
        self._open = True

    @property
    def labels(self) -> tuple[str, ...]:
        return self._content.labels

    @property
    def label_counts(self) -> npt.NDArray[np.int64]:
        return self._content.label_counts

    @property
    def n_sequences(self) -> int:
        return self._content.n_sequences

    def close(self) -> None:
        """Remove the temporary files."""
        self._scratch.remove()
        self._open = False

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the codes on disk."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, min(TABLE_BYTES, self._memory)))
        summaries = {id(request.summary): request.summary for request in joint}.values()
        blocks = carried(self.blocks(EVENT_BYTES), len(self.labels), joint_memory(summaries))
        shards = (Shard(index, self.labels) for _, index in blocks)
        totals: list[Counts | None] = [None] * len(joint)
        with pool_of(self.n_jobs) as pool:
            while together := list(islice(shards, self.n_jobs)):
                for some in range(0, len(joint), AT_ONCE):
                    pairs = [
                        (request, shard) for request in joint[some : some + AT_ONCE] for shard in together
                    ]
                    parts = list(pool.map(lambda pair: pair[1].count(pair[0]), pairs))
                    for at, first in enumerate(range(0, len(parts), len(together)), start=some):
                        new, before = parts[first : first + len(together)], totals[at]
                        totals[at] = total(new if before is None else [before, *new])
        answers = []
        for request, at in zip(requests, answered_by, strict=True):
            answer = totals[at]
            assert answer is not None
            answers.append(answer.narrow(joint[at].target, request.target))
        return answers

    def blocks(self, event_bytes: int) -> Iterator[Block]:
        """All events, as many at a time as fit into memory if each takes so many bytes."""
        if not self._open:
            raise DataError("this source is closed and its temporary files are gone; make a new one")
        most = max(1, min(SHARD_EVENTS, self._memory // (event_bytes * self.n_jobs)))
        yield from self._content.blocks(most)


def open_stream(
    format: str,
    path: str | os.PathLike[str],
    columns: dict[str, Any],
    labels: Iterable[object] | None,
    memory: int,
    n_jobs: int | None,
    scratch: str | os.PathLike[str] | None,
    progress: Progress | None,
    *,
    names: bool = False,
) -> StreamSource:
    """Read files into a source. With ``names`` it keeps those of the sequences, for predictions."""
    asked = Columns(**columns)
    asked.check()
    if not isinstance(memory, int) or isinstance(memory, bool) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    n_threads = threads(n_jobs)
    vocabulary = None if labels is None else vocabulary_of(labels)
    task = Task(Files(find_files(path, format), format, asked), memory, progress)
    with Scratch(scratch).removed_on_error() as folder:
        content = spill(task, folder, vocabulary, names=names)
        return StreamSource(folder, content, memory=memory, n_jobs=n_threads)
