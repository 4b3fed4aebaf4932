"""What a model that looks back in time would find if it looked back over positions instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from summarkov.durations import Duration
from summarkov.engines import make_source
from summarkov.engines.surveys import positions_within
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel

#: A difference of scores that is clear: odds of more than 100 to 1 (Kass and Raftery 1995, of BIC).
CLEAR = 5.0
#: Targets that a sentence names.
_NAMED = 3

Names = tuple[str, ...]


@dataclass(frozen=True)
class ByPosition:
    """The same, learned over positions: as many as the time holds on average.

    ``gain`` is by how much the score (the sum over all targets, BIC unless asked otherwise) is better by
    time, and ``others`` has the targets whose influencers are not the same: those by time, and by position.
    """

    lookback: int
    gain: float
    others: Mapping[str, tuple[Names, Names]]
    unit: str = "event"  # what a position is: "tick" where events happened together

    @property
    def differs(self) -> bool:
        """Whether time and positions tell different stories."""
        return abs(self.gain) > CLEAR or bool(self.others)

    def __str__(self) -> str:
        events = self.unit if self.lookback == 1 else f"{self.lookback} {self.unit}s"
        if not self.differs:
            return f"Over the last {events}, about as many, the story is the same."
        told = f"Over the last {events}, about as many, the story is another: "
        if abs(self.gain) > CLEAR:
            told += f"time fits {'better' if self.gain > 0 else 'worse'} by {abs(self.gain):,.1f}"
        else:
            told += "neither fits clearly better"
        return told + told_apart(self.others)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**asdict(self), "differs": self.differs}


def told_apart(others: Mapping[str, tuple[Names, Names]]) -> str:
    """The influencers of some targets by time and by position, to end a sentence."""
    told = "".join(
        f"; {target}: {_listed(timed)} by time, {_listed(placed)} by position"
        for target, (timed, placed) in list(others.items())[:_NAMED]
    )
    more = len(others) - _NAMED
    return told + (f"; and {more} more targets." if more > 0 else ".")


def _listed(names: Names) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "none"


def by_position(fitted: SummaryModel | InfluenceGraph, events: Any) -> ByPosition | None:
    """Learn it again over positions; None unless there is one look-back for all labels, and it is a time.

    ``events`` are those that it was learned from.
    """
    models = fitted.models_ if isinstance(fitted, InfluenceGraph) else {"": fitted}
    first = next(iter(models.values()))
    lookback = getattr(first.fitted.summary, "lookback", None)
    if not isinstance(lookback, Duration):
        return None
    source = make_source(events)
    delay = first.fitted.settings["delay"]
    delay = 0 if isinstance(delay, str) else delay
    k = max(positions_within(source, lookback), delay + 1)
    settings = {"lookback": k, "delay": delay}
    if isinstance(fitted, InfluenceGraph):
        template = first.copy(target=None, **settings)
        again = InfluenceGraph(template, targets=tuple(models), n_jobs=fitted.n_jobs).fit(source).models_
    else:
        again = {"": first.copy(**settings).fit(source)}
    others = {
        target or ", ".join(model.target_): (model.influencers_, again[target].influencers_)
        for target, model in models.items()
        if model.influencers_ != again[target].influencers_
    }
    gain = sum(model.score_ - again[target].score_ for target, model in models.items())
    return ByPosition(k, gain, others, "tick" if first.layout_.together else "event")
