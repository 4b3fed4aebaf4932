"""The joint model as a contender: one fit for each setting, stopped after some rounds."""

from dataclasses import replace

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import JointContender
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=40, length=12, random_state=1)


def test_it_is_the_model_with_each_setting():
    grid = ({"penalty": 10.0, "contexts": 0.3}, {"penalty": 100.0, "leaves": 3})
    contender = JointContender("joint", sm.JointSuMM(gamma=0.0), grid, (0, 2))
    found = list(contender.fit_each(EVENTS, EVENTS.labels))
    assert [settings for settings, _ in found] == [
        {**each, "rounds": rounds} for each in grid for rounds in (0, 2)
    ]
    column = EVENTS.labels.index("search")
    for settings, predictor in found:
        model = sm.JointSuMM(gamma=0.0, **settings).fit(EVENTS)
        expected = model.predict_proba(EVENTS)
        np.testing.assert_allclose(predictor.next_event(EVENTS), expected, rtol=1e-12)
        np.testing.assert_allclose(predictor.probability(EVENTS, "search"), expected[:, column], rtol=1e-12)
        assert predictor.influencers("search") == model.influencers_["search"]
        assert predictor.fitted.log_likelihood == model.log_likelihood_
        assert predictor.fitted.settings == {**model.fitted.settings, "targets": None}


def test_other_labels_than_the_targets_are_one_outcome():
    contender = JointContender("joint", sm.JointSuMM(), ({"penalty": 10.0},))
    ((_, predictor),) = contender.fit_each(EVENTS, ["purchase"])
    model = sm.JointSuMM(penalty=10.0, targets=["purchase"]).fit(EVENTS)
    expected = model.predict_proba(EVENTS)[:, 0]
    np.testing.assert_allclose(predictor.probability(EVENTS, "purchase"), expected, rtol=1e-12)


def test_all_labels_have_the_same_settings():
    few = JointContender("few", sm.JointSuMM(gamma=0.0), ({"penalty": 1.0}, {"penalty": 300.0}))
    result = sm.compare(EVENTS, models=[few])
    (tuned,) = result.results[0]
    assert len({str(one.settings) for one in tuned.chosen}) == 1
    alone = [sm.compare(EVENTS, models=[replace(few, grid=[each])]) for each in few.grid]
    on_dev = [sum(one.dev_log_likelihood for one in each.results[0][0].chosen) for each in alone]
    assert tuned.chosen[0].settings["penalty"] == few.grid[int(np.argmax(on_dev))]["penalty"]
    assert sum(one.dev_log_likelihood for one in tuned.chosen) == max(on_dev)


@pytest.mark.parametrize("name", ["joint", "joint-boosted"])
def test_learned_with_the_settings_that_compare_tells_it_is_what_compare_measured(name):
    train, dev, test = EVENTS.split((0.5, 0.2, 0.3), random_state=2)
    result = sm.compare(train, dev, test, models=[name])
    told = result.to_dict()["targets"][name]
    assert all(row["settings"] == told[0]["settings"] for row in told)
    found = sm.JointSuMM(**told[0]["settings"]).fit(train).evaluate(test)
    loss = result.lines[0].next_event_log_loss
    assert found.next_event.log_loss == pytest.approx(loss, rel=1e-12)
    for row in told:
        figures = found.targets[(row["target"],)]
        assert figures.log_likelihood == pytest.approx(row["test_log_likelihood"], rel=1e-9)
    assert result.settings.keys() == {name}
    assert result.settings[name] == [told[0]["settings"]]
