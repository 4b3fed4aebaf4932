"""A joint model whose settings are chosen on sequences that it has not seen."""

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import tune_joint
from summarkov.comparison.tuning import BOOSTED_GRID, ROUNDS
from summarkov.errors import DataError, SettingError
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=60, length=10, random_state=1)


@pytest.fixture(scope="module")
def tuned():
    return tune_joint(EVENTS, model=sm.JointSuMM(gamma=0.1), random_state=3)


def test_it_is_the_model_with_the_smallest_loss_on_what_is_held_out(tuned):
    train, held = EVENTS.split((0.8, 0.2), random_state=3)
    losses = {}
    for each in BOOSTED_GRID:
        for share in np.atleast_1d(each["contexts"]).tolist():
            for rounds in ROUNDS[:4]:
                settings = {**each, "gamma": 0.1, "contexts": share, "rounds": rounds}
                model = sm.JointSuMM(**settings).fit(train)
                losses[-model.score(held)] = settings
    best = losses[min(losses)]
    chosen = tuned.get_params()
    assert {name: chosen[name] for name in best} == best
    again = sm.JointSuMM(**best).fit(EVENTS)
    np.testing.assert_array_equal(tuned.predict_proba(EVENTS), again.predict_proba(EVENTS))


def test_other_settings_stay_and_progress_ends():
    told = []
    template = sm.JointSuMM(gamma=0.2, targets=["purchase", "search"], lookback=30)
    model = tune_joint(EVENTS, model=template, progress=lambda *done: told.append(done))
    assert (model.gamma, model.lookback, list(model.targets)) == (0.2, 30, ["purchase", "search"])
    assert not hasattr(template, "_fitted")
    done, total = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == total[-1]


@pytest.mark.parametrize(
    ("given", "settings", "says"),
    [
        ([["A", "B"]] * 5, {}, "too few to hold some out and choose settings on them: 5 sequences; fit"),
        ([["A"]] + [[]] * 20, {}, "on them: 21 sequences"),
        (EVENTS, {"holdout": 1.0}, "holdout must be a number above 0 and below 1"),
        (EVENTS, {"model": sm.BSuMM()}, "model must be a JointSuMM, not BSuMM"),
        ([[["A", "B"], "C"]] * 20, {}, "JointSuMM looks at events in a row"),
        (EVENTS, {"progress": 3}, "progress must be True or a function"),
    ],
)
def test_what_cannot_be_tuned_is_refused(given, settings, says):
    with pytest.raises((DataError, SettingError), match=says):
        tune_joint(given, **settings)
