"""The joint model as a contender: one fit for each setting, stopped after some rounds."""

from dataclasses import replace

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import JointContender
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=40, length=12, random_state=1)


def test_it_is_the_model_with_each_setting_and_shares_of_the_last_labels_are_one_fit():
    grid = ({"penalty": 10.0, "contexts": (0.0, 0.3)}, {"penalty": 100.0, "leaves": 3})
    contender = JointContender("joint", sm.JointSuMM(gamma=0.0), grid, (0, 2))
    found = list(contender.fit_each(EVENTS, EVENTS.labels))
    assert [settings for settings, _ in found] == [
        *(
            {"penalty": 10.0, "contexts": share, "rounds": rounds}
            for rounds in (0, 2)
            for share in (0.0, 0.3)
        ),
        *({**grid[1], "rounds": rounds} for rounds in (0, 2)),
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
    assert len({predictor.loss(EVENTS) for _, predictor in found}) == 6


def test_losses_weigh_sequences():
    ((_, predictor),) = JointContender("joint", sm.JointSuMM(), ({},)).fit_each(EVENTS, EVENTS.labels)
    weights, every = np.arange(len(EVENTS)) % 3, EVENTS.to_lists()
    repeated = sm.read_events([past for past, n in zip(every, weights, strict=True) for _ in range(n)])
    assert predictor.loss(EVENTS.with_weights(weights)) == pytest.approx(predictor.loss(repeated), rel=1e-12)


def test_trees_stop_growing_where_more_of_them_foretell_less():
    rounds = (0, 2, 4, 8, 16, 32, 64, 128)
    grid = ({"penalty": 10.0, "leaves": 8, "learning_rate": 0.5},)
    every = JointContender("joint", sm.JointSuMM(gamma=0.0), grid, rounds)
    new = web_shop().simulate(n_sequences=40, length=12, random_state=2)
    losses = [predictor.loss(new) for _, predictor in every.fit_each(EVENTS, EVENTS.labels)]
    few = list(replace(every, stop_on=new).fit_each(EVENTS, EVENTS.labels))
    assert [predictor.loss(new) for _, predictor in few] == losses[: len(few)]
    assert len(few) < len(rounds)
    assert min(losses[len(few) - 2 : len(few)]) > min(losses[: len(few)])
    model = sm.JointSuMM(gamma=0.0, **grid[0]).fit(EVENTS)
    assert losses[0] == pytest.approx(-model.score(new), rel=1e-9)


def test_weights_that_are_better_than_few_trees_do_not_keep_many_from_growing():
    # What comes third follows from the first two together, which no sum of weights can say.
    def made(seed):
        rng = np.random.default_rng(seed)
        first, second = rng.integers(0, 2, (2, 60, 4))
        third = (first == second).astype(int)
        rows = np.array(list("ABCDEF"))[np.stack([first, 2 + second, 4 + third], axis=2)]
        return sm.read_events(rows.reshape(60, 12).tolist())

    train, new = made(1), made(2)
    grid, rounds = ({"penalty": 1.0},), (0, 2, 4, 8, 16, 32, 64)
    every = JointContender("joint", sm.JointSuMM(gamma=0.0), grid, rounds, stop_on=new)
    losses = [predictor.loss(new) for _, predictor in every.fit_each(train, train.labels)]
    assert min(losses[1:3]) > losses[0] > losses[-1]
    assert len(losses) == len(rounds)


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
    assert "gamma 0" in result.settings[name]
