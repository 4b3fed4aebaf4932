"""Bags: the mean of models learned from resamples."""

import json
import math

import numpy as np
import pytest

import oracle_effects as effects
import oracle_followings as oracle
import summarkov as sm
from strategies import drawn_weights
from summarkov.baselines import BagContender, TreeContender
from summarkov.engines import MemorySource
from summarkov.errors import NotFittedError, SettingError, StoreError
from summarkov.events.draws import Bootstrap

SEQUENCES = [["A", "B", "C", "D", "A", "D", "C", "B"], ["D", "C", "A", "C", "D", "B"], ["A", "D", "D"]] * 8
NEW = [["A", "D", "C", "B"], ["B"], []]


@pytest.fixture(scope="module")
def events():
    return sm.read_events(SEQUENCES)


@pytest.fixture(scope="module")
def bag(events):
    return sm.Bag(sm.TreeSuMM("B", gamma=0.3), n_models=4, seed=7).fit(events)


def test_each_model_is_one_fitted_to_its_resample(events, bag):
    assert len(bag.models_) == 4
    for number, model in enumerate(bag.models_):
        weights = drawn_weights(Bootstrap(4, 7), number, len(events))
        assert weights.sum() == len(events)
        alone = sm.TreeSuMM("B", gamma=0.3).fit(events, sample_weight=weights)
        assert model.score_ == alone.score_
        assert model.predict_proba(NEW).tolist() == alone.predict_proba(NEW).tolist()
    assert len({model.score_ for model in bag.models_}) > 1  # the resamples differ


def test_it_predicts_the_mean(bag):
    each = [model.predict_proba(NEW) for model in bag.models_]
    assert bag.predict_proba(NEW) == pytest.approx(np.mean(each, axis=0), rel=1e-12)
    assert bag.predict_proba(NEW).shape == (5, 2)


def test_measures_follow_from_the_predictions(events, bag):
    p = bag.predict_proba(events)[:, 0]
    hit = events.codes == events.code("B")
    log_likelihood = np.where(hit, np.log(p), np.log1p(-p)).sum()
    assert bag.log_likelihood(events) == pytest.approx(log_likelihood, rel=1e-12)
    assert bag.score(events) == pytest.approx(log_likelihood / events.n_events, rel=1e-12)
    assert bag.brier_score(events) == pytest.approx(((p - hit) ** 2).mean(), rel=1e-12)


def test_several_labels_at_once(events):
    bag = sm.Bag(sm.BSuMM(["A", "B"], lookback=2), n_models=3).fit(events)
    p = bag.predict_proba(events)
    assert bag.outcomes_ == ("A", "B", sm.OTHER)
    assert p.sum(axis=1) == pytest.approx(np.ones(events.n_events))
    column = np.array([0, 1, 2, 2])[events.codes]
    assert bag.log_likelihood(events) == pytest.approx(np.log(p[np.arange(len(p)), column]).sum())
    expected = ((p - np.eye(3)[column]) ** 2).sum(axis=1).mean()
    assert bag.brier_score(events) == pytest.approx(expected)


def test_usage_counts_models(bag):
    sets = [set(model.influencers_) for model in bag.models_]
    assert bag.usage_ == {z: sum(z in s for s in sets) / 4 for z in set.union(*sets)}
    assert list(bag.usage_.values()) == sorted(bag.usage_.values(), reverse=True)
    assert bag.influencers_ == tuple(sorted(set.union(*sets)))


def test_unknown_labels(bag):
    with pytest.raises(sm.errors.UnknownLabelError):
        bag.predict_proba([["A", "Z"]])
    assert bag.predict_proba([["A", "Z", "B"]], unknown="ignore").shape == (3, 2)
    known = bag.log_likelihood([["A", "Z", "B"]], unknown="ignore")
    p = bag.predict_proba([["A", "Z", "B"]], unknown="ignore")[:, 0]
    assert known == pytest.approx(np.log1p(-p[:2]).sum() + np.log(p[2]))


