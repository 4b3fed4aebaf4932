"""The prediction tables: every model on every data set, beside the published figure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from paper.published import published
from paper.section import Section
from summarkov.comparison import Contender
from summarkov.comparison.comparison import Tuned
from summarkov.comparison.run import Split, tune
from summarkov.errors import DataError
from summarkov.read import read_events


def read_split(folder: str | os.PathLike[str], name: str) -> Split:
    """The paper's own split of a data set."""
    parts = []
    for part in ("train", "dev", "test"):
        path = Path(folder) / f"{name}.{part}.jsonl"
        if not path.exists():
            raise DataError(f"{path} is missing; the folder must hold the paper's data sets, split")
        parts.append(read_events(path, ends="cut off"))
    labels = sorted({label for events in parts for label in events.labels})
    return Split(*(events.recode(labels) for events in parts))


def targets_of(name: str, split: Split) -> Sequence[str]:
    """The labels that the paper's tables average over."""
    chosen: Sequence[str] = published()["targets"].get(name, split.train.labels)
    return chosen


class Tables:
    """Results by data set and contender, each worked out once."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        on_done: Callable[[], None] | None = None,
    ) -> None:
        self.splits = {name: read_split(folder, name) for name in published()["names"]}
        self._on_done = on_done
        self._done: dict[tuple[str, str], Tuned] = {}

    def result(self, name: str, contender: Contender) -> Tuned:
        """One contender on one data set by the table protocol."""
        at = (name, contender.name)
        if at not in self._done:
            split = self.splits[name]
            self._done[at] = tune(contender, split, targets_of(name, split))
            if self._on_done is not None:
                self._on_done()
        return self._done[at]

    def table(
        self,
        title: str,
        about: str,
        columns: Sequence[tuple[str, Callable[[str], Contender]]],
        notes: Sequence[str] = (),
    ) -> Section:
        """Published figure, ours and the difference: one row per data set and model.

        A column is a published name and a function from the data set to the contender in its place.
        """
        rows = []
        for name, shown in published()["names"].items():
            for column, contender in columns:
                theirs = published()["prediction"][name].get(column)
                ours = self.result(name, contender(name))
                rows.append(
                    [
                        shown,
                        ours.name,
                        "" if theirs is None else f"{theirs:.2f}",
                        f"{ours.log_likelihood:.2f}",
                        "" if theirs is None else f"{ours.log_likelihood - theirs:+.2f}",
                        "" if theirs is None else f"{(ours.log_likelihood - theirs) / abs(theirs):+.2%}",
                        f"{ours.seconds:.1f}",
                    ]
                )
        headings = ["data set", "model", "published", "ours", "difference", "relative", "seconds"]
        return Section(title, about, headings, rows, notes)
