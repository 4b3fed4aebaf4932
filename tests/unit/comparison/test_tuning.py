"""Settings are chosen on dev, target by target; test has no say."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import ModelContender
from summarkov.comparison.comparison import Tuned
from summarkov.comparison.run import Split, tune
from summarkov.errors import SettingError
from summarkov.events import EventSequences

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ["a", "b", "c"]


def events(*sequences: str) -> EventSequences:
    return EventSequences.from_lists([list(each) for each in sequences], labels=LABELS, ends="cut off")


SPLIT = Split(events("abcabc", "aab"), events("abca", "b"), events("abcc", "", "ca"))


@dataclass
class Constant:
    """Predicts one number for each target, and writes down what it is asked."""

    settings: dict[str, Any]
    values: dict[str, float]
    asked: list[tuple[str, Any, str]]

    def probability(self, events: EventSequences, target: str) -> np.ndarray:
        (part,) = [name for name, part in SPLIT._asdict().items() if part is events]
        self.asked.append((part, self.settings["n"], target))
        return np.full(events.n_events, self.values[target])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        return ("a",) if target == "a" else None


@dataclass
class Constants:
    """A candidate for each of the given values."""

    values: list[dict[str, float]]
    name: str = "constants"
    asked: list[tuple[str, Any, str]] = field(default_factory=list, repr=False)
    fits: int = 0

    def fit_each(self, train, targets):
        for n, values in enumerate(self.values):
            assert train is SPLIT.train
            self.fits += 1
            yield {"n": n}, Constant({"n": n}, values, self.asked)


@dataclass
class Same:
    """Says the same of any events."""

    p: Any
    name: str = "same"

    def fit_each(self, train, targets):
        yield {}, self

    def probability(self, events, target):
        return self.p

    def influencers(self, target):
        return None


def chosen(tuned: Tuned) -> dict[str, Any]:
    return {one.target: one.settings["n"] for one in tuned.chosen}


def test_each_target_gets_the_settings_that_are_best_on_dev():
    # in dev, a and b are 2/5 of the events each, c is 1/5
    contender = Constants([{"a": 0.4, "b": 0.9, "c": 0.2}, {"a": 0.9, "b": 0.4, "c": 0.9}])
    tuned = tune(contender, SPLIT, LABELS)
    assert chosen(tuned) == {"a": 0, "b": 1, "c": 0}
    a = tuned.chosen[0]
    assert a.dev_log_likelihood == pytest.approx(2 * math.log(0.4) + 3 * math.log(0.6), rel=1e-12)
    assert a.log_likelihood == pytest.approx(2 * math.log(0.4) + 4 * math.log(0.6), rel=1e-12)
    assert [one.n_influencers for one in tuned.chosen] == [1, None, None]
    assert tuned.log_likelihood == pytest.approx(
        np.mean([one.log_likelihood for one in tuned.chosen]), rel=1e-12
    )
    assert tuned.by_sequence.sum() == pytest.approx(tuned.log_likelihood, rel=1e-12)
    assert None not in (tuned.top_1, tuned.next_event_log_loss)
    some = tune(contender, SPLIT, ["a", "b"])  # the next event needs all labels of train
    assert (some.top_1, some.next_event_log_loss) == (None, None)


def test_ties_go_to_the_first_also_where_everything_is_ruled_out():
    same = Constants([dict.fromkeys(LABELS, 0.3)] * 3)
    assert chosen(tune(same, SPLIT, LABELS)) == dict.fromkeys(LABELS, 0)
    tuned = tune(Constants([dict.fromkeys(LABELS, 0.0)] * 2), SPLIT, LABELS)
    assert chosen(tuned) == dict.fromkeys(LABELS, 0)
    assert tuned.log_likelihood == -math.inf
    assert tuned.chosen[0].dev_log_likelihood == -math.inf


def test_test_is_not_looked_at_to_choose_and_nothing_is_fitted_again():
    # n = 1 would be far better on test for c (3 of 6), but is worse on dev (1 of 5)
    contender = Constants([{"a": 0.4, "b": 0.4, "c": 0.2}, {"a": 0.1, "b": 0.1, "c": 0.5}])
    assert chosen(tune(contender, SPLIT, LABELS)) == dict.fromkeys(LABELS, 0)
    assert contender.fits == 2
    # what lost on dev never sees test
    assert [part for part, n, _ in contender.asked if n == 1] == ["dev"] * 3
    first = [asked for asked in contender.asked if asked[1] == 0]
    assert [first.index(("dev", 0, x)) < first.index(("test", 0, x)) for x in LABELS] == [True] * 3
    assert "train" not in {part for part, _, _ in contender.asked}


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (np.full(5, np.nan), "gives 'a' a probability that is not between 0 and 1"),
        (np.full(5, 1.1), "gives 'a' a probability that is not between 0 and 1"),
        (np.full(5, -0.1), "gives 'a' a probability that is not between 0 and 1"),
        (np.full((5, 2), 0.5), "one probability per position, 5 of them, not an array of shape (5, 2)"),
        (0.5, "not an array of shape ()"),
    ],
)
def test_what_is_no_probability_is_refused(p, words):
    with pytest.raises(SettingError) as problem:
        tune(Same(p), SPLIT, ["a"])
    assert str(problem.value).startswith("same ")
    assert words in str(problem.value)


def test_rounding_is_forgiven():
    tuned = tune(Constants([dict.fromkeys(LABELS, 1 + 1e-15)]), SPLIT, ["c"])
    assert tuned.chosen[0].brier == pytest.approx(3 / 6, rel=1e-12)


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(SettingError) as problem:
        tune(Constants([]), SPLIT, LABELS)
    assert str(problem.value) == "constants has no settings to choose from, or there are no targets"


def test_the_protocol_by_hand():
    """The same cell by models fitted one by one, without any of the machinery."""
    rng = np.random.default_rng(3)
    parts = [events(*("".join(rng.choice(LABELS, 12)) for _ in range(n))) for n in (8, 4, 4)]
    grid = {"alpha": (0.1, 5), "lookback": (1, 3), "gamma": (0.1,)}
    tuned = tune(ModelContender("bsumm", sm.BSuMM(false_edges=None), grid), Split(*parts), LABELS)
    totals = []
    for target in LABELS:
        fits = [
            sm.BSuMM(target, alpha=a, lookback=k, gamma=0.1, false_edges=None).fit(parts[0])
            for a in (0.1, 5)
            for k in (1, 3)
        ]
        best = max(fits, key=lambda model: model.log_likelihood(parts[1]))
        totals.append(best.log_likelihood(parts[2]))
    assert [one.log_likelihood for one in tuned.chosen] == pytest.approx(totals, rel=1e-12)
