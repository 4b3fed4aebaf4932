"""Intervals that allow for sequences that differ: by hand, never narrower than from counts, and covering."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from paper.coverage import covered

import oracle_effects as effects
import summarkov as sm
from strategies import LABELS, examples
from summarkov.events.attributes import Attributes
from summarkov.evidence import Strata, rate_ratio, robust_widening
from summarkov.evidence.ratios import added

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

STRATA = Strata.of([30, 15], [100, 50], [20, 14], [200, 100])
COUNTED = rate_ratio(STRATA)


def unlike(n=60, seed=0, length=40):
    """Sequences that differ in how often they have B, and in how often A."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        rates = np.array([rng.gamma(1.0), rng.gamma(1.0), 2.0, 1.0])
        made.append(["ABCD"[k] for k in rng.choice(4, size=length, p=rates / rates.sum())])
    return made


def given_edge(events, **settings):
    model = sm.BSuMM("B", lookback=3, required=["A"], candidates=[], **settings).fit(events)
    (edge,) = model.influences_
    return model, edge


# ----------------------------------------------------------------------------------------------- by hand


def test_what_a_position_adds_is_the_slope_of_the_logarithm():
    base, hit = added(STRATA)
    step = 1e-6
    a, n1, b, n0 = (numbers.copy() for numbers in vars(STRATA).values())
    a[1], n1[1] = a[1] + step, n1[1] + step
    slope = (math.log(Strata.of(a, n1, b, n0).ratio()) - math.log(STRATA.ratio())) / step
    assert base[0, 1] + hit[0, 1] == pytest.approx(slope, rel=1e-5)


def test_the_interval_of_sequences_by_hand():
    sequences = unlike()
    _, edge = given_edge(sequences)
    a, n1, b, n0 = effects.two_by_two(sequences, (0, 3), "A", "B")
    each = [effects.two_by_two([sequence], (0, 3), "A", "B") for sequence in sequences]
    squares = math.fsum((w / a - x / n1 - y / b + z / n0) ** 2 for w, x, y, z in each)  # one stratum only
    n = min(sum(x > 0 for _, x, _, _ in each), sum(z > 0 for *_, z in each))
    assert n == 53
    student = 2.006647  # the quantile .975 with 52 degrees of freedom
    far = student * math.sqrt(squares) * n / (n - 1)
    assert edge.interval == "robust"
    assert (edge.low, edge.high) == pytest.approx(
        (edge.ratio * math.exp(-far), edge.ratio * math.exp(far)), rel=1e-5
    )


def test_blocks_count_only_where_sequences_are_few():
    wide, narrow = 0.5, 0.1
    many = robust_widening(COUNTED, STRATA, [narrow, wide], [30, 300])
    few = robust_widening(COUNTED, STRATA, [narrow, wide], [29, 300])
    fewer = robust_widening(COUNTED, STRATA, [wide, narrow], [4, 300])
    assert many < few
    assert fewer < few
    never = Strata.of([0], [10], [5], [20])
    assert robust_widening(rate_ratio(never), never, [1, 1], [50, 50]) is None
    assert robust_widening(COUNTED, STRATA, [0.0, 0.0], [50, 50]) == 1.0
    # As if all hits of a sequence were one observation; never Student's t of one degree of freedom.
    assert robust_widening(COUNTED, STRATA, [0.3, 0.3], [3, 4]) == pytest.approx(math.sqrt(45 / 3))
    assert robust_widening(COUNTED, STRATA, [0.3, 0.3], [1, 1]) == pytest.approx(math.sqrt(45))


# ----------------------------------------------------------------------------------------------- of models


