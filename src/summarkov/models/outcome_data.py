"""Data that tell how sequences ended: what is asked of them, and how far a model can be trusted on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov.confidence import Confidence, OrderTest
from summarkov.engines import EventSource
from summarkov.engines.endings import NOT_KNOWN, NOT_TOLD, EndedSource, Outcome
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events.vocabulary import Unknown
from summarkov.io import read_events
from summarkov.models.bootstrap import bootstrap
from summarkov.models.model import SummaryModel
from summarkov.models.order import order_test
from summarkov.models.parameters import codes_of
from summarkov.settings import Progress, check_whole, seed_of


def outcome_of(
    source: EventSource,
    y: Iterable[object] | None,
    outcome: str | None,
    value: str | None,
    reaches: str | None,
    ends_with: str | None,
    after: int | None,
) -> Outcome:
    """What tells the outcome, from the settings of an ``OutcomeModel``; see there."""
    if sum(each is not None for each in (outcome, reaches, ends_with, y)) != 1:
        raise SettingError("say what the outcome is: one of outcome=, reaches=, ends_with=, or y in fit")
    if after is not None:
        check_whole("after", after, 1)
    if reaches is not None:
        if after is None:
            raise SettingError(
                "'reaches' needs 'after', a number of events: what happened in those is looked at, of "
                "sequences that go on and have not reached it by then. Without, sequences that reach it "
                "early would have had less time for all else"
            )
        return Outcome(f"reaches {reaches}", reached=_code(source, reaches), after=after)
    if ends_with is not None:
        return Outcome(f"ends with {ends_with}", last=_code(source, ends_with), after=after)
    if y is not None:
        return _given(source, list(y), value, after)
    return _of_column(source, str(outcome), value, after)


def classes_of(source: EventSource, y: list[Any] | None, column: str | None) -> tuple[Any, Any]:
    """The two values of an outcome, sorted; False and True if it has others, or is told by events."""
    values = set() if y is None else {each for each in y if each is not None and each == each}
    if column is not None:
        named = zip(source.labels, source.label_counts.tolist(), strict=True)
        values = {name.removeprefix(f"{column}=") for name, n in named if n and name.startswith(f"{column}=")}
        values -= {"(missing)"}
    first, second = sorted(values) if len(values) == 2 else (False, True)
    return first, second


def _code(source: EventSource, label: Any) -> int:
    """The code of a label of events."""
    held = set(source.attributes)
    if str(label) in held:
        raise SettingError(f"{label!r} is an attribute of sequences, and not a label of events")
    events = [each for each in source.labels if each not in held]
    (at,) = codes_of([label], events)
    return source.labels.index(events[at])


def _given(source: EventSource, y: list[object], value: str | None, after: int | None) -> Outcome:
    """From values that were given, one for each sequence."""
    if len(y) != source.n_sequences:
        raise DataError(f"there are {source.n_sequences} sequences but {len(y)} outcomes")
    values = [None if each is None or each != each else str(each) for each in y]
    chosen = _chosen("outcome", value, Counter(each for each in values if each is not None))
    hits = [NOT_KNOWN if each is None else int(each == chosen) for each in values]
    return Outcome(f"outcome={chosen}", hits=np.array(hits, np.int64), after=after)


def _of_column(source: EventSource, column: str, value: str | None, after: int | None) -> Outcome:
    """From the values of an attribute."""
    if not any(name.startswith(f"{column}=") for name in source.attributes):
        columns = sorted({name.partition("=")[0] for name in source.attributes})
        raise DataError(
            f"the events have no attribute {column!r}{nearest(column, columns)}; read them with "
            f"attributes=[{column!r}]"
        )
    named = {name.partition("=")[2]: name for name in source.attributes if name.startswith(f"{column}=")}
    codes = {text: int(np.searchsorted(source.labels, name)) for text, name in named.items()}
    counts = {text: int(source.label_counts[code]) for text, code in codes.items() if text != "(missing)"}
    chosen = _chosen(column, value, {text: n for text, n in counts.items() if n})
    values = np.full(len(source.labels) + 1, NOT_TOLD)
    for text, code in codes.items():
        values[code] = NOT_KNOWN if text == "(missing)" else int(text == chosen)
    return Outcome(f"{column}={chosen}", values=values, after=after)


def _chosen(column: str, value: str | None, counts: Mapping[str, int]) -> str:
    """The value that is asked about; of two the rarer one, if none is named."""
    if not counts:
        raise DataError(f"{column!r} is known of no sequence; give the outcome of some")
    if value is None:
        if len(counts) != 2:
            there = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
            raise SettingError(f"say which value of {column!r} is asked about: value= one of {there}")
        return min(sorted(counts), key=lambda name: counts[name])
    if str(value) not in counts:
        raise SettingError(
            f"no sequence has {column}={value}{nearest(str(value), list(counts))}; there are "
            f"{', '.join(sorted(counts))}"
        )
    return str(value)


def refuse_telling_label(
    outcome: Outcome, source: EventSource, forbidden: Iterable[object], candidates: Iterable[object] | None
) -> None:
    """Refuse an outcome that is also a label of events, by which it would be told after the fact."""
    value = outcome.name.partition("=")[2]
    is_given = outcome.values is not None or outcome.hits is not None
    if not is_given or value not in source.labels or value in source.attributes:
        return
    if value in map(str, forbidden) or (candidates is not None and value not in map(str, candidates)):
        return
    raise DataError(
        f"{value!r} is the outcome, and also a label of events, which would tell it after the fact; leave it "
        f"out of the model with forbidden=[{value!r}], or ask for ends_with={value!r}"
    )


def refuse_one_sided(outcome: Outcome, source: EventSource, ended: EventSource) -> None:
    """Refuse sequences that all have the outcome, all have not, or of which none is left to tell."""
    hits, others = (int(ended.label_counts[ended.labels.index(each)]) for each in outcome.names)
    if hits and others:
        return
    if hits or others:
        every = "every" if hits else "no"
        raise DataError(f"{every} sequence has the outcome {outcome.name!r}; there is nothing to tell apart")
    if outcome.after is None:
        raise DataError("the outcome of no sequence is known; give that of some")
    after = f"{outcome.after} positions"
    left = f"with a known outcome has {after}"
    if outcome.reached is not None:
        left = f"goes on after {after} without having reached {source.labels[outcome.reached]!r} by then"
    elif outcome.last is not None:
        left = f"has {after} before its last one"
    raise DataError(f"no sequence {left}; choose a smaller 'after'")


def refuse_beyond(after: int | None, n_positions: int) -> None:
    """Refuse to tell of a case that is past the positions that were looked at."""
    if after is not None and n_positions > after:
        raise DataError(
            f"the model tells of cases within their first {after} positions, and this one has {n_positions}; "
            "give less of it, or learn the model with a larger 'after'"
        )


class OutcomeEvidence(ABC):
    """Something fitted that tells how sequences end, with data that tell how they did."""

    @property
    @abstractmethod
    def model_(self) -> SummaryModel:
        """The model of the outcome: one with the outcome and its opposite as target."""

    @property
    @abstractmethod
    def name_(self) -> str:
        """The outcome."""

    @abstractmethod
    def _again(self, events: Any, y: Any, sample_weight: Any) -> EndedSource:
        """Sequences that end in what was learned, or not."""

    def score(
        self, events: Any, y: Any = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood, per sequence, of how new sequences ended; ``y`` as in ``fit``."""
        return self.model_.score(self._again(read_events(events), y, sample_weight).events(), unknown=unknown)

    def confidence(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 100,
        seed: int = 0,
        random_state: int | None = None,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each influence is, from resampled sequences; see ``InfluenceGraph.confidence``."""
        source = self._again(events, y, sample_weight)
        seed = seed_of(seed, random_state)
        found = bootstrap([self.model_], source, n=n, seed=seed, level=level, progress=progress)
        mine = tuple(edge for edge in found.edges if edge.target == self.name_)
        return replace(found, edges=mine, seldom=tuple(one for one in found.seldom if one[1] == self.name_))

    def order_test(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 99,
        within: Any = None,
        seed: int = 0,
        random_state: int | None = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Which influences are about the order of events; see ``InfluenceGraph.order_test``."""
        source = self._again(events, y, sample_weight)
        seed = seed_of(seed, random_state)
        return order_test([self.model_], source, n=n, within=within, seed=seed, progress=progress)