@pytest.mark.parametrize(
    ("bag", "message"),
    [
        (sm.Bag("B"), "model must be a model such as"),
        (sm.Bag(sm.TreeSuMM("B"), n_models=0), "n_models must be a whole number from 1 to 1000000, not 0"),
        (sm.Bag(sm.TreeSuMM()), "this model has no target"),
    ],
)
def test_bad_settings(bag, message):
    with pytest.raises(SettingError, match=message):
        bag.fit(SEQUENCES)


@pytest.mark.parametrize("asked", [{}, {"attributes": ["region"]}, {"times": True}], ids=str)
def test_a_stream_is_resampled_with_its_ticks_times_and_attributes(asked, tmp_path):
    rng, file = np.random.default_rng(1), tmp_path / "log.jsonl"
    ticks = [[["a"], ["b", "c"], ["a", "d"], ["c"]], [["b"], ["a", "c"], ["d"], ["b", "d"]]]
    file.write_text(
        "".join(
            json.dumps({"id": str(k), "events": ticks[k % 2], "times": [1, 2, 4, 8], "region": "ns"[k % 2]})
            + "\n"
            for k in rng.permutation(40).tolist()
        )
    )
    bag = sm.Bag(sm.BSuMM("a", lookback="3" if asked.get("times") else 2), n_models=3, seed=1)
    in_memory = bag.fit(sm.read_events(file, **asked))
    with sm.scan_events(file, names=True, **asked) as source:
        streamed = bag.copy().fit(source)
    for one, other in zip(streamed.models_, in_memory.models_, strict=True):
        assert one.layout_ == other.layout_
        assert [(row.words, row.counts) for row in one.table_] == [
            (row.words, row.counts) for row in other.table_
        ]
    streamed.save(tmp_path / "bag.json")
    assert sm.load(tmp_path / "bag.json").models_[0].layout_ == in_memory.models_[0].layout_


def test_not_fitted():
    with pytest.raises(NotFittedError, match="this Bag is not fitted"):
        sm.Bag(sm.TreeSuMM("B")).predict_proba(NEW)


def test_saved_and_loaded(bag, tmp_path):
    bag.save(tmp_path / "bag.json")
    again = sm.load(tmp_path / "bag.json")
    assert isinstance(again, sm.Bag)
    assert (again.n_models, again.seed, again.usage_) == (4, 7, bag.usage_)
    assert again.predict_proba(NEW).tolist() == bag.predict_proba(NEW).tolist()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "bag.json").read_bytes()
    assert again.fit(SEQUENCES).usage_ == bag.usage_  # the template is there too


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d["settings"].update(n_models=5), "which is what the rest of the file says"),
        (lambda d: d["usage"].update(A=0.1), "which is what the rest of the file says"),
        (lambda d: d.update(models=[]), "models of one kind"),
        (lambda d: d["models"][0].update(version=9), "version 9"),
        (lambda d: d.update(version=9), "version 9"),
        (lambda d: d["models"][0]["targets"][0].update(target=["C"]), "add up|counts say"),
        (lambda d: d["models"].__setitem__(0, json.loads(json.dumps(d))), "expected|one of"),
    ],
)
def test_damaged_files_are_refused(bag, tmp_path, edit, message):
    bag.save(tmp_path / "bag.json")
    document = json.loads((tmp_path / "bag.json").read_text())
    edit(document)
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match=message):
        sm.load(tmp_path / "bad.json")


def test_the_contender_reads_what_it_has_grown(events):
    """Pruning and reading grown trees gives the bags that fits with those settings give."""
    grid = {"gamma": (0.3, 1.0), "alpha": (0.5, 5.0)}
    contender = BagContender("bag", sm.TreeSuMM(), grid, n_models=3)
    found = list(contender.fit_each(events, ["B", "D"]))
    assert [settings for settings, _ in found] == [
        {"gamma": g, "alpha": a} for g in grid["gamma"] for a in grid["alpha"]
    ]
    for settings, predictor in found:
        for target in ("B", "D"):
            alone = sm.Bag(sm.TreeSuMM(target, **settings), n_models=3).fit(events)
            assert predictor.probability(events, target) == pytest.approx(
                alone.predict_proba(events)[:, 0], rel=1e-12
            )
            assert predictor.influencers(target) == alone.influencers_