@examples(60)
@given(
    st.lists(st.lists(st.sampled_from(LABELS[:3]), max_size=12), min_size=2, max_size=40),
    st.sampled_from([1, 2, None]),
)
def test_it_is_never_narrower_than_from_counts_and_holds_the_ratio(sequences, lookback):
    assume(any(sequences))
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=lookback, gamma=0.2, false_edges=None)).fit(sequences)
    for model in graph.models_.values():
        for column, outcome, found in model.fitted.contrasts():
            names = model.influencers_[column], model.target_[outcome]
            edge = next(e for e in model.influences_ if (e.influencer, e.target) == names)
            counts = rate_ratio(found.strata)
            assert edge.low <= float(counts.low) * (1 + 1e-9)
            assert edge.high >= float(counts.high) * (1 - 1e-9)
            assert math.isnan(edge.ratio) or edge.low <= edge.ratio <= edge.high
            assert edge.interval in ("robust", "counts")
            if edge.interval == "counts":
                assert (edge.low, edge.high) == (float(counts.low), float(counts.high))


def test_a_weight_is_how_many_such_sequences_there_are():
    sequences = unlike(40)
    weights = [1 + k % 3 for k in range(40)]
    copies = [sequence for sequence, n in zip(sequences, weights, strict=True) for _ in range(n)]
    _, edge = given_edge(sm.read_events(sequences).with_weights(weights))
    _, copied = given_edge(copies)
    assert (edge.low, edge.high) == pytest.approx((copied.low, copied.high), rel=1e-6)


def test_one_long_sequence_is_cut_into_blocks():
    rng = np.random.default_rng(1)
    states = np.repeat(rng.random(100) < 0.5, 40)  # A and B come together in some stretches of 40 events
    one = [
        "AB"[k] if on and k < 2 else "CD"[k % 2]
        for on, k in zip(states, rng.integers(4, size=4000), strict=True)
    ]
    model, edge = given_edge([one])
    counts = rate_ratio(next(found.strata for *_, found in model.fitted.contrasts()))
    assert edge.interval == "robust"
    assert model.fitted.clusters.n.ravel().tolist()[0] == 1
    assert edge.low < float(counts.low)
    model, alone = given_edge([["A", "C", "B", "D", "B", "C"] * 8])
    counts = rate_ratio(next(found.strata for *_, found in model.fitted.contrasts()))
    wider = math.log(alone.high / alone.low) / math.log(float(counts.high / counts.low))
    assert wider == pytest.approx(math.sqrt(alone.hits_without), rel=1e-6)  # it counts as one observation


def test_attributes_are_of_sequences():
    """Whatever their length, there are but twelve sequences, six with the attribute."""
    rng = np.random.default_rng(2)
    hits = rng.random((12, 300)) < rng.beta(2, 6, (12, 1))
    sexes = Attributes(["sex=f", "sex=m"], [[case % 2 == 1, case % 2 == 0] for case in range(12)])
    events = sm.read_events(np.where(hits, "B", "C").tolist()).with_attributes(sexes)
    model = sm.BSuMM("B", lookback=3, required=["sex=f"], candidates=[]).fit(events)
    (edge,) = model.influences_
    assert model.fitted.clusters.n.ravel().tolist() == [6.0, 6.0]
    counts = rate_ratio(next(found.strata for *_, found in model.fitted.contrasts()))
    assert math.log(edge.high / edge.low) > 4 * math.log(float(counts.high / counts.low))


def test_files_keep_it_and_say_counts_without_it(tmp_path):
    model, edge = given_edge(unlike())
    model.save(tmp_path / "model.json")
    assert sm.load(tmp_path / "model.json").influences_ == (edge,)
    document = json.loads((tmp_path / "model.json").read_text())
    del document["targets"][0]["clusters"]
    document.pop("checksum", None)
    (tmp_path / "old.json").write_text(json.dumps(document))
    (old,) = sm.load(tmp_path / "old.json").influences_
    assert (old.interval, old.ratio) == ("counts", edge.ratio)
    assert edge.low < old.low < old.high < edge.high


# ----------------------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize(
    ("world", "n", "length"),
    [("two frailties", 50, 40), ("bursts, self-excitation", 1, 1000), ("one frailty of both", 10, 200)],
)
def test_it_covers(world, n, length):
    robust, counts, _ = covered(world, 0.15, n, length, times=150, seed=3, n_events=400_000)
    assert robust >= 0.9
    assert counts < 0.9
