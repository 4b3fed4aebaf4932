"""Random data, summaries and targets for hypothesis, each in the package's terms and in the oracle's."""

import itertools
import os
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import oracle
import summarkov as sm
from summarkov.engines import CandidateCounts, CandidatesRequest, StateCounts, StatesRequest, Target
from summarkov.summaries import (
    BinarySummary,
    ChainSummary,
    CountSummary,
    CustomSummary,
    Names,
    OrdinalSummary,
)

#: About what an event takes while it is counted.
EVENT_BYTES = 1 << 7
#: An event of no known label: the package knows it as code -1, the oracle as a label like any other.
UNKNOWN = "?"

FAMILIES = ("binary", "ordinal", "count")
#: The kinds that `specs` can draw; "first" is "ordinal" with that mask.
WINDOWS = ("binary", "ordinal", "first", "count")
KINDS = (*WINDOWS, "chain", "custom")


#: How many times as many examples are tried as tests say: 20 tries 20 times as many, new ones each time.
TIMES = float(os.environ.get("SUMMARKOV_EXPLORE") or 0.25)


def examples(n):
    """Settings of a test: ``n`` examples times SUMMARKOV_EXPLORE."""
    return settings(max_examples=max(1, round(n * TIMES)))


def drawn_weights(draws, replicate, n):
    """How often draws have each of ``n`` sequences without names."""
    keys = np.arange(n, dtype=np.uint64)
    return draws.drawn(replicate, keys).weights(keys)


# --- Data


@dataclass(frozen=True)
class Data:
    """Sequences over a vocabulary; some labels may never occur, some events may be of no known label."""

    labels: tuple
    sequences: list

    @property
    def events(self):
        """The same as the package has it."""
        everything = sm.EventSequences.from_lists(self.sequences, labels=[*self.labels, UNKNOWN])
        return everything.recode(self.labels, unknown="ignore")

    @property
    def n_events(self):
        return sum(len(sequence) for sequence in self.sequences)

    def __add__(self, other):
        return replace(self, sequences=self.sequences + other.sequences)


LABELS = ("A", "B", "C", "D", "E", "F")

# Strategies are kept once made: making and checking them takes longer than drawing from them.


@cache
def vocabularies(most=5):
    """The first few labels, at most `most`; seldom one alone."""
    return st.sampled_from([LABELS[:n] for n in (3, 2, 4, 3, 2, 4, most, 1) if n <= most])


@cache
@st.composite
def data(draw, labels=None, unknown=False, nonempty=False, max_length=40):
    """Sequences, empty ones and none at all included; `unknown` is True, False, or None for either.

    Often some tens of events cut anywhere, for little is to be seen in less. No sequence is longer than
    `max_length`, nor all of them together.
    """
    if labels is None:
        labels = draw(vocabularies())
    if unknown is None:
        unknown = draw(booleans)
    letters = "".join(labels) + (UNKNOWN if unknown else "")
    events = list(draw(_texts(letters, max_length)))
    cuts = sorted(min(cut, len(events)) for cut in draw(_cuts))
    sequences = [events[a:b] for a, b in itertools.pairwise([0, *cuts, len(events)])]
    if nonempty and not events:
        return Data(labels, [*sequences, [labels[0]]])
    return Data(labels, sequences if events or cuts else [])


_cuts = st.lists(st.integers(0, 40), max_size=3)


@cache
def _texts(letters, most):
    enough = st.text(letters, min_size=min(15, most), max_size=most)
    return enough | enough | st.text(letters, max_size=min(6, most))


booleans = st.booleans()