def test_a_bag_of_one_whole_sample_is_the_tree(events):
    """With every weight 1 the contender of single trees and the bag agree."""
    grid = {"gamma": (0.3,), "alpha": (0.5,)}
    tree = TreeContender("tree", sm.TreeSuMM(), grid)
    ((_, single),) = tree.fit_each(events, ["B"])
    grown = tree.grow(MemorySource(events, sample_weight=np.ones(len(events))), ["B"])
    assert tree.read(grown, {"gamma": 0.3, "alpha": 0.5}).probability(events, "B") == pytest.approx(
        single.probability(events, "B"), rel=1e-12
    )


def test_sequences_bring_their_weights(events):
    """Those of weight 0 are not drawn."""
    weights = np.arange(len(events)) % 3
    bag = sm.Bag(sm.BSuMM("B", lookback=2), n_models=3).fit(events, sample_weight=weights)
    keys = np.arange(len(events), dtype=np.uint64)
    for number, model in enumerate(bag.models_):
        drawn = Bootstrap(3, 0).drawn(number, keys[weights > 0]).weights(keys)
        alone = sm.BSuMM("B", lookback=2).fit(events, sample_weight=drawn * weights)
        assert model.predict_proba(NEW).tolist() == alone.predict_proba(NEW).tolist()
    with pytest.raises(SettingError, match="one number per sequence"):
        sm.Bag(sm.BSuMM("B")).fit(events, sample_weight=[1])


# ----------------------------------------------------------------------------------------------- influences


def test_influences_are_counted_on_the_data(events):
    bag = sm.Bag(sm.BSuMM("B", lookback=3, candidates=["A", "C"]), n_models=8).fit(events)
    sequences = sm.read_events(events).to_lists()
    assert {edge.influencer for edge in bag.influences_} == set(bag.usage_)
    for edge in bag.influences_:
        counted = effects.two_by_two(sequences, (0, 3), edge.influencer, "B")
        found = edge.hits_with, edge.n_with, edge.hits_without, edge.n_without
        assert found == pytest.approx(counted)
        weights, spans = [1] * len(sequences), ((0, False), (3, False))
        numbers = oracle.following(oracle.cases_of(sequences), weights, edge.influencer, "B", *spans)
        assert {name: getattr(edge, name) for name in numbers} == pytest.approx(numbers, abs=1e-9)
        assert edge.frequency == bag.usage_[edge.influencer]
        assert not edge.ratio < edge.low
        assert not edge.ratio > edge.high


def test_one_model_alone_says_what_it_says(events):
    """A bag whose models all have the same influencers says of the data what one model does."""
    template = sm.BSuMM("B", lookback=3, required=["A", "C"], candidates=[])
    bag, alone = sm.Bag(template, n_models=5).fit(events), template.copy().fit(events)
    for mine, direct in zip(bag.influences_, alone.influences_, strict=True):
        numbers = ("ratio", "low", "high", "hits_with", "n_with", "hits_without", "n_without", "followed")
        assert [getattr(mine, name) for name in numbers] == pytest.approx(
            [getattr(direct, name) for name in numbers], rel=1e-9, nan_ok=True
        )


def test_influences_are_saved_and_old_files_have_none(events, tmp_path):
    always = sm.read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
    bag = sm.Bag(sm.BSuMM("B", lookback=1), n_models=4).fit(always)
    assert any(math.isinf(edge.ratio) for edge in bag.influences_)  # which JSON cannot hold
    bag.save(tmp_path / "bag.json")
    assert repr(sm.load(tmp_path / "bag.json").influences_) == repr(bag.influences_)
    with pytest.raises(NotFittedError, match="not fitted"):
        sm.Bag(sm.TreeSuMM("B")).influences_  # noqa: B018
    old = sm.load(tmp_path / "bag.json")
    del old._influences
    with pytest.raises(NotFittedError, match="fit it again"):
        old.influences_  # noqa: B018


def test_progress_of_models(events):
    told = []
    sm.Bag(sm.BSuMM("B"), n_models=3).fit(events, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
