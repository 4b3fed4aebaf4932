"""The joint model: what it learns, what it says, and that it is one distribution."""

import math
from dataclasses import replace

import numpy as np
import pytest

import summarkov as sm
from summarkov.engines import as_source
from summarkov.errors import DataError, NotFittedError, SettingError, StoreError
from summarkov.kernels import Index
from summarkov.models.joint import joint_edges
from summarkov.models.joint_parts import Weights, dense, likelihood, penalised
from summarkov.settings import untold
from summarkov.simulate.example import web_shop
from summarkov.store import write_sealed

pytestmark = pytest.mark.cut_off


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=300, length=20, random_state=1)


@pytest.fixture(scope="module")
def model(events):
    return sm.JointSuMM(penalty=30.0).fit(events)


@pytest.fixture(scope="module")
def boosted(events):
    return sm.JointSuMM(gamma=0.0, rounds=3, contexts=0.3, targets=["purchase", "browse"]).fit(events)


def test_it_finds_the_influences_of_the_web_shop(model):
    shop = web_shop()
    truth = {(z, x) for x in shop.labels for z in shop.minimal_influencers(x) if x != "browse"}
    found = {(z, x) for x, influencers in model.influencers_.items() for z in influencers if x != "browse"}
    assert found <= truth
    assert len(found) >= len(truth) - 2
    effects = {(edge.influencer, edge.target): edge.effect for edge in model.edges_}
    assert effects["add to cart", "purchase"] == "amplifies"
    assert effects["out of stock", "add to cart"] == "inhibits"


def test_an_explanation_is_exactly_a_product(model, boosted):
    history = ["search", "add to cart", "get coupon"]
    for each in (model, boosted):
        why = each.explain(history, "purchase")
        rest = why.habits * why.place * why.trees * why.contexts * why.competition
        product = why.base_rate * math.prod(share.factor for share in why.shares) * rest
        after = each.predict_next([history]).probabilities[0]
        assert math.isclose(product, why.probability, rel_tol=1e-9)
        assert math.isclose(after[each.outcomes_.index("purchase")], why.probability, rel_tol=1e-9)
    assert why.trees != 1
    shop, after = boosted.fitted, ["get coupon", "add to cart"]
    key = np.array([[shop.labels.index(label) + 1 for label in after]], np.int32)
    usual = boosted.label_counts_["purchase"] / sum(boosted.label_counts_.values())
    assert math.isclose(why.contexts, (shop.last.at(key)[0, 1] / usual) ** 0.3, rel_tol=1e-3)
    (cart,) = [share for share in model.explain(history, "purchase").shares if share.label == "add to cart"]
    assert cart.lag == 2
    assert cart.factor > 2


def test_competition_is_one_number_for_all_labels(model, boosted):
    history = ["search", "add to cart", "get coupon"]
    for each in (model, boosted):
        one, *others = each.explain_next(history)
        for other in others:
            assert math.isclose(other.competition, one.competition, rel_tol=1e-9)
    # what is left of a label without it: how it fares in all that is its own
    first = model.explain_next([])
    own = [why.base_rate * why.place * why.habits for why in first]
    assert math.isclose(1 / sum(own), first[0].competition, rel_tol=1e-9)


def test_events_of_one_sequence_are_a_history(model, events):
    past = next(iter(events[3]))
    for given in (events[3], past, iter(past)):
        why = model.explain(given, "purchase")
        assert why == model.explain(past, "purchase")
        assert math.isclose(
            why.probability, model.predict_next(events[3]).probabilities[0, model.labels_.index("purchase")]
        )
    assert model.explain_next(events[3], most=3) == model.explain_next(past, most=3)
    with pytest.raises(DataError, match="one history can be explained at a time, and these are 2 sequences"):
        model.explain_next(events[3:5])


def test_events_that_happened_together_are_refused(model):
    together = [[["search", "browse"], "purchase"]]
    for ask in (model.predict_next, model.predict_proba, lambda given: model.explain(given[0], "purchase")):
        with pytest.raises(SettingError, match="JointSuMM looks at events in a row"):
            ask(together)


def test_the_strongest_factors_come_first(boosted):
    why = boosted.explain(["search", "add to cart", "get coupon"], "purchase")
    every = why.strongest(100)
    logs = [abs(math.log(value)) for _, value in every]
    assert logs == sorted(logs, reverse=True)
    assert min(logs) > 0.05
    assert {("trees", why.trees), ("last two labels", why.contexts)} <= set(every)
    assert "competition" not in dict(every)
    assert why.strongest(2) == every[:2]


def test_only_the_targets_are_told_apart(boosted):
    assert boosted.outcomes_ == ("browse", "purchase", sm.OTHER)
    assert set(boosted.influencers_) == {"browse", "purchase"}
    np.testing.assert_allclose(boosted.predict_proba([["browse", "search"]]).sum(axis=1), 1.0)
    with pytest.raises(SettingError, match="fit the model without targets="):
        boosted.simulate(2, 3)