@cache
@st.composite
def long_data(draw, longest=120):
    """Few sequences, long ones, over few labels, of which some are rare and some are unknown."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(vocabularies(4))
    chance = np.append(rng.dirichlet(np.full(len(labels), 0.5)), draw(st.sampled_from([0, 0.1])))
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=2))
    symbols = np.array([*labels, UNKNOWN])
    return Data(labels, [rng.choice(symbols, n, p=chance / chance.sum()).tolist() for n in lengths])


def weights_of(data, least=0, most=3):
    """An integer a sequence, or None."""
    return _weights(len(data.sequences), least, most)


@cache
def _weights(n, least, most):
    return st.none() | st.lists(st.integers(least, most), min_size=n, max_size=n)


def subsets(labels, min_size=0, max_size=None):
    """A sorted tuple of distinct labels."""
    return _subsets(tuple(labels), min_size, max_size)


@cache
def _subsets(labels, min_size, max_size):
    most = len(labels) if max_size is None else min(max_size, len(labels))
    sizes = range(min_size, most + 1)
    return st.sampled_from([u for n in sizes for u in itertools.combinations(labels, n)])


@cache
def targets(labels):
    """One label, some labels, or all of them."""
    one = st.sampled_from([(label,) for label in labels])
    return one | subsets(labels, min_size=1) | st.just(tuple(labels))


# --- Summaries


class CopyOfBinary:
    """The binary summary, as a user would write it."""

    def __init__(self, lookback, delay):
        self.lookback, self.delay = lookback, delay

    def state(self, history, influencers):
        seen = history[: max(0, len(history) - self.delay)]
        return tuple(int(label in seen) for label in influencers)

    def n_states(self, n_influencers):
        return 2**n_influencers


@dataclass(frozen=True)
class Spec:
    """A summary and its settings. `lookback` is an int, None, or a dict from label to one of them."""

    kind: str
    lookback: object = None
    delay: int = 0
    mask: str = "last"
    cap: int = 2
    order: int = 1

    def _settings(self):
        window = {"lookback": self.lookback, "delay": self.delay}
        return {
            "binary": window,
            "ordinal": window | {"mask": self.mask},
            "count": window | {"cap": self.cap},
            "chain": {"order": self.order},
        }[self.kind]

    def summary(self):
        """The package's summary."""
        if self.kind == "custom":
            return CustomSummary(CopyOfBinary(self.lookback, self.delay))
        kinds = {"binary": BinarySummary, "ordinal": OrdinalSummary, "count": CountSummary}
        return kinds.get(self.kind, ChainSummary)(**self._settings())

    def model(self, target=None, **settings):
        """The package's model."""
        if self.kind == "custom":
            return sm.SuMM(target, summary=CopyOfBinary(self.lookback, self.delay), **settings)
        kinds = {"binary": sm.BSuMM, "ordinal": sm.OSuMM, "count": sm.CSuMM}
        return kinds.get(self.kind, sm.MarkovChain)(target, **self._settings(), **settings)

    def state(self, influencers):
        """The oracle's function from history to state."""
        influencers = tuple(influencers)
        lookback = self.lookback
        if isinstance(lookback, dict):  # a label that is not named is looked for in the whole past
            lookback = {label: lookback.get(label) for label in influencers}
        return {
            "binary": lambda past: oracle.binary_state(past, influencers, lookback, self.delay),
            "ordinal": lambda past: oracle.ordinal_state(past, influencers, lookback, self.delay, self.mask),
            "count": lambda past: oracle.count_state(past, influencers, lookback, self.delay, self.cap),
            "chain": lambda past: oracle.chain_state(past, self.order),
            "custom": lambda past: oracle.binary_state(past, influencers, lookback, self.delay),
        }[self.kind]

    def n_states(self, n_influencers, n_labels):
        """|S(U)|, by the oracle."""
        kind = "binary" if self.kind == "custom" else self.kind
        return oracle.n_states(kind, n_influencers, cap=self.cap, n_labels=n_labels, order=self.order)

    def read_key(self, key, labels):
        """A key of the package as the oracle's state."""
        if self.kind == "chain":
            return tuple(reversed(self.summary().state(key, Names((), labels))))
        return key[0] if self.kind == "custom" else tuple(key)


@cache
@st.composite
def specs(draw, labels, kinds=KINDS, longest=6):
    """A summary of one of the kinds, with look-backs 1..longest, none, or one per label."""
    kind = draw(_one_of(kinds))
    mask = "first" if kind == "first" else "last"
    if kind == "first":
        kind = "ordinal"
    if kind == "chain":
        return Spec("chain", order=draw(_whole(0, 4)))
    lookback = draw(_lookbacks(labels if kind in ("binary", "count") else None, longest))
    given = [k for k in (lookback.values() if isinstance(lookback, dict) else [lookback]) if k is not None]
    return Spec(
        kind,
        lookback,
        delay=draw(_whole(0, min([*given, 4]) - 1)),
        mask=mask,
        cap=draw(_whole(1, 4)) if kind == "count" else 2,
    )


