"""The conditional probability table of a fitted model, a row a state."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from summarkov.confidence import seen
from summarkov.models.fitted import Fitted


class Row(NamedTuple):
    """One state of the past, and what follows it.

    ``state`` is a value to compare by and ``words`` the same for people; ``n`` is N(s), how often it was
    seen, and ``seen`` the same in a word ("never", "hardly" or "often", see
    :func:`summarkov.confidence.seen`). ``counts`` N(x; s), ``probabilities`` and 95% ``intervals`` have one
    entry an outcome, in the order of ``outcomes_``.
    """

    state: Hashable
    words: str
    n: float
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    seen: str


class StateTable(Sequence[Row]):
    """The states that were seen, in canonical order: a sequence of :class:`Row`.

    ``outcomes`` names the entries of a row's counts, probabilities and intervals. Printed, it shows those of
    the first outcome.
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

    def __getitem__(self, which: Any) -> Any:
        return self._rows[which]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one plain dict a state, ready for a data frame or JSON."""
        return [
            {"state": row.words, "n": row.n, "seen": row.seen}
            | {
                f"{name}({outcome})": value
                for outcome, n, p, (low, high) in zip(
                    self.outcomes, row.counts, row.probabilities, row.intervals, strict=True
                )
                for name, value in (("n", n), ("p", p), ("low", low), ("high", high))
            }
            for row in self._rows
        ]

    def __repr__(self) -> str:
        widest = max([len(row.words) for row in self._rows] + [5])
        shown = self.outcomes if len(self.outcomes) > 2 else self.outcomes[:1]  # one tells the other
        head = "".join(f"  {outcome!s:>12}  {'95% interval':<16}" for outcome in shown)
        lines = [f"{'state':<{widest}}  {'n':>8}{head}".rstrip()]
        for row in self._rows:
            cells = (
                f"  {p:>12.4f}  {low:.4f} to {high:.4f}"
                for p, (low, high), _ in zip(row.probabilities, row.intervals, shown, strict=False)
            )
            mark = "" if row.seen == "often" else f"  {row.seen} seen"
            lines.append(f"{row.words:<{widest}}  {row.n:>8g}{''.join(cells)}{mark}")
        return "\n".join(lines)
