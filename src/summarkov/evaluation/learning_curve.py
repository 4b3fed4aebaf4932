"""``learning_curve``: which model is best with how many sequences, and what more of them would bring."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.baselines import Contender
from summarkov.confidence import paired_interval
from summarkov.engines import EventSource
from summarkov.errors import DataError, SettingError
from summarkov.evaluation.comparison import Comparison, markdown
from summarkov.evaluation.run import Progress, compare, splits_of
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Label
from summarkov.frames import Listed, Records, Sheet
from summarkov.models import SummaryModel
from summarkov.settings import reporter, seed_of
from summarkov.store import finite
from summarkov.typing import FloatArray
from summarkov.wording import number, plural, several

#: Shares of the training sequences, each about twice the one before.
SHARES = (0.125, 0.25, 0.5, 1.0)
#: Verdicts of contenders that are surely worse than the best.
_BEATEN = ("worse", "refuted")
#: More sequences would bring little if the last doubling gained surely no more than this share of a log loss.
_LITTLE = 0.01


@dataclass(frozen=True)
class Point:
    """One contender, fitted to a part of the training sequences.

    Attributes
    ----------
    name : str
        The contender.
    n_sequences, n_events : int
        The size of that part.
    log_loss, log_likelihood : float
        On the test sequences, of "this label or not", the mean over targets: per event or tick, and the sum.
    next_event_log_loss : float or None
        Per event, of the next event; None where no next event is predicted, as in a comparison.
    verdict : str
        As in a comparison of all contenders at this size.
    """

    name: str
    n_sequences: int
    n_events: int
    log_loss: float
    log_likelihood: float
    next_event_log_loss: float | None
    verdict: str


class LearningCurve(Listed):
    """Contenders fitted to more and more sequences, all measured on the same test sequences.

    Attributes
    ----------
    points : tuple of Point
        One per contender and size, and so has the frame.
    comparisons, sizes : tuple
        The comparison at each size, and these: numbers of sequences and events.
    """

    listed = ("points",)

    def __init__(self, comparisons: Sequence[Comparison], sizes: Sequence[tuple[int, int]]) -> None:
        """``sizes`` are numbers of sequences and events, one of each for every comparison."""
        self.comparisons, self.sizes = tuple(comparisons), tuple(sizes)
        self.points = Records(
            (
                Point(
                    line.name,
                    n,
                    events,
                    line.log_loss,
                    line.log_likelihood,
                    line.next_event_log_loss,
                    line.verdict,
                )
                for each, (n, events) in zip(comparisons, sizes, strict=True)
                for line in sorted(each.lines, key=lambda line: line.name)
            ),
            Point,
        )

    @property
    def unit(self) -> str:
        """What a position is: an "event", or a "tick" where events happened together."""
        return self.comparisons[-1].unit

    @property
    def names(self) -> tuple[str, ...]:
        """The contenders, the best with all sequences first."""
        return tuple(line.name for line in self.comparisons[-1].lines)

    @property
    def best(self) -> tuple[str, ...]:
        """The contender with the largest log-likelihood at every size."""
        return tuple(each.lines[0].name for each in self.comparisons)

    def last_doubling(self, name: str) -> tuple[float, float, float]:
        """What the last step brought a contender, with a 95% interval.

        In nats per test event (or tick) and label; nan where it ruled out something that happened, before or
        after. The interval is that of a paired bootstrap over the test sequences; it does not tell how
        another draw of training sequences would differ.
        """
        smaller, larger = (self._by_sequence(each, name) for each in self.comparisons[-2:])
        n = sum(self.comparisons[-1].n_test)
        if not np.isfinite([smaller.sum(), larger.sum()]).all():
            return math.nan, math.nan, math.nan
        gained = larger - smaller
        low, high = paired_interval([gained], self.comparisons[-1].n_bootstrap, self.comparisons[-1].seed)
        return float(gained.sum()) / n, low / n, high / n

    def _by_sequence(self, comparison: Comparison, name: str) -> FloatArray:
        for (tuned,) in comparison.results:
            if tuned.name == name:
                return tuned.by_sequence
        raise SettingError(f"there is no contender {name!r}; there are {', '.join(self.names)}")

    def sentences(self) -> list[str]:
        """What the curve says: which contender at which size, and what the last step brought the best one."""
        told = [sentence for name in dict.fromkeys(self.best) for sentence in self._about(name)]
        verdicts = [each.lines[0].verdict for each in self.comparisons]
        refuted = [n for (n, _), verdict in zip(self.sizes, verdicts, strict=True) if verdict == "refuted"]
        if any(point.next_event_log_loss is None for point in self.points):
            told.append(
                "Not all labels are targets (those of the smallest part are, unless some are given): where "
                "train has others, the log loss of the next event is not told."
            )
        if refuted:
            told.append(f"With {_sizes(refuted)} every model ruled out something that happened.")
        gain, low, high = self.last_doubling(self.best[-1])
        if math.isnan(gain):
            return told
        (before, _), (after, _) = self.sizes[-2:]
        loss = self.comparisons[-1].lines[0].log_loss
        if low > 0:
            more = "more sequences are worth getting"
        elif high < 0:
            more = "that is chance, or the larger part differs"
        elif high <= _LITTLE * loss:
            more = f"at most {high / loss:.1%} of the log loss, so more of the same would bring little"
        else:
            more = "these test sequences cannot tell whether more would help"
        nats, least, most = (f"{each:.4f}".replace("-0.0000", "0.0000") for each in (gain, low, high))
        between = f" ({least} to {most})" if np.isfinite([low, high]).all() else ""
        told.append(
            f"From {number(before)} to {number(after)} sequences {self.best[-1]} gained {nats} nats per "
            f"{self.unit} and label{between}: {more}."
        )
        return told

    def _about(self, name: str) -> list[str]:
        """Where a contender has the smallest log loss, and where the verdicts say that it is better."""
        beaten = {(point.name, point.n_sequences) for point in self.points if point.verdict in _BEATEN}
        first = [n for (n, _), best in zip(self.sizes, self.best, strict=True) if best == name]
        where = [n for n in first if (name, n) not in beaten]
        if not where or len(self.names) == 1:
            return []
        others: dict[tuple[int, ...], list[str]] = {}  # by the sizes at which they are surely worse
        for other in self.names:
            if other != name:
                others.setdefault(tuple(n for n in where if (other, n) in beaten), []).append(other)
        told = [f"{name} has the smallest log loss per {self.unit} and label with {_sizes(where)}."]
        all_of, any_of = (" with all of these", " with any of these") if len(where) > 1 else ("", "")
        unsure = others.pop((), [])
        each = [
            f"than {several(some)}{all_of if len(sure) == len(where) else f' only with {_sizes(sure)}'}"
            for sure, some in others.items()
        ]
        if each:
            told.append(f"It is surely better {several(each)}.")
        if unsure:
            told.append(f"It cannot be told from {several(unsure, 'or')}{any_of}.")
        return told

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "format": "summarkov-learning-curve",
            "version": 1,
            "points": [finite(vars(point)) for point in self.points],
            "best": list(self.best),
            "last_doubling": {name: finite(self.last_doubling(name)) for name in self.names},
            "sentences": self.sentences(),
        }

    @property
    def tables(self) -> dict[str, list[list[str]]]:
        """By title, one row per contender: its name, and its log loss at every size; the smallest has a star.

        That of the next event is there if it is known at any size.
        """
        by = "by the number of training sequences"
        losses = {
            f"Log loss per {self.unit} and label {by}": {
                (point.name, point.n_sequences): point.log_loss for point in self.points
            },
            f"Log loss of the next event {by}": {
                (point.name, point.n_sequences): point.next_event_log_loss
                for point in self.points
                if point.next_event_log_loss is not None
            },
        }
        return {title: self._rows(loss) for title, loss in losses.items() if loss}

    def _rows(self, loss: Mapping[tuple[str, int], float]) -> list[list[str]]:
        sizes = [n for n, _ in self.sizes]
        least = {
            n: min((loss[name, n] for name in self.names if (name, n) in loss), default=None) for n in sizes
        }
        alone = len(self.names) == 1
        return [
            [name, *(_cell(loss.get((name, n)), None if alone else least[n]) for n in sizes)]
            for name in self.names
        ]

    @property
    def headings(self) -> list[str]:
        """What stands above the columns of a table."""
        return ["model", *(plural(n, "sequence") for n, _ in self.sizes)]

    def summary(self) -> Sheet:
        """The first of the tables, as one that prints well and that notebooks show in HTML."""
        title, rows = next(iter(self.tables.items()))
        return Sheet(title, self.headings, rows, len(rows))

    def to_markdown(self) -> str:
        """The tables in Markdown, and what they say."""
        told = ""
        for title, rows in self.tables.items():
            above = [self.headings, ["---", *["---:"] * len(self.sizes)]]
            table = markdown([cell.strip() for cell in row] for row in [*above, *rows])
            told += f"{title}:\n\n{table}\n"
        return told + "\n".join(self.sentences()) + "\n"


def _cell(loss: float | None, least: float | None) -> str:
    """A number of a table, the smallest of its column with a star."""
    return "" if loss is None else f"{loss:.4f}{'*' if loss == least != math.inf else ' '}"


def _sizes(sizes: Sequence[int]) -> str:
    return f"{several(map(number, sizes))} {'sequence' if [*sizes] == [1] else 'sequences'}"


def learning_curve(
    train: Any,
    dev: Any = None,
    test: Any = None,
    *,
    models: Iterable[str | SummaryModel | Contender] | None = None,
    targets: Iterable[Label] | None = None,
    shares: Sequence[float] = SHARES,
    fractions: Sequence[float] = (0.7, 0.15, 0.15),
    seed: int = 0,
    random_state: int | None = None,
    n_bootstrap: int = 2000,
    progress: Progress = None,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Compare models fitted to more and more of the training sequences, with one dev and one test part.

    Parameters are those of :func:`compare`; ``shares`` are the parts of the training sequences, drawn at
    random so that each part holds the smaller ones. Targets are those labels that occur in the smallest part,
    unless they are given.

    Examples
    --------
    >>> from summarkov.simulate.example import web_shop
    >>> events = web_shop().simulate(n_sequences=120, length=30, seed=1)
    >>> curve = learning_curve(events, models=["chain-0", "chain-1"], shares=(0.25, 1.0))
    >>> [n for n, _ in curve.sizes]
    [21, 84]
    >>> [point.name for point in curve.points]
    ['chain-0', 'chain-1', 'chain-0', 'chain-1']
    """
    seed = seed_of(seed, random_state)
    if len(shares) < 2 or list(shares) != sorted(set(shares)) or not 0 < shares[0] <= shares[-1] <= 1:
        raise SettingError("shares must be at least two growing numbers above 0 and at most 1")
    split = splits_of(train, dev, test, 1, fractions, seed)[0][0]
    whole = split.train
    if isinstance(whole, EventSource) or not isinstance(whole, EventSequences):
        raise SettingError(
            "a learning curve needs its training sequences in memory; read them with read_events"
        )
    order = np.random.default_rng(seed).permutation(len(whole))
    parts = [whole[np.sort(order[: max(1, round(share * len(whole)))])] for share in shares]
    if not parts[0].n_events:
        raise DataError("the smallest part has no events; give larger shares")
    names = None if models is None else list(models)
    if targets is None:
        least = parts[0]
        targets = [x for x, n in zip(least.labels, least.label_counts.tolist(), strict=True) if n]
    chosen, comparisons = list(targets), []
    tell = reporter(progress)
    for at, part in enumerate(parts):
        comparisons.append(
            compare(
                part,
                split.dev,
                split.test,
                models=names,
                targets=chosen,
                seed=seed,
                n_bootstrap=n_bootstrap,
                progress=_shifted(tell, at, len(parts)),
                n_jobs=n_jobs,
            )
        )
    return LearningCurve(comparisons, [(len(part), part.n_events) for part in parts])


def _shifted(tell: Callable[..., None], at: int, parts: int) -> Callable[[int, int, str], None]:
    """Progress of one part told as that of all of them."""
    return lambda done, total, what: tell(at * total + done, parts * total, what)