_one_of = cache(st.sampled_from)
_whole = cache(st.integers)


@cache
def _lookbacks(labels, longest):
    one = st.none() | st.integers(1, longest)
    if labels is None:
        return one
    return one | st.dictionaries(st.sampled_from(labels), one, max_size=len(labels))


@st.composite
def requests(draw, events, spec, most=3, joining=booleans):
    """Counts of the states of some influencers, or with all others as candidates, for some target.

    The target too by its labels.
    """
    chosen = () if spec.kind == "chain" else draw(subsets(events.labels, max_size=most))
    target = draw(targets(events.labels))
    common = (spec.summary(), codes(events.labels, chosen), target_of(events, target))
    if spec.kind in WINDOWS and draw(joining):
        others = codes(events.labels, [z for z in events.labels if z not in chosen])
        return CandidatesRequest(*common, others), target
    return StatesRequest(*common), target


# --- Counts as a dict, to compare


def from_counts(model):
    """The influences of a fitted model with intervals that take events for independent."""
    return replace(model.fitted, clusters=None).influences


def codes(labels, names):
    """Codes of some labels."""
    return tuple(labels.index(name) for name in names)


def target_of(data, target):
    """The target in the package's terms."""
    return Target(codes(data.labels, target), len(data.labels))


def expected(data, target, state, weights=None):
    """The oracle's counts. An event of no known label is a residual one, or not counted if there is none."""
    table = oracle.counts(data.sequences, target, state, weights, labels={*data.labels, UNKNOWN})
    columns = oracle.n_outcomes(target, data.labels)
    return {s: row[:columns] for s, row in table.items() if any(row[:columns])}


def found(table, spec, labels):
    """Counts of the package as a dict from state to row, without the states that nothing was counted in."""
    check_types(table)
    rows = zip(table.keys.tolist(), table.counts.tolist(), strict=True)
    return {spec.read_key(key, labels): row for key, row in rows if any(row)}


def found_with(counts, spec, number, column):
    """Counts of the influencers joined by a candidate (by its number) at `column`, as a dict.

    In an ordinal summary, a candidate at place l moves the labels from place l on up by one.
    """
    check_types(counts)
    table = {}
    absent = counts.counts - counts.present[number].sum(axis=1)
    for key, none, some in zip(counts.keys.tolist(), absent, counts.present[number], strict=True):
        for level, row in enumerate([none, *some]):
            places = [p + (0 < level <= p) for p in key] if spec.kind == "ordinal" else key
            if row.any():
                table[(*places[:column], level, *places[column:])] = row.tolist()
    return table


def assert_counted(answer, request, spec, events, target, weights=None, count=expected):
    """What a request is answered, alone and with each candidate, is what the oracle counts."""
    labels = events.labels
    influencers = tuple(labels[z] for z in request.influencers)
    naive = count(events, target, spec.state(influencers), weights)
    assert found(StateCounts(answer.keys, answer.counts), spec, labels) == naive
    for number, code in enumerate(getattr(request, "candidates", ())):
        joined = tuple(sorted((*influencers, labels[code])))
        naive = count(events, target, spec.state(joined), weights)
        assert found_with(answer, spec, number, joined.index(labels[code])) == naive


def check_types(counts):
    """Counts are int64, keys int32 (objects for the user's own), in canonical order and each once."""
    assert counts.counts.dtype == np.int64
    keys = [tuple(key) for key in counts.keys.tolist()]
    if counts.keys.dtype == object:
        assert keys == sorted(set(keys), key=lambda key: repr(key[0]))
    else:
        assert counts.keys.dtype == np.int32
        assert keys == sorted(set(keys))
    if isinstance(counts, CandidateCounts):
        assert counts.present.dtype == np.int64


def assert_same(a, b):
    """Two answers are equal to the last bit: keys, counts and their types."""
    assert type(a) is type(b)
    arrays = ("keys", "counts") if isinstance(a, StateCounts) else ("keys", "counts", "present")
    for name in arrays:
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert np.array_equal(one, other)
