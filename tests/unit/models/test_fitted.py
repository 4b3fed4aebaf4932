"""What a fitted model says, against numbers worked out by hand."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.stats import beta

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.evidence import words

pytestmark = pytest.mark.cut_off

#: B after every A, never else: 60 positions without A just before (B never), 30 with (B always).
AFTER = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10


@pytest.fixture(scope="module")
def model():
    return sm.BSuMM("B", lookback=1).fit(AFTER)


def test_the_table_and_the_score_by_hand(model):
    absent, present = model.table_
    assert (absent.state, absent.words, absent.n, absent.counts) == ((), "no A", 60, (0, 60))
    assert (present.state, present.words, present.n, present.counts) == (("A",), "A", 30, (30, 0))
    assert absent.probabilities == pytest.approx((0.1 / 60.2, 60.1 / 60.2), rel=1e-14)
    assert present.probabilities == pytest.approx((30.1 / 30.2, 0.1 / 30.2), rel=1e-14)
    least = beta.ppf(0.025, 30, 1)  # 30 of 30, whatever alpha is
    assert np.array(present.intervals) == pytest.approx(np.array([[least, 1], [0, 1 - least]]), rel=1e-9)
    assert model.base_rates_ == pytest.approx((30 / 90, 60 / 90), rel=1e-14)
    assert (model.labels_, model.target_, model.outcomes_) == (("A", "B", "C"), ("B",), ("B", sm.OTHER))
    likelihood = 60 * math.log(60.1 / 60.2) + 30 * math.log(30.1 / 30.2)
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-12)
    assert model.score_ == pytest.approx(likelihood - 2 * math.log(90) / 2, rel=1e-12)
    (step,) = model.trace_  # what it gained is against no influencer at all: BIC of one state
    nothing = 30 * math.log(30.1 / 90.2) + 60 * math.log(60.1 / 90.2) - math.log(90) / 2
    assert (step.action, step.label, step.score) == ("add", "A", model.score_)
    assert step.gain == pytest.approx(model.score_ - nothing, rel=1e-12)


def test_state_never_seen_gets_the_prior():
    follower = sm.BSuMM("C", lookback=2, required=["A", "B"], candidates=[]).fit([["A", "C"], ["B", "C"]])
    explained = follower.explain(["A", "B"])
    assert (explained.support, explained.probability, explained.state) == (0, 0.5, ("A", "B"))
    assert "history state never seen: A, B; the prior alone says 50.0%" in str(explained)
    centred = follower.copy(prior="base-rate").fit([["A", "C"], ["B", "C"]])
    assert centred.explain(["A", "B"]).probability == pytest.approx(2.5 / 5, rel=1e-14)
    rare = follower.copy(prior="base-rate").fit([["A", "C"], ["B", "B", "B"]])
    assert rare.explain(["A", "B"]).probability == pytest.approx(1.5 / 6, rel=1e-14)


def given(family, target, required, **settings):
    """A model with exactly these influencers and alpha 1, so that numbers come out round."""
    return family(target, alpha=1.0, required=required, candidates=[], **settings)


def test_a_label_that_never_follows_is_not_amplified():
    """X only begins sequences, and Z is never followed by it: 0 of 300 with, 100 of 200 without."""
    events = [["X", "Z", "Y", "Y", "Y"]] * 100
    (found,) = given(sm.BSuMM, "X", ["Z"], lookback=5).fit(events).influences_
    assert (found.effect, found.ratio, found.low) == ("inhibits", 0.0, 0.0)
    assert (found.hits_with, found.n_with, found.hits_without, found.n_without) == (0, 300, 100, 200)
    assert (found.cases_followed, found.cases_with, found.is_thin) == (0, 100, False)
    alone = given(sm.BSuMM, "X", ["X"], lookback=5).fit(events).influences_[0]
    assert (alone.effect, alone.is_self, alone.ratio) == ("inhibits", True, 0.0)


def test_the_ratio_and_the_rates_alone_may_point_opposite_ways():
    """X is half as likely after Z beside W and beside no W, but Z comes with W, which makes X likely."""
    events = (
        [["Z", "W", "X"]] * 200 + [["Z", "W", "Y"]] * 300 + [["Y", "W", "X"]] * 40 + [["Y", "W", "Y"]] * 10
    )
    events += (
        [["Z", "Y", "X"]] * 2 + [["Z", "Y", "Y"]] * 48 + [["Y", "Y", "X"]] * 60 + [["Y", "Y", "Y"]] * 440
    )
    z = {e.influencer: e for e in given(sm.BSuMM, "X", ["W", "Z"], lookback=2).fit(events).influences_}["Z"]
    assert (z.effect, z.is_reversed) == ("inhibits", True)
    assert z.rate_with > z.rate_without
    assert "point the other way" in words.verdict(z)


#: Z makes X likely where W did not occur, and unlikely where it did.
MIXED = (
    [["Y", "Y", "X"]] * 4 + [["Y", "Y", "Y"]] * 36 + [["Y", "Z", "X"]] * 36 + [["Y", "Z", "Y"]] * 4
    + [["W", "Y", "X"]] * 36 + [["W", "Y", "Y"]] * 4 + [["W", "Z", "X"]] * 1 + [["W", "Z", "Y"]] * 39
)  # fmt: skip


def test_mixed():
    """(no W, no Z): X 4 of 280; (no W, Z): 36 of 40; (W, no Z): 36 of 120; (W, Z): 1 of 40."""
    w, z = given(sm.BSuMM, "X", ["W", "Z"], lookback=2).fit(MIXED).influences_
    assert (z.influencer, z.effect) == ("Z", "mixed")
    assert z.ratio == pytest.approx(
        (36 * 280 / 320 + 1 * 120 / 160) / (4 * 40 / 320 + 36 * 40 / 160), rel=1e-12
    )
    assert (z.n_with, z.n_without, z.depends) == (80, 400, "inhibits with W, amplifies without")
    assert (w.influencer, w.effect, w.depends) == ("W", "mixed", "inhibits with Z, amplifies without")
    assert words.times(z) == "mixed"
    assert z.evidence == 0


def test_orders_are_collapsed_to_presence():
    events = [["W", "Z", "X"]] * 9 + [["Z", "W", "Y"]] * 9 + [["Y", "Y", "Y"]] * 9
    model = given(sm.OSuMM, "X", ["W", "Z"], lookback=2).fit(events)
    # 0 0: the first event of all, and all of Y Y Y; after W alone comes Z, after Z alone comes W
    assert {row.words: (row.n, row.counts[0]) for row in model.table_} == {
        "none of them": (18 + 27, 0),
        "W": (9, 0),
        "Z": (9, 0),
        "W then Z": (9, 9),
        "Z then W": (9, 0),
    }
    w, z = model.influences_
    # beside W: with Z 9 of 18 (both orders), without 0 of 9; not beside W: with Z 0 of 9, without 0 of 45
    assert (z.ratio, z.high, z.hits_with, z.n_with) == (math.inf, math.inf, 9, 27)
    assert (w.ratio, w.low) == (z.ratio, z.low)  # the data is symmetric
    assert z.n_without == 54


def test_the_residual_outcome_is_one_object():
    assert repr(sm.OTHER) == "OTHER"
    assert sm.BSuMM("OTHER", lookback=1).fit([["OTHER", "x"]] * 5).outcomes_ == ("OTHER", sm.OTHER)
    assert sm.OTHER != "OTHER"
    assert pickle.loads(pickle.dumps(sm.OTHER)) is sm.OTHER
    assert copy.deepcopy(sm.OTHER) is sm.OTHER


def test_no_new_events(model):
    for empty in ([], [[]]):
        assert model.predict_proba(empty).shape == (0, 2)
        assert model.log_likelihood(empty) == 0
        assert model.score(empty) == 0
        assert model.brier_score(empty) == 0


def test_explain_in_numbers_and_words(model):
    explained = model.explain(["B", "C", "A"])
    low, high = beta.ppf(0.025, 30, 1), 1.0
    assert (explained.target, explained.state, explained.words) == ("B", ("A",), "A")
    assert explained.support == 30
    assert explained.probability == pytest.approx(30.1 / 30.2, rel=1e-14)
    assert explained.interval == pytest.approx((low, high), rel=1e-9)
    assert explained.base_rate == pytest.approx(1 / 3, rel=1e-14)
    assert str(explained) == (
        "B: 99.7% (95% interval 88.4% to 100%), 3 times its base rate 33.3%, in history state: A "
        "(seen 30 times)\n"
        "  had A not occurred: 0.17% (0% to 6.0%)"
    )


def test_explain_one_label_of_a_set():
    model = sm.BSuMM(["A", "B"], lookback=1).fit(AFTER)
    with pytest.raises(SettingError, match="say which label to explain: label= one of A, B"):
        model.explain(["A"])
    probabilities = model.predict_proba([["A", "C"]])[1]
    assert model.explain(["A"], label="B").probability == probabilities[1]
    assert model.explain(["A"], label="A").probability == probabilities[0]


def test_events_of_no_known_label_are_not_learned_from():
    events = sm.read_events([["A", "B", "C"]] * 5).recode(["A", "B"], unknown="ignore")
    model = sm.BSuMM("B", lookback=1).fit([["A", "B"]] * 5)
    for refuses in (sm.BSuMM("B").fit, model.predict_proba):
        with pytest.raises(DataError, match="outside the vocabulary"):
            refuses(events)
    assert model.predict_proba(events, unknown="ignore").shape == (15, 2)
