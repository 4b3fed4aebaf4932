"""Events in memory or streamed: which of the two, and how much memory."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.errors import report
from summarkov.cli.options.reading import READING, Reading
from summarkov.cli.printing.console import stages

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="auto|memory|stream",
        help="Take the events into memory, or stream them through a temporary folder on disk. auto streams "
        "folders, patterns, and files that need more than --memory.",
        rich_help_panel=READING,
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="What streaming may use, such as 500M or 4G.",
        rich_help_panel=READING,
    ),
]


@dataclass(frozen=True)
class Opening:
    """How to come by the events of a file, a folder or a pattern; see ``summarkov.open_events``."""

    reading: Reading
    engine: str = "auto"
    memory: str = "1G"
    n_jobs: int | None = None

    def streams(self, path: Path) -> bool:
        """Whether the events are streamed."""
        from summarkov.engines.opening import is_streamed

        return is_streamed(path, engine=self.engine, memory=self.memory, format=self.reading.format)

    @contextmanager
    def open(
        self, path: Path, known: Collection[str] | None = None, *, names: bool = False
    ) -> Iterator[EventSequences | EventSource]:
        """The events, in memory or streamed; for a model, the labels that it knows tell which are rare.

        With ``names`` a stream keeps those of the sequences.
        """
        with self._as_read(path, names) as events:
            yield self.reading.prepare(events, known)

    @contextmanager
    def open_several(self, paths: Sequence[Path]) -> Iterator[Sequence[EventSequences | EventSource]]:
        """The events of several files; labels are rare, if that is asked, in the first of them."""
        with ExitStack() as opened:
            parts = [opened.enter_context(self._as_read(path)) for path in paths]
            yield self.reading.prepare_several(parts, first=True)

    @contextmanager
    def _as_read(self, path: Path, names: bool = False) -> Iterator[Any]:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            yield self.reading.events(path)
            return
        from summarkov.engines import open_events

        how: dict[str, Any] = {**self.reading.columns, "engine": "stream", "memory": self.memory}
        with ExitStack() as opened:
            with warnings.catch_warnings(record=True) as notes, stages() as tell:
                warnings.simplefilter("always")
                source = opened.enter_context(
                    open_events(path, **how, n_jobs=self.n_jobs, names=names, progress=tell)
                )
            for note in notes:
                report(str(note.message), name="Note")
            yield source
