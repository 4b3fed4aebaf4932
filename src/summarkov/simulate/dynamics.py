"""Dynamics that a person writes down: a probability table for every label."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import label_text
from summarkov.kernels import Index
from summarkov.settings import check_seed, is_number, span_of
from summarkov.simulate.draw import after_histories, draw_sequences, flat
from summarkov.summaries import BinarySummary, Names
from summarkov.typing import CodeArray, FloatArray, KeyArray

Key = tuple[int, ...]
Rule = float | tuple[Sequence[str], Mapping[Key, float]]

#: Above this many influencers in all there are too many histories to check.
_MOST_INFLUENCERS = 16


class Dynamics:
    """What makes each label more or less likely, written down, as a parameterization of an influence graph.

    Parameters
    ----------
    rules : mapping from label to rule
        A probability that depends on nothing, or ``(influencers, table)``. The table maps 0 or 1 for each
        influencer, in the order given, to a probability: (0, 1) means that the first did not occur in its
        window and the second did. Probabilities must sum to 1 after every history.
    lookback, delay : as for :class:`summarkov.BSuMM`, in numbers of events

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

    def __init__(self, rules: Mapping[Any, Rule], *, lookback: int | None = None, delay: int = 0) -> None:
        rules = {label_text(label): rule for label, rule in rules.items()}
        self.labels = tuple(sorted(rules))
        self.summary = BinarySummary(span_of(lookback, "lookback"), span_of(delay, "delay"))
        if self.summary.durations:
            raise SettingError("rules look back by numbers of events, for no times are drawn; give a number")
        self.summary.window(self.labels)  # refuses a look-back for a label that is not there
        self.rules = {label: self._rule(label, rules[label]) for label in self.labels}
        every = tuple(sorted({z for influencers, _ in self.rules.values() for z in influencers}))
        _check_few(every)
        keys = self._reachable(every)
        totals = np.zeros(len(keys))
        for label in self.labels:
            totals += self._probabilities(label, every, keys)
        for wrong in np.flatnonzero(np.abs(totals - 1) > 1e-9)[:1].tolist():
            after, total = self.summary.words(keys[wrong].tolist(), Names(every, self.labels)), totals[wrong]
            raise SettingError(f"after a history with {after} the probabilities sum to {total:.6g}, not 1")

    def __repr__(self) -> str:
        depend = sum(bool(self.minimal_influencers(label)) for label in self.labels)
        return f"Dynamics({len(self.labels)} labels, {depend} of them with influencers)"

    def _rule(self, label: str, rule: Rule) -> tuple[tuple[str, ...], dict[Key, float]]:
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
        _check_few(given)
        self._check_known(given)
        order = sorted(range(len(given)), key=lambda i: given[i])
        influencers = tuple(given[i] for i in order)
        if len(set(influencers)) < len(influencers):
            raise SettingError(f"the rule for {label!r} names an influencer twice")
        says = f"the rule for {label!r} has"
        for key, p in table.items():
            if not isinstance(key, tuple) or len(key) != len(given) or not {0, 1} >= set(key):
                raise SettingError(
                    f"{says} the state {key!r}; a state is a tuple of {len(given)} levels, each 0 or 1"
                )
            if not is_number(p) or not 0 <= p <= 1:
                raise SettingError(f"{says} a probability of {p!r}; it must lie in 0..1")
        full = {tuple(key[i] for i in order): float(p) for key, p in table.items()}
        missing = next((key for key in _states(influencers) if key not in full), None)
        if missing is not None:
            raise SettingError(f"{says} no probability for state {missing} of {influencers}")
        return influencers, full

    def _check_known(self, labels: Iterable[str]) -> None:
        for label in labels:
            if label not in self.labels:
                raise UnknownLabelError(label, self.labels)

    def _reachable(self, given: Sequence[str]) -> KeyArray:
        """The states that some history can have."""
        return np.array([key for key in _states(given) if self.summary.fits(key, given)], np.int32)

    def _probabilities(self, label: str, given: Sequence[str], keys: KeyArray) -> FloatArray:
        """Probability of a label in states of more influencers than its own."""
        influencers, table = self.rules[label]
        own = self.summary.restricted(keys, [given.index(z) for z in influencers])
        return np.array([table[tuple(key)] for key in own.tolist()])

    # ------------------------------------------------------------------ theory

    def minimal_influencers(self, target: str) -> tuple[str, ...]:
        """The least set of labels through which alone the target's probability depends on the history.

        It is unique (Theorem 1 of the paper) where every combination of pasts is possible. Since more labels
        say no less, labels can be left out one by one.
        """
        self._check_known([target])
        kept = self.rules[target][0]
        for z in kept:
            fewer = tuple(u for u in kept if u != z)
            kept = fewer if self._is_influencing(target, fewer) else kept
        return kept

    def _is_influencing(self, target: str, labels: Sequence[str]) -> bool:
        """Whether reachable states that differ in other influencers alone have one probability."""
        given = self.rules[target][0]
        keys = self._reachable(given)
        known = self.summary.restricted(keys, [given.index(z) for z in labels]).tolist()
        seen: dict[Key, float] = {}
        each = zip(known, self._probabilities(target, given, keys).tolist(), strict=True)
        return all(abs(seen.setdefault(tuple(key), p) - p) <= 1e-12 for key, p in each)

    # ------------------------------------------------------------------ use

    def simulate(
        self, n_sequences: int, length: int | Sequence[int], random_state: int = 0
    ) -> EventSequences:
        """Draw sequences of the given length, or lengths."""
        return draw_sequences(self._next_event, self.labels, n_sequences, length, check_seed(random_state))

    def _next_event(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        codes, offsets, ends = after_histories(*flat(histories, self.summary.horizon), None)
        index, found = Index(codes, offsets, len(self.labels)), []
        for influencers, table in self.rules.values():
            ids, keys = self.summary.encode(index, [self.labels.index(z) for z in influencers], self.labels)
            found.append(np.array([table[tuple(key)] for key in keys.tolist()])[ids[ends]])
        return np.column_stack(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values, for JSON."""
        rules = {
            label: [
                {"state": dict(zip(influencers, key, strict=True)), "probability": p}
                for key, p in sorted(table.items())
            ]
            for label, (influencers, table) in self.rules.items()
        }
        given = self.summary.lookback
        lookback = dict(given) if isinstance(given, Mapping) else given
        windows = {"lookback": lookback, "delay": int(self.summary.delay)}
        return {"kind": "dynamics", "version": 1, **windows, "rules": rules}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Dynamics:
        """Read what :meth:`to_dict` returned."""
        try:
            if given.get("kind", "dynamics") != "dynamics" or given.get("version", 1) != 1:
                raise SettingError("these are not dynamics in version 1 of their format; write them anew")
            rules = {label: _rule_in(label, rows) for label, rows in given["rules"].items()}
            return cls(rules, lookback=given["lookback"], delay=given.get("delay", 0))
        except (KeyError, TypeError, IndexError, AttributeError) as problem:
            raise SettingError(
                "dynamics need 'lookback' and 'rules', and every rule a list of rows with 'state' and "
                f"'probability' ({type(problem).__name__}: {problem})"
            ) from None


def _check_few(influencers: Sequence[str]) -> None:
    """Refuse what has too many states to list."""
    if (n := len(influencers)) > _MOST_INFLUENCERS:
        raise SettingError(
            f"{n} labels influence others; sums can be checked for {_MOST_INFLUENCERS} labels at most"
        )


def _states(influencers: Collection[str]) -> Iterable[Key]:
    """All combinations of influencers that are there (1) or not (0)."""
    return itertools.product((0, 1), repeat=len(influencers))


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
