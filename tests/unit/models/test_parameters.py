"""Parameters as scikit-learn has them: stored as given, and read back."""

import pytest

import summarkov as sm
from summarkov.errors import NotFittedError, SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

# ---------------------------------------------------------------------------------- storing


def test_only_the_target_goes_by_position():
    assert sm.BSuMM("A").target == "A"
    with pytest.raises(TypeError, match="positional"):
        sm.BSuMM("A", 0.5)


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
    assert sm.OSuMM().mask == "last"
    assert sm.CSuMM().cap == 2
    assert sm.MarkovChain().order == 1


def test_set_params_returns_self_and_names_the_nearest():
    model = sm.BSuMM("A")
    assert model.set_params(lookback=3, gamma=0.5) is model
    assert (model.lookback, model.gamma) == (3, 0.5)
    with pytest.raises(SettingError, match=r"BSuMM has no parameter 'lokback'; did you mean 'lookback'\?"):
        model.set_params(lokback=2)


def test_nested_parameters():
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


# ---------------------------------------------------------------------------------- not fitted

FITTED = "labels_ target_ outcomes_ influencers_ score_ log_likelihood_ table_ trace_ base_rates_ influences_"


@pytest.mark.parametrize("name", FITTED.split())
@pytest.mark.parametrize("family", [sm.BSuMM, sm.MarkovChain])
def test_unfitted_attributes(family, name):
    with pytest.raises(NotFittedError, match=f"this {family.__name__} is not fitted; call fit"):
        getattr(family("A"), name)
    assert not hasattr(family("A"), name)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.predict_proba([["A"]]),
        lambda m: m.log_likelihood([["A"]]),
        lambda m: m.score([["A"]]),
        lambda m: m.brier_score([["A"]]),
        lambda m: m.explain(["A"]) if isinstance(m, sm.BSuMM) else m.explain(["A"], "A"),
        lambda m: m.predict_next([["A"]]),
        lambda m: m.save("nowhere/at/all.json"),
    ],
)
@pytest.mark.parametrize("model", [sm.BSuMM("A"), sm.InfluenceGraph(sm.BSuMM())], ids=["model", "graph"])
def test_unfitted_methods(model, call):
    with pytest.raises(NotFittedError, match="is not fitted"):
        call(model)