def test_trees_add_to_the_likelihood(events, boosted):
    without, more = (boosted.copy(rounds=rounds).fit(events[:100]) for rounds in (0, 20))
    assert more.log_likelihood_ > without.log_likelihood_ + 1
    assert math.isclose(without.log_likelihood(events[:100]), without.log_likelihood_, rel_tol=1e-9)
    assert math.isclose(boosted.log_likelihood(events), boosted.log_likelihood_, rel_tol=1e-9)
    assert len(boosted.fitted.trees) == 3 * 3


def test_the_gain_of_an_influencer_is_what_its_ablation_loses(model, events):
    gains = model.gains_["purchase"]
    assert list(gains) == sorted(gains, key=lambda z: -gains[z])
    fitted = model.fitted
    z, x = fitted.labels.index("add to cart"), fitted.labels.index("purchase")
    weights = Weights(fitted.weights.every.copy(), fitted.weights.n_shared)
    weights.shared[fitted.features.columns(z), x] = 0
    ablated = replace(fitted, weights=weights)
    index = Index(events.codes, events.offsets, len(events.labels))
    added = np.log(fitted.at(index) / ablated.at(index))
    mean = (added[:, x] - added[:, x - 1])[events.codes == x].mean()  # what is added to this label alone
    weights.level[x] += mean
    here = np.arange(events.n_events)
    lost = np.log(fitted.at(index)[here, events.codes] / ablated.at(index)[here, events.codes]).sum()
    assert math.isclose(gains["add to cart"], lost, rel_tol=1e-9)


def test_what_comes_next_is_what_each_position_has_and_what_is_drawn(model, boosted, events):
    first = next(iter(events))
    for each in (model, boosted):
        rows = each.predict_next([first[:n] for n in range(len(first))]).probabilities
        np.testing.assert_allclose(rows, each.predict_proba(events[:1]), rtol=1e-12)
    known = model.predict_next([["search", "browse"]]).probabilities
    unknown = model.predict_next([["search", "no such label"]], unknown="ignore").probabilities
    assert not np.allclose(known, unknown)  # it keeps its place
    np.testing.assert_allclose(unknown.sum(axis=1), 1.0)
    drawn = model.simulate(2000, 1, random_state=3)
    expected = model.predict_next([[]]).probabilities[0]
    np.testing.assert_allclose(drawn.label_counts / 2000, expected, atol=0.03)


def test_it_is_saved_and_loaded(model, boosted, events, tmp_path):
    for each in (model, boosted):
        each.save(tmp_path / "joint.json")
        again = sm.load(tmp_path / "joint.json")
        assert isinstance(again, sm.JointSuMM)
        assert (again.predict_proba(events[:5]) == each.predict_proba(events[:5])).all()
        assert again.influencers_ == each.influencers_
        assert again.edges_ == each.edges_
        assert again.gains_ == each.gains_


def test_the_penalty_is_that_of_the_best_aic(events, tmp_path):
    model = sm.JointSuMM(gamma=0.0).fit(events)
    data, aic = model._count(as_source(events)), {}
    for penalty in (1000.0, 100.0, 10.0):
        _, weights, _ = data.select(penalty, 0.0, untold)
        free, rest = data.free(weights, penalty)
        assert ((free >= 0) & (free <= 11)).all()
        assert 0 <= rest <= 10 * 12
        value, _ = likelihood(data.rows.logits(weights), data.counts)
        aic[penalty] = value - free.sum() - rest
    assert model.penalty_ == max(aic, key=aic.__getitem__) == 100
    given = sm.JointSuMM(gamma=0.0, penalty=100.0).fit(events)
    assert np.allclose(given.predict_proba(events), model.predict_proba(events), atol=0.01)
    assert sm.JointSuMM().fit(events).penalty_ == 10  # fewer influencers need not be held as strongly
    model.save(tmp_path / "joint.json")
    again = sm.load(tmp_path / "joint.json")
    assert (again.penalty, again.penalty_) == (None, 100)


def test_the_gradient_is_0_at_the_best_weights(events):
    data = sm.JointSuMM()._count(as_source(events))
    _, weights, chosen = data.select(30.0, 0.5, untold)
    strength = data.penalties(30.0, chosen).every
    inner = np.where(np.isfinite(strength), strength, 0.0)
    _, gradient = penalised(data.rows, data.counts, weights, inner)
    curvature = data.rows.sums(data.variance(weights), power=2) + inner
    free = np.isfinite(strength)
    assert (weights.every[~free] == 0).all()
    assert (gradient[free] ** 2 / curvature[free]).max() < 0.01  # nats that a weight alone could still gain


def test_a_changed_file_is_refused(model, boosted, tmp_path):
    path = tmp_path / "joint.json"
    model.save(path)
    text = path.read_text()
    for old, new, message in (
        ('"penalty": 30.0', '"penalty": -1', "penalty must be a number above 0"),
        ('"browse",\n   "level"', '"search",\n   "level"', "expected the targets in the order of labels"),
    ):
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(StoreError, match=message):
            sm.load(path)
    for contexts, message in (
        ({"counts": [[0.0] * 3]}, "not all of which are 0"),
        ({"keys": [[99, 0]]}, "expected contexts of labels"),
        ({"keys": [], "counts": []}, "expected contexts"),
    ):
        document = boosted.to_document()
        first = {name: rows[:1] for name, rows in document["last_labels"].items()}
        write_sealed(path, document | {"last_labels": first | contexts})
        with pytest.raises(StoreError, match=message):
            sm.load(path)


