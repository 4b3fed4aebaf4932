"""Saving and loading: the same model to the last bit, and all or nothing on the disk."""

import json
import os
import pickle

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, StoreError

RULES = {
    "A": (("B", "C"), {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}),
    "B": (("B", "C"), {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}),
    "C": 0.3,
    "D": 0.2,
    "É \"'\\\n": 0.1,  # a label that needs care
}


class Length:
    def state(self, history, influencers):
        return len(history)

    def n_states(self, n_influencers):
        return 40


@pytest.fixture(scope="module")
def events():
    return sm.Dynamics(RULES, lookback=3).simulate(80, [5 + i % 9 for i in range(80)], random_state=4)


WEIGHTS = np.linspace(0, 3, 80)

MODELS = {
    "binary": sm.BSuMM("A", lookback=3, gamma=0.2, false_edges=None),
    "mapping": sm.BSuMM(
        "A", lookback={"B": 2, "C": None}, delay=1, gamma=0.1, false_edges=None, prior="base-rate"
    ),
    "constrained": sm.BSuMM(
        "A", required=("D",), forbidden={"C"}, candidates=["B", "D", "A"], max_influencers=2, gamma=0.0
    ),
    "reachable": sm.BSuMM("B", lookback=1, parameters="reachable", search="sweep", criterion="extended-bic"),
    "ordinal first": sm.OSuMM("A", lookback=None, mask="first", gamma=0.1, false_edges=None),
    "count": sm.CSuMM("A", lookback=4, cap=3, gamma=0.05, false_edges=None, criterion="aic"),
    "chain": sm.MarkovChain("A", order=2),
    "set": sm.BSuMM({"C", "A"}, lookback=3, gamma=0.1, false_edges=None),
    "whole vocabulary": sm.OSuMM(tuple(RULES), lookback=2, gamma=0.1, false_edges=None),
    "numpy settings": sm.BSuMM("A", lookback={"B": np.int32(2)}, gamma=np.float32(0.25), false_edges=None),
}


