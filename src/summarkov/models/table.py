"""The conditional probability table of a fitted model, one row per state."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from summarkov.confidence import seen
from summarkov.frames import MOST, Column, Sheet, Tabular
from summarkov.models.fitted import Fitted
from summarkov.wording import number


class Row(NamedTuple):
    """One state of the past, and what follows it.

    ``state`` is a value to compare by and ``words`` the same for people; ``n`` is N(s), how often it was
    seen, and ``seen`` the same in a word ("never", "hardly" or "often", see
    ``confidence.seen``). ``counts`` N(x; s), ``probabilities`` and 95% ``intervals`` have one
    entry an outcome, in the order of ``outcomes_``.
    """

    state: Hashable
    words: str
    n: float
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    seen: str


class StateTable(Tabular, Sequence[Row]):
    """The states that were seen, in canonical order: a sequence of :class:`Row`.

    ``outcomes`` names the entries of a row's counts, probabilities and intervals. Printed, it shows those of
    the first outcome. The frame has one row per state, with the columns ``state``, ``n``, ``seen``, and for
    each outcome x ``n(x)``, ``p(x)``, ``low(x)`` and ``high(x)``.
    """

    def __init__(self, fitted: Fitted, outcomes: Sequence[object], level: float = 0.95) -> None:
        self.outcomes = tuple(outcomes)
        names, prior_weight = fitted.influencer_labels, float(fitted.pseudo.sum())
        self._rows = [
            Row(
                fitted.summary.state(key, names, fitted.labels),
                fitted.summary.words(key, names, fitted.labels),
                sum(n),
                tuple(n),
                tuple(theta),
                tuple((low, high) for low, high in bounds),
                seen(sum(n), prior_weight),
            )
            for key, n, theta, bounds in zip(
                fitted.table.keys.tolist(),
                (fitted.observed / fitted.scale).tolist(),
                fitted.theta.tolist(),
                fitted.intervals(level=level).tolist(),
                strict=False,  # the last two have one more row, for states never seen
            )
        ]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, which: int) -> Row: ...

    @overload
    def __getitem__(self, which: slice) -> list[Row]: ...

    def __getitem__(self, which: int | slice) -> Row | list[Row]:
        return self._rows[which]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def _columns(self) -> Mapping[str, Column]:
        rows = self._rows
        found = {
            "state": Column(str, [row.words for row in rows]),
            "n": Column(float, [row.n for row in rows]),
            "seen": Column(str, [row.seen for row in rows]),
        }
        for x, outcome in enumerate(self.outcomes):
            found[f"n({outcome})"] = Column(float, [row.counts[x] for row in rows])
            found[f"p({outcome})"] = Column(float, [row.probabilities[x] for row in rows])
            found[f"low({outcome})"] = Column(float, [row.intervals[x][0] for row in rows])
            found[f"high({outcome})"] = Column(float, [row.intervals[x][1] for row in rows])
        return found

    def summary(self) -> Sheet:
        """The states in their order, as a table that prints well and that notebooks show in HTML."""
        return self.sheet("", self._rows)

    def sheet(self, title: str, rows: Sequence[Row]) -> Sheet:
        """Some of its rows under a title, the first of them shown."""
        shown = [  # of two outcomes one tells the other
            (x, str(outcome)) for x, outcome in enumerate(self.outcomes) if x == 0 or len(self.outcomes) > 2
        ]
        head = ["state", "n", *(part for _, name in shown for part in (name, "95% interval")), ""]
        cells = [
            [
                row.words or "any history",
                number(row.n),
                *(
                    cell
                    for x, _ in shown
                    for cell in (
                        f"{row.probabilities[x]:.4f}",
                        "{:.4f} to {:.4f}".format(*row.intervals[x]) if row.n else "",
                    )
                ),
                "" if row.seen == "often" else f"{row.seen} seen",
            ]
            for row in rows[:MOST]
        ]
        return Sheet(title, head, cells, len(rows))
