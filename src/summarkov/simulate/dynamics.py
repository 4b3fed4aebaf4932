"""Dynamics that a person writes down: a probability table for every label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import label_text
from summarkov.kernels import Index
from summarkov.settings import check_seed, is_number, span_of
from summarkov.simulate.draw import (
    Drawing,
    after_histories,
    check_attributes,
    checked_lengths,
    checked_step,
    draw_sequences,
    flat,
    one_of_each,
)
from summarkov.summaries import BinarySummary, WindowSummary
from summarkov.summaries.window import plain_span
from summarkov.typing import CodeArray, FloatArray, IntArray

Key = tuple[int, ...]
Rule = float | tuple[Sequence[str], Mapping[Key, float]]

#: Above this many influencers in all, or states of them, there are too many histories to check.
_MOST_INFLUENCERS, _MOST_STATES = 16, 1 << 20


class Dynamics:
    """What makes each label more or less likely, written down, as a parameterization of an influence graph.

    Parameters
    ----------
    rules : mapping from label to rule
        A probability that depends on nothing, or ``(influencers, table)`` where the table maps the level of
        every influencer, in the order given, to a probability: (0, 1) means the first did not occur in its
        window and the second did (for an ordinal summary: its place in the order).
    lookback, delay : as for :class:`summarkov.BSuMM`
    summary : WindowSummary, optional
        Instead of a look-back: any binary, ordinal or count summary.
    together : bool
        Whether events happen together: the probability of a label is then that of its being in a tick.
    step : time, or two
        The time between two positions, or the shortest and the longest, such as ``("1h", "8h")``, between
        which it is drawn. With that, look-backs may be times.
    attributes : mapping from column to shares, optional
        Such as ``{"class": {"x": 0.5, "y": 0.5}}``. Rules may name "class=x" among their influencers, of
        level 1 where a sequence has that value.
    outcomes : mapping from column to rule, optional
        How sequences end: the probability of "yes", else it is "no", over what occurred in the whole past.
        With a summary as the third entry of the rule, over its states: ``OrdinalSummary(None)`` is order.

    Unless events happen together, probabilities must sum to 1 after every history; else they are refused.

    Examples
    --------
    The dynamics of the paper's appendix:

    >>> table_a = {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}
    >>> table_b = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}
    >>> dynamics = Dynamics(
    ...     {"A": (("B", "C"), table_a), "B": (("B", "C"), table_b), "C": 0.3, "D": 0.2, "E": 0.1}, lookback=3
    ... )
    >>> dynamics.minimal_influencers("A")
    ('B', 'C')
    >>> dynamics.simulate(n_sequences=100, length=10, random_state=0)
    EventSequences(100 sequences, 1000 events, 5 labels)
    """

    def __init__(
        self,
        rules: Mapping[Any, Rule],
        *,
        lookback: int | None = None,
        delay: int = 0,
        summary: WindowSummary | None = None,
        together: bool = False,
        step: Any = None,
        attributes: Mapping[str, Mapping[str, float]] | None = None,
        outcomes: Mapping[str, Any] | None = None,
    ) -> None:
        rules = {label_text(label): rule for label, rule in rules.items()}
        self.labels, self.together, self.step = tuple(sorted(rules)), together, checked_step(step)
        self.attributes = attributes or {}
        check_attributes(self.attributes)
        values = [f"{column}={value}" for column, shares in self.attributes.items() for value in shares]
        self.names = tuple(sorted({*self.labels, *values}))
        if len(self.names) < len(self.labels) + len(values):
            raise SettingError("a label has the name of an attribute's value; rename it")
        given = BinarySummary(span_of(lookback, "lookback"), span_of(delay, "delay"))
        self.summary = given if summary is None else summary
        if self.summary.durations and self.step is None:
            raise SettingError("rules that look back by time need step=, the time between two positions")
        if self._has_more:
            self.summary = replace(self.summary, together=True)
        self.summary.window(self.labels)  # refuses a look-back for a label that is not there
        self._check_size(rules)
        self.rules = {x: self._rule(x, rules[x], self.summary) for x in self.labels}
        self.outcomes = {column: self._outcome(column, rule) for column, rule in (outcomes or {}).items()}
        if not together:
            self._check_sums()

    def _outcome(self, column: str, rule: Any) -> tuple[tuple[str, ...], dict[Key, float], WindowSummary]:
        """The rule of an outcome, with its summary."""
        if column in self.attributes:
            raise SettingError(f"{column!r} is both an attribute and an outcome; rename one")
        summary = BinarySummary(None)
        if isinstance(rule, tuple) and len(rule) == 3:
            *pair, summary = rule
            rule = tuple(pair)
        if not isinstance(summary, WindowSummary):
            raise SettingError(
                f"the third entry of the rule for {column!r} must be a summary, not {summary!r}"
            )
        summary = replace(summary, together=True)
        return *self._rule(column, rule, summary), summary

    @property
    def _has_more(self) -> bool:
        """Whether there is more than events in a row: several at once, times or attributes."""
        return self.together or self.step is not None or bool(self.attributes)

    def _can_be(self, given: Sequence[str], key: Sequence[int]) -> bool:
        """Whether a sequence can have these levels of labels and attributes: one value per column."""
        for column, shares in self.attributes.items():
            levels = dict(zip(given, key, strict=True))
            asked = [levels[name] > 0 for name in (f"{column}={value}" for value in shares) if name in levels]
            if sum(asked) > 1 or (len(asked) == len(shares) and not any(asked)):
                return False
        return True

    def __repr__(self) -> str:
        depend = sum(bool(self.minimal_influencers(label)) for label in self.labels)
        return f"Dynamics({len(self.labels)} labels, {depend} of them with influencers)"

    def _check_size(self, rules: Mapping[str, Rule]) -> None:
        """Refuse rules of too many influencers before all of their states are listed."""
        given = [rule[0] for rule in rules.values() if isinstance(rule, tuple) and rule]
        every = {z for some in given if isinstance(some, Iterable) for z in some}
        if len(every) > _MOST_INFLUENCERS:
            says = f"{len(every)} labels influence others"
            raise SettingError(f"{says}; sums can be checked for {_MOST_INFLUENCERS} at most")
        n_states = self.summary.n_states(len(every), len(self.labels))
        if n_states > _MOST_STATES:
            says = f"{len(every)} labels that influence others have {n_states:,} states"
            raise SettingError(f"{says}; sums can be checked for {_MOST_STATES:,} at most")

    def _rule(
        self, label: str, rule: Rule, summary: WindowSummary
    ) -> tuple[tuple[str, ...], dict[Key, float]]:
        """Bring a rule into one form: sorted influencers and a full table."""
        if isinstance(rule, tuple) and len(rule) == 2 and isinstance(rule[1], Mapping):
            given, table = rule
        elif is_number(rule):
            given, table = (), {(): rule}
        else:
            raise SettingError(
                f"the rule for {label!r} must be a probability or (influencers, table), not {rule!r}"
            )
        if isinstance(given, str):
            raise SettingError(f"influencers must be a list of labels; write ({given!r},)")
        given = tuple(label_text(z) for z in given)
        for z in given:
            if z not in self.names:
                raise UnknownLabelError(str(z), self.names)
        order = sorted(range(len(given)), key=lambda i: given[i])
        influencers = tuple(given[i] for i in order)
        if len(set(influencers)) < len(influencers):
            raise SettingError(f"the rule for {label!r} names an influencer twice")
        says = f"the rule for {label!r} has"
        for key, p in table.items():
            if not isinstance(key, tuple) or len(key) != len(given):
                raise SettingError(f"{says} the state {key!r}; a state is a tuple of {len(given)} levels")
            if not is_number(p) or not 0 <= p <= 1:
                raise SettingError(f"{says} a probability of {p!r}; it must lie in 0..1")
        full = {tuple(key[i] for i in order): float(p) for key, p in table.items()}
        states = {key for key in summary.keys(influencers) if self._can_be(influencers, key)}
        if missing := states - set(full):
            raise SettingError(f"{says} no probability for state {min(missing)} of {influencers}")
        if extra := set(full) - states:
            raise SettingError(f"{says} a state that cannot be: {min(extra, key=repr)} of {influencers}")
        return influencers, full

    def _check_sums(self) -> None:
        every = tuple(sorted({z for influencers, _ in self.rules.values() for z in influencers}))
        for key in self._reachable(every, self.summary):
            total = sum(self._probability(x, every, key) for x in self.labels)
            if abs(total - 1) > 1e-9:
                after = self.summary.words(key, every, self.labels)
                raise SettingError(
                    f"after a history with {after} the probabilities sum to {total:.6g}, not 1"
                )

    def _reachable(self, given: tuple[str, ...], summary: WindowSummary) -> list[Key]:
        """The states that some history can have."""
        return [key for key in summary.keys(given, reachable=True) if self._can_be(given, key)]

    def _rule_of(self, target: str) -> tuple[tuple[str, ...], dict[Key, float], WindowSummary]:
        """The rule of a label or an outcome, and its summary."""
        if target in self.outcomes:
            return self.outcomes[target]
        if target not in self.rules:
            raise UnknownLabelError(target, (*self.labels, *self.outcomes))
        return *self.rules[target], self.summary

    def _probability(self, label: str, given: tuple[str, ...], key: Key) -> float:
        """Probability of a label in a state of more influencers than its own."""
        influencers, table, summary = self._rule_of(label)
        return table[_project(summary, key, given, influencers)]

    # ------------------------------------------------------------------ theory

    def is_influencing(self, target: str, labels: Iterable[str]) -> bool:
        """Whether the target's probability depends on the history only through these labels (Definition 3).

        That is, whether states of its table that some history reaches and that these labels do not tell
        apart have equal probabilities.
        """
        chosen = tuple(sorted(set(labels)))
        for label in chosen:
            if label not in self.names:
                raise UnknownLabelError(label, self.names)
        influencers, _, summary = self._rule_of(target)
        given = tuple(sorted({*chosen, *influencers}))
        seen: dict[Key, float] = {}
        for key in self._reachable(given, summary):
            p = self._probability(target, given, key)
            if abs(seen.setdefault(_project(summary, key, given, chosen), p) - p) > 1e-12:
                return False
        return True

    def minimal_influencers(self, target: str) -> tuple[str, ...]:
        """The least set of labels that is influencing.

        It is unique (Theorem 1 of the paper) where every combination of pasts is possible. Since every
        superset of an influencing set is influencing, labels can be left out one by one.
        """
        kept = list(self._rule_of(target)[0])
        for z in list(kept):
            fewer = [u for u in kept if u != z]
            if self.is_influencing(target, fewer):
                kept = fewer
        return tuple(kept)

    def simplifies(self, graph: Mapping[str, Iterable[str]]) -> bool:
        """Whether every label's influencers in a graph are influencing for it under these dynamics."""
        return all(self.is_influencing(x, graph.get(x, ())) for x in self.labels)

    # ------------------------------------------------------------------ use

    def simulate(
        self, n_sequences: int, length: int | Sequence[int], random_state: int = 0
    ) -> EventSequences:
        """Draw sequences of the given length, or lengths; outcomes are attributes, such as "result=yes"."""
        seed = check_seed(random_state)
        if not self._has_more and not self.outcomes:
            return draw_sequences(self._next_event, self.labels, n_sequences, length, seed)
        rng, lengths = np.random.default_rng(seed), checked_lengths(n_sequences, length)
        drawn = Drawing.begin(self.labels, lengths, self.step, self.attributes, rng)
        for position in range(drawn.present.shape[1]):
            going = np.flatnonzero(drawn.lengths > position)
            rows, ends = drawn.next_places(going, position)
            p = self._looked_up(rows.index(), ends, rows.labels)
            if self.together:
                drawn.present[going, position] = rng.random(p.shape) < p
            else:
                drawn.present[going, position, one_of_each(p, rng)] = True
        rows, ends = drawn.next_places(np.arange(n_sequences), drawn.present.shape[1])
        for column, rule in self.outcomes.items():
            hits = rng.random(n_sequences) < _looked_up(rows.index(), ends, rows.labels, *rule)
            drawn.attributes |= {f"{column}=yes": hits, f"{column}=no": ~hits}
        return drawn.events()

    def _next_event(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        codes, offsets, ends = after_histories(*flat(histories), self.summary.horizon)
        return self._looked_up(Index(codes, offsets, len(self.labels)), ends, self.labels)

    def _looked_up(self, index: Index, rows: IntArray, labels: Sequence[str]) -> FloatArray:
        """Probability of every label at some rows."""
        rules = (self.rules[label] for label in self.labels)
        return np.column_stack([_looked_up(index, rows, labels, *rule, self.summary) for rule in rules])

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values, for JSON."""
        summaries = [self.summary, *(summary for _, _, summary in self.outcomes.values())]
        if not all(isinstance(summary, BinarySummary) for summary in summaries):
            raise SettingError("only dynamics with a binary summary can be written down as JSON")
        assert isinstance(self.summary, BinarySummary)
        lookback, step, values = self.summary.lookback, self.step or (), self.attributes
        given = {
            "together": self.together,
            "step": [span.text for span in step],
            "attributes": {column: dict(shares) for column, shares in values.items()},
        }
        beside = {name: value for name, value in given.items() if value}
        each = {x: plain_span(k) for x, k in lookback.items()} if isinstance(lookback, Mapping) else None
        outcomes = {column: _rows(given, table) for column, (given, table, _) in self.outcomes.items()}
        return {
            "kind": "dynamics",
            "version": 2 if beside or outcomes else 1,
            "lookback": plain_span(lookback) if not isinstance(lookback, Mapping) else each,
            "delay": plain_span(self.summary.delay),
            **beside,
            "rules": {label: _rows(*rule) for label, rule in self.rules.items()},
            **({"outcomes": outcomes} if outcomes else {}),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Dynamics:
        """Read what :meth:`to_dict` returned."""
        try:
            if given.get("kind", "dynamics") != "dynamics" or given.get("version", 1) not in (1, 2):
                raise SettingError("these are not dynamics in version 1 or 2 of their format")
            rules = {label: _rule_in(label, rows) for label, rows in given["rules"].items()}
            more = {name: given[name] for name in ("together", "step", "attributes") if name in given}
            outcomes = {column: _rule_in(column, rows) for column, rows in given.get("outcomes", {}).items()}
            delay = given.get("delay", 0)
            return cls(rules, lookback=given["lookback"], delay=delay, outcomes=outcomes, **more)
        except (KeyError, TypeError, IndexError, AttributeError) as problem:
            raise SettingError(
                "dynamics need 'lookback' and 'rules', and every rule a list of rows with 'state' and "
                f"'probability' ({type(problem).__name__}: {problem})"
            ) from None


def _project(summary: WindowSummary, key: Key, given: Sequence[str], onto: Sequence[str]) -> Key:
    """The state of some of the influencers, given the state of all."""
    keys = np.array([key], np.int32)
    for column in reversed(range(len(given))):
        if given[column] not in onto:
            keys = summary.without(keys, column)
    return tuple(keys[0].tolist())


def _looked_up(
    index: Index,
    rows: IntArray,
    labels: Sequence[str],
    influencers: Sequence[str],
    table: Mapping[Key, float],
    summary: WindowSummary,
) -> FloatArray:
    """The probability that a rule gives at some rows."""
    ids, keys = summary.encode(index, [labels.index(z) for z in influencers], labels)
    return np.array([table[tuple(key)] for key in keys.tolist()])[ids[rows]]


def _rows(influencers: Sequence[str], table: Mapping[Key, float]) -> list[dict[str, Any]]:
    """A rule as plain values."""
    every = sorted(table.items())
    return [{"state": dict(zip(influencers, key, strict=True)), "probability": p} for key, p in every]


def _rule_in(label: str, rows: Sequence[Mapping[str, Any]]) -> Rule:
    """Read a rule back."""
    influencers = tuple(sorted(rows[0]["state"]))
    table: dict[Key, float] = {}
    for row in rows:
        key = tuple(row["state"][z] for z in influencers)
        if len(row["state"]) != len(influencers) or key in table:
            raise SettingError(f"the rule for {label!r} has a wrong or repeated state: {row['state']}")
        table[key] = row["probability"]
    return influencers, table