def same(a, b, events):
    """Assert that two models of one target agree to the last bit."""
    assert type(a) is type(b)
    assert a.labels_ == b.labels_
    assert a.target_ == b.target_
    assert a.outcomes_ == b.outcomes_
    assert a.influencers_ == b.influencers_
    assert a.score_ == b.score_
    assert a.log_likelihood_ == b.log_likelihood_
    assert a.trace_ == b.trace_
    assert list(a.table_) == list(b.table_)
    assert a.influences_ == b.influences_
    assert a.base_rates_ == b.base_rates_
    assert a.fitted.n_sequences == b.fitted.n_sequences
    assert np.array_equal(a.predict_proba(events), b.predict_proba(events))
    assert a.log_likelihood(events) == b.log_likelihood(events)
    assert a.explain(["B", "C"], label=a.target_[0]) == b.explain(["B", "C"], label=b.target_[0])


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, events, tmp_path):
    weights = None if "numpy" in name or name == "chain" else WEIGHTS
    model = MODELS[name].copy().fit(events, sample_weight=weights)
    model.save(tmp_path / "a.json")
    loaded = sm.load(tmp_path / "a.json")
    same(model, loaded, events)
    for setting, value in model.get_params().items():
        if setting in ("required", "forbidden", "candidates") and value is not None:
            assert sorted(getattr(loaded, setting)) == sorted(value)
        elif setting not in ("target", "summary"):
            assert getattr(loaded, setting) == value
    loaded.save(tmp_path / "b.json")
    model.save(tmp_path / "c.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "c.json").read_bytes()


@pytest.mark.parametrize("targets", [None, ["A", "C"]])
@pytest.mark.parametrize("template", [sm.BSuMM(lookback=3), sm.OSuMM(lookback=2), sm.MarkovChain(order=1)])
def test_round_trip_of_a_graph(template, targets, events, tmp_path):
    graph = sm.InfluenceGraph(template, targets=targets).fit(events, sample_weight=WEIGHTS)
    graph.save(tmp_path / "a.json")
    loaded = sm.load(str(tmp_path / "a.json"))
    assert isinstance(loaded, sm.InfluenceGraph)
    assert loaded.model.get_params() == template.get_params()
    assert loaded.targets == (None if targets is None else tuple(targets))
    assert list(loaded.models_) == list(graph.models_)
    assert loaded.edges_ == graph.edges_
    for label, model in graph.models_.items():
        same(model, loaded.models_[label], events)
    if targets is None:
        assert np.array_equal(graph.predict_proba(events), loaded.predict_proba(events))
        assert graph.simulate(4, 6, random_state=8) == loaded.simulate(4, 6, random_state=8)
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_file_is_json_that_a_person_can_read(events, tmp_path):
    model = sm.BSuMM("A", lookback=3).fit(events)
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "É" in text  # not \u00c9
    document = json.loads(text)
    begin = ["format", "version", "kind", "model", "settings", "data"]
    assert list(document) == [*begin, "n_targets", "targets", "checksum"]
    assert (document["format"], document["version"], document["kind"]) == ("summarkov", 3, "BSuMM")
    assert document["settings"]["lookback"] == 3
    assert document["data"]["labels"]["A"] == events.label_counts[0]
    assert document["data"]["sequences"] == 80
    (target,) = document["targets"]
    assert target["target"] == ["A"]
    assert target["influencers"] == list(model.influencers_)
    assert target["states"][0]["state"] == dict.fromkeys(model.influencers_, 0)
    assert target["states"][0]["counts"] == list(model.table_[0].counts)
    assert target["states"][0]["probabilities"] == list(model.table_[0].probabilities)


def test_half_a_surrogate_pair_as_a_label(tmp_path):
    model = sm.BSuMM("B", lookback=1).fit([["\ud800", "B"]] * 5)
    model.save(tmp_path / "m.json")
    assert sm.load(tmp_path / "m.json").influencers_ == model.influencers_ == ("\ud800",)


def test_what_is_stored_are_the_settings_of_the_fit(events, tmp_path):
    model = sm.BSuMM("A", lookback=3, alpha=0.1).fit(events)
    before = model.predict_proba(events)
    model.set_params(lookback=1, alpha=9.0, gamma=0.0, required=["D"])
    model.save(tmp_path / "m.json")
    loaded = sm.load(tmp_path / "m.json")
    assert (loaded.lookback, loaded.alpha, loaded.gamma, loaded.required) == (3, 0.1, 1.0, ())
    assert np.array_equal(loaded.predict_proba(events), before)


# ---------------------------------------------------------------------------------- own summaries


def test_a_summary_of_ones_own_is_pickled_and_not_saved(events, tmp_path):
    model = sm.SuMM("A", summary=Length(), candidates=[]).fit(events)
    with pytest.raises(
        SettingError, match="a file has no code, so a model with your own summary is not stor"
    ):
        model.save(tmp_path / "m.json")
    assert os.listdir(tmp_path) == []
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(events), model.predict_proba(events))


# ---------------------------------------------------------------------------------- all or nothing


@pytest.fixture
def standing(events, tmp_path):
    """A folder with a file that stands where the next model is to go, and its bytes."""
    sm.BSuMM("B", lookback=1).fit(events).save(tmp_path / "m.json")
    return tmp_path, (tmp_path / "m.json").read_bytes()


def untouched(standing):
    folder, content = standing
    assert os.listdir(folder) == ["m.json"]
    assert (folder / "m.json").read_bytes() == content


def test_folders_that_refuse(events, standing):
    folder, _ = standing
    model = sm.BSuMM("A").fit(events)
    with pytest.raises(StoreError, match=r"cannot be written \(Not a directory\)"):
        model.save(folder / "m.json" / "inside.json")
    with pytest.raises(StoreError, match=r"x\.json: cannot be written \(No such file or directory\)"):
        model.save(folder / "missing" / "x.json")
    untouched(standing)
    (folder / "folder").mkdir()
    with pytest.raises(StoreError, match=r"folder: cannot be written \(Is a directory\)"):
        model.save(folder / "folder")
    assert sorted(os.listdir(folder)) == ["folder", "m.json"]
    assert os.listdir(folder / "folder") == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(events, standing):
    folder, _ = standing
    folder.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"cannot be written \(Permission denied\)"):
            sm.BSuMM("A").fit(events).save(folder / "m.json")
    finally:
        folder.chmod(0o700)
    untouched(standing)


@pytest.mark.parametrize("name", ["語" * 80, "x" * 250, "%s{}.json"])
def test_names_of_files(events, tmp_path, name):
    model = sm.MarkovChain("A").fit(events)
    model.save(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    assert sm.load(tmp_path / name).score_ == model.score_
