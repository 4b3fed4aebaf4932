"""Every setting that makes no sense is refused in one sentence that names it."""

import re

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError, SummarkovError, UnknownLabelError
from summarkov.search.criteria import SCORES
from summarkov.settings import check_positive

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = [["riot", "protest", "arrest"], ["protest", "arrest", "riot", "riot"]] * 5
ALPHA = "alpha must be a number above 0, not "
GAMMA = "gamma must be a number from 0 on, not "
LOOKBACK = "lookback must be a whole number from 1 on, None, or a time such as '7d', not "
LISTS = "must be a list of labels; write ['riot']"


def written(value):
    """A name that is the same in every process: no address in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


class Constant:
    def state(self, history, influencers):
        return 0

    def n_states(self, n_influencers):
        return 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0}, ALPHA + "0"),
        ({"alpha": float("nan")}, ALPHA + "nan"),
        ({"alpha": float("inf")}, ALPHA + "inf"),
        ({"alpha": True}, ALPHA + "True"),
        ({"alpha": 10**400}, ALPHA + "1000"),
        ({"gamma": -0.5}, GAMMA + "-0.5"),
        ({"gamma": float("nan")}, GAMMA + "nan"),
        ({"xi": -1, "criterion": "extended-bic"}, "xi must be a number from 0 on, not -1"),
        ({"false_edges": 0}, "false_edges must be a number above 0, not 0"),
        ({"lookback": 0}, LOOKBACK + "0"),
        ({"lookback": 1.5}, LOOKBACK + "1.5"),
        ({"lookback": True}, LOOKBACK + "True"),
        ({"lookback": "5"}, "look-back or delay 5 is a time, and these events have no times"),
        ({"lookback": {"riot": 0}}, LOOKBACK + "0"),
        ({"lookback": "automatic"}, "lookback must be a number of positions, or a time above 0"),
        ({"lookback": (1, 0)}, LOOKBACK + "0"),
        ({"lookback": ()}, "lookback must name each look-back to choose from once, not ()"),
        (
            {"lookback": (2, None, 2)},
            "lookback must name each look-back to choose from once, not (2, None, 2)",
        ),
        ({"lookback": (2, {"riot": 3})}, "lookback must name each look-back to choose from once, not (2, {"),
        ({"lookback": (2, 5), "delay": 2}, "delay 2 must be less than lookback 2"),
        ({"lookback": "auto", "search": "sweep"}, "look-backs are learned by search='greedy' alone"),
        ({"lookback": {"riots": 2}}, "unknown label 'riots'; did you mean 'riot'?"),
        ({"lookback": 2**40}, "is too large; use None for the whole past"),
        ({"delay": 5}, "delay 5 must be less than lookback 5"),
        ({"delay": 2, "lookback": {"riot": 9, "arrest": 2}}, "delay 2 must be less than lookback 2"),
        ({"delay": -1}, "delay must be a whole number from 0 on, not -1"),
        ({"delay": True}, "delay must be a whole number from 0 on, not True"),
        ({"prior": "flat"}, "prior must be 'uniform' or 'base-rate', not 'flat'"),
        ({"criterion": "BIC"}, f"criterion must be one of {', '.join(SCORES)}, not 'BIC'"),
        (
            {"search": "gredy"},
            "search must be one of greedy, sweep, exact, not 'gredy'; did you mean 'greedy'?",
        ),
        ({"parameters": "some"}, "parameters must be 'all' or 'reachable', not 'some'"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads, None or -1 for one per core, not 0"),
        ({"n_jobs": True}, "n_jobs must be a number of threads, None or -1 for one per core, not True"),
        ({"required": ["riot"], "forbidden": ["arrest", "riot"]}, "'riot' is both required and forbidden"),
        ({"required": "riot"}, f"required {LISTS}"),
        ({"required": 3}, "required must be a list of labels; write [3]"),
        ({"required": iter(["riot"])}, "required must be a list of labels, not <list_iterator"),
        ({"required": [None]}, "labels are text, or numbers that mean their text, not None"),
        ({"required": ["protset"]}, "unknown label 'protset'; did you mean 'protest'?"),
        ({"forbidden": ["zzz"]}, "unknown label 'zzz'; the labels are 'arrest', 'protest', 'riot'"),
        ({"candidates": ["Riot"]}, "unknown label 'Riot'; did you mean 'riot'?"),
        ({"max_influencers": -1}, "max_influencers must be a whole number from 0 (the required ones) on"),
        ({"max_influencers": True}, "max_influencers must be a whole number from 0"),
        (
            {"max_influencers": 1, "required": ["riot", "arrest"]},
            "max_influencers must be a whole number from 2 (the required ones) on, not 1",
        ),
        ({"max_sets": 0}, "max_sets must be a whole number from 1 on or None, not 0"),
        ({"target": []}, "target is an empty list; name at least one label"),
        ({"target": None}, "this model has no target; give target=, or fit it as a template"),
        ({"target": ["riot", "arest"]}, "unknown label 'arest'; did you mean 'arrest'?"),
    ],
    ids=written,
)
def test_settings_of_a_search(settings, sentence):
    model = sm.BSuMM(**{"target": "protest", **settings})  # never an error
    with pytest.raises(SummarkovError, match=r"^[^\n]+$") as caught:
        model.fit(EVENTS)
    assert sentence in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert not model.is_fitted


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (sm.OSuMM("riot", mask="middle"), "mask must be 'last' or 'first', not 'middle'"),
        (sm.OSuMM("riot", lookback={"riot": 2}), "an ordinal summary has one look-back for all labels"),
        (sm.CSuMM("riot", cap=0), "cap must be a whole number from 1 to 1000, not 0"),
        (sm.CSuMM("riot", cap=True), "cap must be a whole number from 1 to 1000, not True"),
        (sm.MarkovChain("riot", order=-1), "order must be a whole number from 0 to 1000, not -1"),
        (sm.MarkovChain("riot", order=True), "order must be a whole number from 0 to 1000, not True"),
        (sm.MarkovChain("riot", prior=1), "prior must be 'uniform' or 'base-rate', not 1"),
        (sm.SuMM("riot"), "SuMM needs summary=, an object with state(history, influencers) and n_states(n)"),
        (sm.SuMM("riot", summary=3), "int has no state"),
        (sm.SuMM("riot", summary=Constant(), search="exact"), "summary of your own; use search='greedy'"),
    ],
    ids=written,
)
def test_settings_of_the_families(model, sentence):
    with pytest.raises(SettingError, match=re.escape(sentence)):
        model.fit(EVENTS)


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (sm.InfluenceGraph("BSuMM"), "model must be a model such as BSuMM(), not str"),
        (sm.InfluenceGraph(sm.BSuMM), "model must be a model such as BSuMM(), not a class"),
        (sm.InfluenceGraph(sm.InfluenceGraph(sm.BSuMM())), "model must be a model such as BSuMM()"),
        (sm.InfluenceGraph(sm.BSuMM("riot")), "the template must have no target; use InfluenceGraph(model"),
        (sm.InfluenceGraph(sm.BSuMM(), targets="riot"), f"targets {LISTS}"),
        (sm.InfluenceGraph(sm.BSuMM(), targets=[]), "targets is an empty list; name at least one label"),
        (sm.InfluenceGraph(sm.BSuMM(), targets=["riots"]), "unknown label 'riots'; did you mean 'riot'?"),
        (sm.InfluenceGraph(sm.BSuMM(), n_jobs=0), "n_jobs must be a number of threads"),
        (sm.InfluenceGraph(sm.BSuMM(alpha=0)), ALPHA + "0"),
    ],
    ids=written,
)
def test_settings_of_a_graph(graph, sentence):
    with pytest.raises(SummarkovError, match=re.escape(sentence)):
        graph.fit(EVENTS)
    assert not hasattr(graph, "models_")


@pytest.mark.parametrize("model", [sm.BSuMM("A"), sm.InfluenceGraph(sm.BSuMM())])
@pytest.mark.parametrize("events", [[], [[], []], {"x": []}])
def test_no_events(model, events):
    with pytest.raises(DataError, match="there are no events to learn from"):
        model.fit(events)


def test_all_weights_zero():
    with pytest.raises(DataError, match="the sequences are all empty or have weight 0"):
        sm.BSuMM("riot").fit(EVENTS, sample_weight=np.zeros(len(EVENTS)))


def test_settings_that_are_unusual_but_make_sense():
    assert sm.BSuMM("riot", gamma=0, false_edges=None).fit(EVENTS).score_ < 0
    assert sm.BSuMM("riot", lookback=np.int32(2), alpha=np.float32(1)).fit(EVENTS).is_fitted
    assert sm.BSuMM("riot", max_influencers=0).fit(EVENTS).influencers_ == ()
    assert sm.BSuMM("riot", candidates=[]).fit(EVENTS).influencers_ == ()
    assert sm.BSuMM("riot", candidates=[], required=["riot"]).fit(EVENTS).influencers_ == ("riot",)
    assert sm.BSuMM("riot", required={"riot"}, max_influencers=1).fit(EVENTS).influencers_ == ("riot",)
    assert sm.MarkovChain("riot", order=0).fit(EVENTS).influencers_ == ()
    assert sm.SuMM("riot", summary=Constant()).fit(EVENTS).table_[0].n == 35


def test_errors_in_use():
    model = sm.BSuMM("riot", lookback=1).fit(EVENTS)
    with pytest.raises(UnknownLabelError, match=r"unknown label 'Riot'; did you mean 'riot'\?"):
        model.predict_proba([["Riot"]])
    with pytest.raises(UnknownLabelError, match=r"unknown label 'Riot'; did you mean 'riot'\?"):
        model.explain(["Riot"])
    with pytest.raises(SettingError, match="'arrest' is not in the target; its labels are riot"):
        model.explain(["riot"], label="arrest")
    for call in (model.predict_proba, model.log_likelihood, model.brier_score):
        with pytest.raises(DataError, match="unknown='ignor' is not known; use 'error' or 'ignore'"):
            call([["flood"]], unknown="ignor")
    with pytest.raises(DataError, match="unknown='ignor' is not known; use 'error' or 'ignore'"):
        model.predict_next([["flood"]], unknown="ignor")
    with pytest.raises(DataError, match="a sequence must be a list of labels, not 'riot'"):
        model.explain("riot")


def test_an_unused_label_of_a_refused_fit_leaves_the_old_model():
    model = sm.BSuMM("riot", lookback=1).fit(EVENTS)
    before = model.predict_proba(EVENTS)
    with pytest.raises(SettingError):
        model.set_params(alpha=0).fit(EVENTS)
    assert np.array_equal(model.predict_proba(EVENTS), before)


def test_the_least_and_the_largest_that_are_taken():
    for name in ("alpha", "gamma", "xi"):
        check_positive(name, 1e15)
        check_positive(name, 1e-15)
        with pytest.raises(
            SettingError, match=rf"{name} 2000000000000000\.0 is too large; it may be 1e\+15 at most"
        ):
            check_positive(name, 2e15)
    with pytest.raises(SettingError, match=r"alpha 9e-16 is too small; it may be 1e-15 at least"):
        check_positive("alpha", 9e-16)
    check_positive("gamma", 9e-16, zero=True)
