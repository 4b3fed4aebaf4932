"""Dynamics that a person writes down: a probability table for every label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.settings import is_number, seed_of
from summarkov.simulate.draw import after_histories, draw_sequences, flat
from summarkov.summaries import BinarySummary, WindowSummary
from summarkov.typing import CodeArray, FloatArray

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

    The probabilities must sum to 1 after every history, or the dynamics are refused.

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
    >>> dynamics.simulate(n_sequences=100, length=10, seed=0)
    EventSequences(100 sequences, 1000 events, 5 labels)
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        *,
        lookback: int | None = None,
        delay: int = 0,
        summary: WindowSummary | None = None,
    ) -> None:
        for label in rules:
            if not isinstance(label, str):
                raise SettingError(f"labels are text; write {str(label)!r} instead of {label!r}")
        self.labels = tuple(sorted(rules))
        self.summary = BinarySummary(lookback, delay) if summary is None else summary
        if self.summary.durations:
            raise SettingError("rules look back by positions, not by time; give a number, or None")
        self.summary.window(self.labels)  # refuses a look-back for a label that is not there
        self._check_size(rules)
        self.rules = {x: self._rule(x, rules[x]) for x in self.labels}
        self._check_sums()

    def _check_size(self, rules: Mapping[str, Rule]) -> None:
        """Refuse rules of too many influencers before all of their states are listed."""
        given = [rule[0] for rule in rules.values() if isinstance(rule, tuple) and rule]
        every = {z for some in given if isinstance(some, Iterable) for z in some if isinstance(z, str)}
        if len(every) > _MOST_INFLUENCERS:
            raise SettingError(
                f"{len(every)} labels influence others; sums can be checked for {_MOST_INFLUENCERS} at most"
            )
        n_states = self.summary.n_states(len(every), len(self.labels))
        if n_states > _MOST_STATES:
            raise SettingError(
                f"{len(every)} labels that influence others have {n_states:,} states; sums can be checked "
                f"for {_MOST_STATES:,} at most"
            )

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
        for z in given:
            if z not in self.labels:
                raise UnknownLabelError(str(z), self.labels)
        order = sorted(range(len(given)), key=lambda i: given[i])
        influencers = tuple(given[i] for i in order)
        if len(set(influencers)) < len(influencers):
            raise SettingError(f"the rule for {label!r} names an influencer twice")
        for key, p in table.items():
            if not isinstance(key, tuple) or len(key) != len(given):
                raise SettingError(
                    f"the rule for {label!r} has the state {key!r}; a state is a tuple of {len(given)} levels"
                )
            if not is_number(p) or not 0 <= p <= 1:
                raise SettingError(f"the rule for {label!r} has a probability of {p!r}; it must lie in 0..1")
        full = {tuple(key[i] for i in order): float(p) for key, p in table.items()}
        states = set(self.summary.keys(influencers))
        if missing := states - set(full):
            raise SettingError(
                f"the rule for {label!r} has no probability for state {min(missing)} of {influencers}"
            )
        if extra := set(full) - states:
            raise SettingError(
                f"the rule for {label!r} has a state that cannot be: {min(extra, key=repr)} of {influencers}"
            )
        return influencers, full

    def _check_sums(self) -> None:
        every = tuple(sorted({z for influencers, _ in self.rules.values() for z in influencers}))
        reachable = self.summary.keys(every, reachable=True)
        for key in reachable:
            total = sum(self._probability(x, every, key) for x in self.labels)
            if abs(total - 1) > 1e-9:
                after = self.summary.words(key, every, self.labels)
                raise SettingError(
                    f"after a history with {after} the probabilities sum to {total:.6g}, not 1"
                )

    def _probability(self, label: str, given: tuple[str, ...], key: Key) -> float:
        """Probability of a label in a state of more influencers than its own."""
        influencers, table = self.rules[label]
        return table[self._project(key, given, influencers)]

    def _project(self, key: Key, given: tuple[str, ...], onto: Sequence[str]) -> Key:
        """The state of some of the influencers, given the state of all."""
        keys = np.array([key], np.int32)
        for column in reversed(range(len(given))):
            if given[column] not in onto:
                keys = self.summary.without(keys, column)
        return tuple(keys[0].tolist())

    # ------------------------------------------------------------------ theory

    def is_influencing(self, target: str, labels: Iterable[str]) -> bool:
        """Whether the target's probability depends on the history only through these labels (Definition 3).

        That is, whether states of its table that some history reaches and that these labels do not tell
        apart have equal probabilities.
        """
        chosen = tuple(sorted(set(labels)))
        for label in (target, *chosen):
            if label not in self.rules:
                raise UnknownLabelError(label, self.labels)
        given = tuple(sorted({*chosen, *self.rules[target][0]}))
        seen: dict[Key, float] = {}
        for key in self.summary.keys(given, reachable=True):
            p = self._probability(target, given, key)
            if abs(seen.setdefault(self._project(key, given, chosen), p) - p) > 1e-12:
                return False
        return True

    def minimal_influencers(self, target: str) -> tuple[str, ...]:
        """The least set of labels that is influencing; it is unique (Theorem 1 of the paper).

        Since every superset of an influencing set is influencing, labels can be left out one by one.
        """
        if target not in self.rules:
            raise UnknownLabelError(target, self.labels)
        kept = list(self.rules[target][0])
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
        self, n_sequences: int, length: int | Sequence[int], seed: int = 0, *, random_state: int | None = None
    ) -> EventSequences:
        """Draw sequences of the given length, or lengths."""
        return draw_sequences(self._next_event, self.labels, n_sequences, length, seed_of(seed, random_state))

    def _next_event(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        recent, first, _ = self.summary.memory()
        codes, offsets, ends = after_histories(*flat(histories), recent if first is None else None)
        index = Index(codes, offsets, len(self.labels))
        columns = []
        for label in self.labels:
            influencers, table = self.rules[label]
            which = [self.labels.index(z) for z in influencers]
            ids, keys = self.summary.encode(index, which, self.labels)
            theta = np.array([table[tuple(key)] for key in keys.tolist()])
            columns.append(theta[ids[ends]] if len(ends) else np.empty(0))
        return np.column_stack(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values, for JSON."""
        if not isinstance(self.summary, BinarySummary):
            raise SettingError("only dynamics with a binary summary can be written down as JSON")
        return {
            "kind": "dynamics",
            "version": 1,
            "lookback": self.summary.lookback,
            "delay": self.summary.delay,
            "rules": {
                x: [
                    {"state": dict(zip(influencers, key, strict=True)), "probability": p}
                    for key, p in sorted(table.items())
                ]
                for x, (influencers, table) in self.rules.items()
            },
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Dynamics:
        """Read what :meth:`to_dict` returned."""
        try:
            if (given.get("kind", "dynamics"), given.get("version", 1)) != ("dynamics", 1):
                raise SettingError("these are not dynamics in version 1 of their format")
            rules: dict[str, Rule] = {}
            for x, rows in given["rules"].items():
                influencers = tuple(sorted(rows[0]["state"]))
                table: dict[Key, float] = {}
                for row in rows:
                    key = tuple(row["state"][z] for z in influencers)
                    if len(row["state"]) != len(influencers) or key in table:
                        raise SettingError(
                            f"the rule for {x!r} has a wrong or repeated state: {row['state']}"
                        )
                    table[key] = row["probability"]
                rules[x] = (influencers, table)
            return cls(rules, lookback=given["lookback"], delay=given.get("delay", 0))
        except (KeyError, TypeError, IndexError, AttributeError) as problem:
            raise SettingError(
                "dynamics need 'lookback' and 'rules', and every rule a list of rows with 'state' and "
                f"'probability' ({type(problem).__name__}: {problem})"
            ) from None
