"""How often a target follows an influencer equals the count by hand, however the data is cut."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_followings as oracle
import summarkov as sm
from strategies import examples
from summarkov.engines import MemorySource
from summarkov.engines import source as sources
from summarkov.engines.followings import Asked, count_followed
from summarkov.events.attributes import Attributes
from summarkov.events.moments import WHOLE_NUMBERS, Moments
from summarkov.events.vocabulary import END
from summarkov.evidence import follow_numbers
from summarkov.settings import Duration
from summarkov.summaries import Reach

#: Cases that end say so with an event of their own.
pytestmark = pytest.mark.cut_off

ATTRIBUTES = ("1st=yes", "zone=1")
LABELS = (END, "A", "B", "C")
NAMES = tuple(sorted((*LABELS, *ATTRIBUTES)))


@st.composite
def logs(draw):
    """Cases with or without ticks, times and attributes, each complete or cut off; empty ones too."""
    ends = draw(st.sampled_from(["complete", "cut off", "mixed"]))
    largest = draw(st.sampled_from([1, 3]))
    is_plain = largest == 1 and draw(st.booleans())
    made = []
    for _ in range(draw(st.integers(0, 5))):
        time, ticks = 0, []
        for _ in range(draw(st.integers(0, 8))):
            time += draw(st.sampled_from([0, 1, 1, 2, 5]))
            labels = st.sets(st.sampled_from("ABC"), min_size=int(largest == 1), max_size=largest)
            ticks.append((time, frozenset(draw(labels))))
        held = frozenset() if is_plain else frozenset(draw(st.sets(st.sampled_from(ATTRIBUTES))))
        made.append((held, ticks, draw(st.booleans()) if ends == "mixed" else ends == "complete"))
    return made, is_plain


def events_of(made, is_plain):
    """The same as events; the end of a case is one more tick, at the time of the last."""
    codes, starts, times, offsets = [], [], [], [0]
    for _, ticks, is_complete in made:
        last = ticks[-1][0] if ticks else 0
        for time, labels in [*ticks, (last, {END})] if is_complete else ticks:
            rows = [LABELS.index(label) for label in sorted(labels)] or [-1]
            codes += rows
            starts += [True] + [False] * (len(rows) - 1)
            times += [time] * len(rows)
        offsets.append(len(codes))
    if is_plain:
        return sm.EventSequences(np.array(codes, np.int32), offsets, LABELS)
    present = np.array([[name in held for name in ATTRIBUTES] for held, _, _ in made], bool)
    return sm.EventSequences(
        np.array(codes, np.int32),
        offsets,
        LABELS,
        attributes=Attributes(ATTRIBUTES, present.reshape(-1, 2)),
        moments=Moments(
            np.array(starts, bool), np.array(times, np.int64), WHOLE_NUMBERS, has_empty=-1 in codes
        ),
    )


@st.composite
def windows(draw, is_plain):
    """A delay and a look-back, each in positions or in time, as the twin has them."""
    in_time = st.just(False) if is_plain else st.booleans()
    size = draw(st.sampled_from([1, 2, 3, 6, None]))
    lookback = size, size is not None and draw(in_time)  # the whole past has no unit: its lags are positions
    delay = (0, False) if lookback[0] == 1 else (draw(st.integers(0, 1)), draw(in_time))
    return delay, lookback


def reach_of(delay, lookback):
    def span(size, in_time):
        return Duration.of(f"{size} units", "delay") if in_time and size is not None else size

    return Reach(span(*delay), span(*lookback))


@st.composite
def questions(draw):
    """A log with weights, and influencers with their windows."""
    made, is_plain = draw(logs())
    n = len(made)
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 2, 0.5]), min_size=n, max_size=n))
    labels = [name for name in NAMES if name != END and not (is_plain and name in ATTRIBUTES)]
    names = sorted(draw(st.sets(st.sampled_from(labels), min_size=1, max_size=3)))
    return made, is_plain, weights, names, [draw(windows(is_plain)) for _ in names]


def asked_of(source, names, spans):
    labels = [source.labels.index(name) for name in names]
    targets = [source.labels.index(x) for x in (END, "A", "B")]
    return Asked(tuple(labels), tuple(reach_of(*each) for each in spans), tuple(targets))


def assert_equals(found, expected):
    """Both know the same numbers, and rates to the last digits; weights are fixed point."""
    for name, value in expected.items():
        is_exact = value is None or name == "follow_rule"
        assert found[name] == (value if is_exact else pytest.approx(value, abs=1e-9)), name


@examples(300)
@given(questions(), st.integers(1, 9))
def test_it_equals_the_twin_wherever_the_data_is_cut(question, size):
    made, is_plain, weights, names, spans = question
    events = events_of(made, is_plain)
    with mock.patch.object(sources, "SHARD_EVENTS", size):
        source = MemorySource(events, sample_weight=weights)
        asked = asked_of(source, names, spans)
        (found,) = count_followed(source, [asked])
    each = [1] * len(made) if weights is None else weights
    for u, (z, span) in enumerate(zip(names, spans, strict=True)):
        for t, x in enumerate((END, "A", "B")):
            expected = oracle.following(made, each, z, x, *span, ATTRIBUTES)
            assert_equals(follow_numbers(found[u][t]), expected)


def long_log():
    """Cases in which "A" makes "B" likely, half of them complete."""
    rng = np.random.default_rng(7)
    made = []
    for case in range(30):
        time, before, ticks = 0, "", []
        for _ in range(int(rng.integers(1, 25))):
            before = "B" if before == "A" and rng.random() < 0.7 else "ABCD"[rng.integers(4)]
            time += int(rng.integers(1, 4))
            ticks.append((time, {before}))
        made.append((frozenset(), ticks, case % 2 == 0))
    return made


@pytest.mark.parametrize(
    ("lookback", "span"), [(2, (2, False)), (None, (None, False)), ("5 units", (5, True))]
)
def test_every_engine_counts_the_same(engine, lookback, span):
    made = long_log()
    rows = [
        {"case": f"case {k:02}", "event": label, "at": time, "weight": 1 + k % 3}
        for k, (_, ticks, is_complete) in enumerate(made)
        for time, labels in [*ticks, *([(ticks[-1][0] + 1, {END})] if is_complete else [])]
        for label in labels
    ]
    settings = {"case": "case", "event": "event", "order_by": "at", "weight": "weight", "times": True}
    with engine(pa.Table.from_pylist(rows), **settings) as source:
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=lookback, false_edges=None, gamma=0.1)).fit(source)
    weights = [1 + k % 3 for k in range(len(made))]
    edges = [edge for edge in graph.edges_ if edge.influencer != END]
    assert {END, "B"} <= {edge.target for edge in edges}
    assert {edge.follow_rule for edge in edges} == {"complete windows"}
    for edge in edges:
        expected = oracle.following(made, weights, edge.influencer, edge.target, (0, False), span)
        assert_equals(vars(edge), expected)
