"""Parameters as scikit-learn has them: stored as given, and read back."""

import pytest

import summarkov as sm
from summarkov.errors import NotFittedError, SettingError


def test_defaults_are_the_design():
    assert sm.BSuMM().get_params() == {
        "target": None,
        "alpha": 0.1,
        "prior": "uniform",
        "n_jobs": None,
        "gamma": 1.0,
        "criterion": "bic",
        "xi": 1.0,
        "false_edges": 0.2,
        "parameters": "all",
        "search": "greedy",
        "required": (),
        "forbidden": (),
        "candidates": None,
        "given": (),
        "max_influencers": None,
        "max_sets": 100_000,
        "lookback": 5,
        "delay": 0,
        "paper": False,
    }
    assert (sm.OSuMM().mask, sm.CSuMM().cap, sm.MarkovChain().order) == ("last", 2, 1)
    with pytest.raises(TypeError, match="positional"):  # only the target goes by position
        sm.BSuMM("A", 0.5)


def test_they_are_set_and_the_nearest_is_named():
    model = sm.BSuMM("A")
    assert model.set_params(lookback=3, gamma=0.5) is model
    assert (model.lookback, model.gamma) == (3, 0.5)
    with pytest.raises(SettingError, match=r"BSuMM has no parameter 'lokback'; did you mean 'lookback'\?"):
        model.set_params(lokback=2)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2), targets=["A"])
    assert graph.get_params()["model__lookback"] == 2
    assert set(graph.get_params(deep=False)) == {"model", "targets", "n_jobs"}
    graph.set_params(model__lookback=7, n_jobs=2)
    assert (graph.model.lookback, graph.n_jobs) == (7, 2)
    with pytest.raises(SettingError, match="InfluenceGraph has no parameter 'model__mask'"):
        graph.set_params(model__mask="first")


def test_repr_shows_what_differs_from_the_default():
    assert repr(sm.BSuMM()) == "BSuMM()"
    assert repr(sm.BSuMM("A", lookback=3, alpha=0.1)) == "BSuMM(target='A', lookback=3)"
    assert repr(sm.BSuMM("A", delay=False)) == "BSuMM(target='A', delay=False)"  # equal to 0, yet not it
    assert repr(sm.InfluenceGraph(sm.OSuMM(mask="first"))) == "InfluenceGraph(model=OSuMM(mask='first'))"


@pytest.mark.parametrize(
    "model", [sm.BSuMM("A"), sm.MarkovChain("A"), sm.InfluenceGraph(sm.BSuMM())], ids=repr
)
def test_before_the_fit_there_is_nothing(model):
    fitted = (
        "labels_ target_ outcomes_ influencers_ score_ log_likelihood_ table_ trace_ base_rates_ influences_"
    )
    is_graph = isinstance(model, sm.InfluenceGraph)
    for name in ("labels_", "models_", "edges_", "influencers_") if is_graph else fitted.split():
        with pytest.raises(NotFittedError, match=f"this {type(model).__name__} is not fitted; call fit"):
            getattr(model, name)
        assert not hasattr(model, name)
    for name in (
        "predict_proba",
        "log_likelihood",
        "score",
        "brier_score",
        "predict_next",
        "save",
        "explain",
    ):
        with pytest.raises(NotFittedError, match="is not fitted"):
            getattr(model, name)(*([["A"]], "A")[: 1 + (is_graph and name == "explain")])