def test_weights_of_sequences_are_copies(events):
    few = events[:60]
    weights = np.tile([1, 2], 30)
    copied = few[np.repeat(np.arange(60), weights)]
    weighed = sm.JointSuMM(rounds=1, contexts=0.3).fit(few, sample_weight=weights)
    expected = sm.JointSuMM(rounds=1, contexts=0.3).fit(copied)
    np.testing.assert_allclose(weighed.predict_proba(few), expected.predict_proba(few), rtol=1e-9)


def test_factors_by_recency_are_those_of_an_explanation(model):
    """One occurrence in a past of 20 events, told by both."""
    z = model.influencers_["purchase"][0]
    for lag in (1, 3, 10):
        past = ["contact support"] * (20 - lag) + [z] + ["contact support"] * (lag - 1)
        (share,) = [each for each in model.explain(past, "purchase").shares if each.label == z]
        assert math.isclose(model.recency_["purchase"][z][str(lag)], share.factor, rel_tol=1e-9)


def test_an_unclear_influence_that_turns_with_time_is_mixed(model, events, tmp_path):
    data, z = model._count(as_source(events)), events.labels.index("search")
    columns, chosen = data.features.columns(z), np.zeros((10, 10), bool)
    chosen[z, z] = True
    n, here = data.counts.sum(axis=1), data.present[:, z]
    just_before = dense(data.rows.shared[here][:, columns])[:, 0] @ n[here] / n[here].sum()

    def edge(strength: float):
        weights = Weights.zero(10, data.features.n_shared, 4)
        weights.shared[columns, z][[0, 6]] = -strength, strength * just_before  # one event ago, and at all
        (found,) = joint_edges(data, weights, chosen, 1.0, events.labels)
        assert math.isclose(found.ratio, 1.0)
        return found

    turning = edge(4.0)
    assert turning.effect == "mixed"
    assert turning.depends == "more likely 2, 3, 5, 10, 20 events after it, less likely 1"  # none has 21
    assert (edge(0.01).effect, edge(0.01).depends) == ("unclear", "")
    other = model.copy()
    other._fitted = replace(model.fitted, edges=(turning,))
    other.save(tmp_path / "joint.json")
    assert sm.load(tmp_path / "joint.json").edges_ == other.edges_


def test_all_that_may_come_next_is_explained(model):
    history = ["search", "add to cart"]
    why = model.explain_next(history)
    assert math.isclose(sum(each.probability for each in why), 1.0, rel_tol=1e-9)
    assert [each.probability for each in why] == sorted((each.probability for each in why), reverse=True)
    assert [each.target for each in model.explain_next(history, most=2)] == [each.target for each in why[:2]]
    for most in (-1, 0, 2.5, True):
        with pytest.raises(SettingError, match=f"most must be a whole number from 1 on, not {most}"):
            model.explain_next(history, most=most)
    assert model.explain(history, why[0].target) == why[0]
    assert "JointSuMM of 10 targets" in repr(model.summary())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": 0}, "penalty must be a number above 0"),
        ({"gamma": -1}, "gamma must be a number from 0 on"),
        ({"rounds": 1.5}, "rounds must be a whole number"),
        ({"leaves": 1}, "leaves must be a whole number from 2 to 64"),
        ({"contexts": 1.1}, "contexts must be a number from 0 to 1"),
        ({"learning_rate": 2}, "learning_rate must be a number above 0 and below 1"),
        ({"lookback": 3}, "lookback must be a whole number from 20"),
        ({"targets": []}, "targets is an empty list"),
        ({"targets": "A"}, "targets must be a list of labels"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        sm.JointSuMM(**settings).fit([["A", "B"]])


def test_without_events_there_is_nothing_to_learn():
    with pytest.raises(DataError, match="no events to learn from"):
        sm.JointSuMM().fit(sm.EventSequences.from_lists([[]], labels=["A"]))
    with pytest.raises(NotFittedError, match="call fit"):
        sm.JointSuMM().predict_proba([["A"]])


def test_progress_counts_steps_of_weights_and_rounds_of_trees(events):
    told = []
    model = sm.JointSuMM(gamma=0.25, rounds=4, targets=["purchase"])
    model.fit(events[:100], progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert [total - done for done, total in told[-9:]] == list(range(8, -1, -1))  # 2 x 4 rounds, then edges
    assert told[0] == (1, 300 + 2 * 4 + 1)
    assert [done for done, total in told if done == total] == [len(told)]


def test_ratios_of_a_joint_model_are_called_odds_ratios():
    model = sm.JointSuMM(penalty=1.0).fit([list("abcabc"), list("cabbac")] * 20)
    for words in (str(model.edges_.summary()), str(model.summary())):
        assert "odds ratio" in words
        assert "other influencers equal" not in words
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([list("abcabc"), list("cabbac")] * 20)
    assert "odds" not in str(graph.edges_.summary())
