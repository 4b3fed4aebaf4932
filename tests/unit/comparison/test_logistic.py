"""Logistic regression as a contender."""

import numpy as np
import pytest

from summarkov.comparison import LogisticRegressionContender
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.needs("sklearn")

FEATURES = ["presence", "counts", "onehot"]


def planted(seed: int, n: int = 120, length: int = 12) -> EventSequences:
    """B has probability .8 after an A among the last two events and .1 otherwise; A and C share the rest."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n):
        sequence: list[str] = []
        for _ in range(length):
            p = 0.8 if "A" in sequence[-2:] else 0.1
            sequence.append(str(rng.choice(["B", "A", "C"], p=[p, (1 - p) / 2, (1 - p) / 2])))
        lists.append(sequence)
    return EventSequences.from_lists([*lists, []], labels=["A", "B", "C", "never"])


@pytest.mark.parametrize("penalised", [True, False])
def test_presence_recovers_a_planted_effect(penalised):
    contender = LogisticRegressionContender(2, "presence", penalised, strengths=[100.0])
    [(settings, predictor)] = contender.fit_each(planted(0), ["B"])
    assert settings == {"C": 100.0 if penalised else None}
    new = EventSequences.from_lists([["A", "C", "C", "C"]], labels=["A", "B", "C", "never"])
    probability = predictor.probability(new, "B")
    assert probability[[1, 2]] == pytest.approx([0.8, 0.8], abs=0.06)
    assert probability[[0, 3]] == pytest.approx([0.1, 0.1], abs=0.06)
    assert predictor.influencers("B") == ("A", "B", "C")
    assert predictor.not_converged == ()


def test_without_a_penalty_the_mean_probability_is_the_base_rate():
    events = planted(1)
    [(_, predictor)] = LogisticRegressionContender(3, "onehot", penalised=False).fit_each(events, ["B", "C"])
    for target in ("B", "C"):
        share = (events.codes == events.code(target)).mean()
        assert predictor.probability(events, target).mean() == pytest.approx(share, abs=1e-4)


def test_a_very_strong_penalty_leaves_the_base_rate():
    events = planted(1)
    [(_, predictor)] = LogisticRegressionContender(3, strengths=[1e-9]).fit_each(events, ["B"])
    share = (events.codes == events.code("B")).mean()
    assert predictor.probability(events, "B") == pytest.approx(np.full(events.n_events, share), abs=1e-3)


@pytest.mark.parametrize("features", FEATURES)
def test_one_candidate_a_strength_fitted_as_scikit_learn_does(features):
    from sklearn.linear_model import LogisticRegression

    from summarkov.comparison.learners import window_features

    events, new = planted(2, n=30), planted(3, n=5)
    contender = LogisticRegressionContender(3, features, strengths=(0.1, 10.0))
    found = list(contender.fit_each(events, ["A", "B"]))
    assert [settings for settings, _ in found] == [{"C": 0.1}, {"C": 10.0}]
    for settings, predictor in found:  # all of them stay valid
        model = LogisticRegression(C=settings["C"], tol=1e-5, max_iter=1000)
        model.fit(window_features(events, 3, features).toarray(), events.codes == events.code("A"))
        expected = model.predict_proba(window_features(new, 3, features).toarray())[:, 1]
        assert predictor.probability(new, "A") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("penalised", [True, False])
def test_probabilities_for_every_kind_of_events(features, penalised):
    events = planted(4, n=20)
    targets = list(events.labels)
    for _, predictor in LogisticRegressionContender(2, features, penalised).fit_each(events, targets):
        for new in (planted(5, n=3), EventSequences.from_lists([[], []], labels=events.labels)):
            for target in targets:
                probability = predictor.probability(new, target)
                assert probability.shape == (new.n_events,)
                assert ((probability > 0) & (probability < 1)).all()


def test_a_target_that_is_constant_in_training_gets_its_smoothed_base_rate():
    events = EventSequences.from_lists([["A", "A", "A"]], labels=["A", "never"])
    [(_, predictor)] = LogisticRegressionContender(1, strengths=[1.0]).fit_each(events, ["A", "never"])
    assert predictor.probability(events, "A") == pytest.approx([0.875] * 3, rel=1e-12)
    assert predictor.probability(events, "never") == pytest.approx([0.125] * 3, rel=1e-12)
    assert predictor.influencers("never") == ()


def test_training_without_events_gives_even_odds():
    nothing = EventSequences.from_lists([[]], labels=["A"])
    for _, predictor in LogisticRegressionContender(1).fit_each(nothing, ["A"]):
        new = EventSequences.from_lists([["A", "A"]])
        assert predictor.probability(new, "A").tolist() == [0.5, 0.5]


def test_labels_are_matched_by_name():
    events = planted(6, n=20)
    [(_, predictor)] = LogisticRegressionContender(2, penalised=False).fit_each(events, ["B"])
    other = EventSequences.from_lists([["C", "B"]])
    same = EventSequences.from_lists([["C", "B"]], labels=events.labels)
    assert predictor.probability(other, "B").tolist() == predictor.probability(same, "B").tolist()
    unknown = predictor.probability(EventSequences.from_lists([["X", "B"]]), "B")
    assert unknown[1] == unknown[0]  # it keeps its place, and says nothing


def test_not_converging_is_recorded_and_does_not_warn():
    contender = LogisticRegressionContender(3, "onehot", penalised=False, max_iterations=1)
    [(_, predictor)] = contender.fit_each(planted(7, n=20), ["A", "B", "never"])
    assert predictor.not_converged == ("A", "B")


def test_names_and_settings():
    assert LogisticRegressionContender(5).name == "5-LR presence"
    assert LogisticRegressionContender(5, "counts", penalised=False).name == "5-LR counts unpenalised"
    assert LogisticRegressionContender(5, name="mine").name == "mine"
    with pytest.raises(SettingError, match="features must be one of presence, counts, onehot, not 'lags'"):
        LogisticRegressionContender(5, "lags")
    with pytest.raises(SettingError, match="lookback must be a whole number from 1 on, not 0"):
        LogisticRegressionContender(0)
    with pytest.raises(SettingError, match="strengths must be finite numbers above 0, not -1"):
        LogisticRegressionContender(1, strengths=[1.0, -1])
    with pytest.raises(SettingError, match="strengths must be a list of at least one number"):
        LogisticRegressionContender(1, strengths=())


def test_a_relaxed_lasso_chooses_and_fits_anew():
    events = web_shop().simulate(n_sequences=200, length=20, seed=1)
    contender = LogisticRegressionContender(5, strengths=(1e-4, 0.05), relaxed=True)
    assert contender.name == "5-LR presence relaxed"
    (none, nothing), (some, fitted) = contender.fit_each(events, ["purchase"])
    assert (none, some) == ({"C": 1e-4}, {"C": 0.05})
    assert nothing.influencers("purchase") == ()
    rate = (events.label_counts[events.labels.index("purchase")] + 0.5) / (events.n_events + 1)
    assert nothing.probability(events, "purchase")[0] == pytest.approx(rate, rel=0.02)
    chosen = fitted.influencers("purchase")
    assert "add to cart" in chosen
    assert len(chosen) <= 4
    # fitted anew: as if only these had been there, with hardly any penalty
    only = events.map_labels({x: "other" for x in events.labels if x not in (*chosen, "purchase")})
    ((_, plain),) = LogisticRegressionContender(5, strengths=(10.0,)).fit_each(only, ["purchase"])
    relaxed, full = (p.models["purchase"].coefficients for p in (fitted, plain))
    at = events.labels.index("add to cart")
    assert relaxed[at] == pytest.approx(full[only.labels.index("add to cart")], abs=0.3)


def test_a_relaxed_lasso_has_a_penalty():
    with pytest.raises(SettingError, match="a relaxed lasso has a penalty; leave out penalised=False"):
        LogisticRegressionContender(3, penalised=False, relaxed=True)
