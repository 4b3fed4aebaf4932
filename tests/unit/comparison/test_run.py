"""``compare``: parts and splits, targets, and contenders."""

import json
import math
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import DEFAULT, NAMES, ModelContender, lineup
from summarkov.comparison.run import Split, tune
from summarkov.engines import MemorySource
from summarkov.errors import DataError, MissingLibraryError, SettingError, UnknownLabelError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

TRAIN = [list("abcabcab"), list("bcabca"), list("cabc"), list("aabbcc")] * 3
DEV = [list("abcab"), list("cab")]
TEST = [list("bcabc"), list("abca"), list("cabcab"), list("acb")]
FAST = ["chain-0", "chain-1"]


def same(one, other):
    """Equal in everything but the time it took."""

    def timeless(result):
        document = result.to_dict()
        for line in document["lines"]:
            line["seconds"] = 0
        return document

    return timeless(one) == timeless(other)


@dataclass(frozen=True)
class Guess:
    """A contender of one's own: the same probability everywhere; counts how often it is fitted."""

    p: float | dict[str, float] = 0.3
    name: str = "guess"
    fits: list[int] = field(default_factory=list, repr=False)

    def fit_each(self, train, targets):
        self.fits.append(1)
        yield {"p": self.p}, self

    def probability(self, events, target):
        return np.full(events.n_events, self.p[target] if isinstance(self.p, dict) else self.p)

    def influencers(self, target):
        return None


# ------------------------------------------------------------------ parts and splits


@pytest.mark.parametrize("splits", [1, 2])
def test_an_interrupt_leaves_the_models_that_are_finished(splits):
    def stop(done, total, what):
        if what.startswith(last):
            raise KeyboardInterrupt

    asked = {"models": FAST, "splits": splits}
    last = "chain-1"
    with pytest.warns(UserWarning, match="interrupted: this is about the first 1 of 2 models"):
        found = sm.compare(TRAIN, **asked, progress=stop)
    assert same(found, sm.compare(TRAIN, models=FAST[:1], splits=splits))
    last = "chain-0"
    with pytest.raises(KeyboardInterrupt):
        sm.compare(TRAIN, **asked, progress=stop)


def test_three_parts_are_the_protocol():
    assert {line.name for line in sm.compare(TRAIN, DEV, TEST).lines} == set(DEFAULT)
    result = sm.compare(TRAIN, DEV, TEST, models=["chain-1", "bsumm"])
    split = Split(*(sm.EventSequences.from_lists(part, labels=list("abc")) for part in (TRAIN, DEV, TEST)))
    by_hand = {c.name: tune(c, split, list("abc")).log_likelihood for c in lineup(["chain-1", "bsumm"])}
    assert {line.name: line.log_likelihood for line in result.lines} == pytest.approx(by_hand, rel=1e-12)
    assert result.n_test == (18,)


def test_one_part_is_split_by_sequence():
    events = sm.read_events(TRAIN)
    result = sm.compare(events, models=FAST, random_state=4)
    assert same(result, sm.compare(*events.split((0.7, 0.15, 0.15), 4), models=FAST, random_state=4))
    halves = sm.compare(events, models=FAST, fractions=(0.5, 0.25, 0.25))
    assert halves.n_test == (events.split((0.5, 0.25, 0.25), 0)[2].n_events,)


def test_repeated_splits_are_those_of_the_seeds_in_turn():
    result = sm.compare(TRAIN, models=FAST, splits=3, random_state=7)
    alone = [sm.compare(TRAIN, models=FAST, random_state=seed) for seed in (7, 8, 9)]
    assert result.n_test == tuple(each.n_test[0] for each in alone)
    for name in FAST:
        (line,) = [line for line in result.lines if line.name == name]
        cells = [line.log_likelihood for each in alone for line in each.lines if line.name == name]
        assert line.log_likelihood == pytest.approx(np.mean(cells), rel=1e-12)
    rows = result.to_dict()["targets"]["chain-1"]
    assert [(row["target"], row["split"]) for row in rows] == [(x, s) for s in range(3) for x in "abc"]


def test_a_sequence_that_is_tested_again_is_known_again():
    """Where all splits test nearly all of the same few sequences, more splits make no narrower interval."""
    few, fractions = TRAIN[:4] * 2, (0.25, 0.25, 0.5)
    widths = []
    for splits in (10, 40):
        line = sm.compare(few, models=FAST, splits=splits, fractions=fractions).lines[-1]
        widths.append(line.interval[1] - line.interval[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.35)  # if they passed for new ones: half


# ------------------------------------------------------------------ labels that are not everywhere


#: One contender of each kind.
EVERY = [
    *("bsumm", "csumm", "chain-2", "vom", "tree", "joint-boosted"),
    pytest.param("lr-onehot-3", marks=pytest.mark.needs("sklearn")),
]


def on_dev(parts, model, **how):
    """What was chosen on dev, and the scores there."""
    rows = sm.compare(*parts, models=[model], n_bootstrap=2, **how).to_dict()["targets"][model]
    return [{name: row[name] for name in ("target", "settings", "dev_log_likelihood")} for row in rows]


@pytest.mark.parametrize("model", EVERY)
def test_nothing_on_dev_depends_on_test(model):
    """Labels that only test has changed scores on dev for joint and joint-boosted."""
    odd = [*TEST, list("xyzabz"), list("yy")]
    found = on_dev((TRAIN, DEV, TEST), model)
    assert on_dev((TRAIN, DEV, odd), model) == found
    slices = sm.read_events([*TRAIN, *DEV, *odd])  # slices keep the whole vocabulary
    cuts = len(TRAIN), len(TRAIN) + len(DEV)
    parts = slices[: cuts[0]], slices[cuts[0] : cuts[1]], slices[cuts[1] :]
    assert on_dev(parts, model) == found


@pytest.mark.parametrize("model", ["bsumm", "vom", "joint"])
def test_labels_that_train_does_not_know_are_all_alike(model):
    """Which unknown label it is makes no difference, on dev or on test, to any contender."""

    def measured(x, y):
        parts = TRAIN, [*DEV, ["a", x, "b", y]], [*TEST, [y, "a", x, x]]
        line = sm.compare(*parts, models=[model], n_bootstrap=2).to_dict()["lines"][0]
        return {name: value for name, value in line.items() if name != "seconds"}

    assert measured("x", "y") == measured("x", "x") == measured("0", "zz")


def test_where_an_unknown_label_stands_no_target_occurred():
    """The twin: it says 1/2, 1/4 and 1/4 everywhere, and costs log(1 - p) of each at an unknown label."""
    share = {"a": 0.5, "b": 0.25, "c": 0.25}

    odd = [list("axb"), list("y")]
    result = sm.compare(TRAIN, DEV, odd, models=[Guess(share)], n_bootstrap=2)
    expected = sum(math.log(p if x == came else 1 - p) for x, p in share.items() for came in "axby") / 3
    (line,) = result.lines
    assert line.log_likelihood == pytest.approx(expected, rel=1e-12)
    assert line.next_event_log_loss == pytest.approx(-(math.log(0.5) + math.log(0.25)) / 2, rel=1e-12)
    assert (line.top_1, line.top_3) == (0.25, 0.5)


@pytest.mark.parametrize(
    "model", ["chain-1", "bsumm", pytest.param("lr-onehot-3", marks=pytest.mark.needs("sklearn"))]
)
def test_a_target_that_was_asked_for_is_one_even_if_train_does_not_know_it(model):
    result = sm.compare(TRAIN, [*DEV, list("az")], TEST, models=[model], targets=["z"])
    (row,) = result.to_dict()["targets"][model]
    assert row["target"] == "z"
    assert -5 < row["test_log_likelihood"] < 0


def test_chosen_targets():
    result = sm.compare(TRAIN, DEV, TEST, models=["chain-1"], targets=["c", "a", "c"])
    rows = result.to_dict()["targets"]["chain-1"]
    assert [row["target"] for row in rows] == ["a", "c"]
    assert result.lines[0].log_likelihood == pytest.approx(
        np.mean([row["test_log_likelihood"] for row in rows]), rel=1e-12
    )
    assert result.lines[0].top_1 is None
    from_iterator = sm.compare(TRAIN, models=["chain-1"], targets=iter("ca"), splits=2)
    assert [row["target"] for row in from_iterator.to_dict()["targets"]["chain-1"]] == ["a", "c"] * 2


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ((TRAIN, DEV), {}, SettingError, "give train, dev and test, or train alone to have it split"),
        ((TRAIN, DEV, TEST), {"splits": 2}, SettingError, "train, dev and test are already split"),
        ((TRAIN,), {"splits": 0}, SettingError, "splits must be a whole number from 1 on, not 0"),
        ((TRAIN,), {"fractions": (0.5, 0.5)}, SettingError, "fractions are those of train, dev and test"),
        ((TRAIN,), {"fractions": (0.5, 0.4, 0.4)}, DataError, "fractions must be positive and sum to 1"),
        ((TRAIN[:2],), {}, DataError, "part has no events; give more sequences or other fractions"),
        ((TRAIN, DEV, [[]]), {}, DataError, "the test part has no events"),
        ((TRAIN,), {"models": []}, SettingError, "there is nothing to compare; name at least one model"),
        ((TRAIN,), {"models": "bsumm"}, SettingError, "models must be a list; write ['bsumm']"),
        ((TRAIN,), {"models": ["bsum"]}, SettingError, "there is no model 'bsum'; did you mean 'bsumm'?"),
        ((TRAIN,), {"models": ["xyz"]}, SettingError, "'xyz'; the models are bsumm, bsumm-auto"),
        ((TRAIN,), {"models": ["vom", "VOM"]}, SettingError, "two contenders have the same name, 'vom'"),
        ((TRAIN,), {"models": [3]}, SettingError, "3 is no contender, which has a name"),
        ((TRAIN,), {"targets": "a"}, DataError, "targets must be a list of labels, not 'a'; wrap it in a"),
        ((TRAIN,), {"targets": []}, SettingError, "targets must hold at least one label"),
        ((TRAIN,), {"targets": ["d"]}, UnknownLabelError, "unknown label 'd'; the labels are 'a', 'b', 'c'"),
        ((TRAIN,), {"n_bootstrap": 0}, SettingError, "n_bootstrap must be a whole number from 1 to 1000000"),
    ],
)
def test_what_makes_no_sense_is_refused(given, options, error, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as problem:
        sm.compare(*given, **{"models": FAST, **options})
    assert words in str(problem.value)


# ------------------------------------------------------------------ contenders


def test_what_is_not_on_this_machine_is_refused():
    source = MemorySource(sm.read_events(TRAIN))
    words = "compared on events of this machine, and train is a MemorySource; read them with read_events"
    with pytest.raises(SettingError, match=words):
        sm.compare(source, models=["chain-0"])


@pytest.mark.needs("sklearn")
def test_every_name_makes_a_contender_of_that_name():
    assert [contender.name for contender in lineup(NAMES)] == list(NAMES)
    assert repr(lineup(["BSuMM"])) == repr(lineup(["bsumm"]))


@pytest.mark.parametrize(
    ("model", "module", "words"),
    [
        ("boosting", "sklearn.ensemble", "gradient boosting needs scikit-learn; install"),
        ("lr-counts-3", "sklearn.linear_model", "logistic regression needs scikit-learn; install"),
    ],
)
def test_a_missing_library_is_told_before_any_work(model, module, words, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    guess = Guess()
    with pytest.raises(MissingLibraryError) as problem:
        sm.compare(TRAIN, models=[guess, model])
    assert str(problem.value).startswith(words)
    assert guess.fits == []


def test_ones_own_contenders_take_part():
    result = sm.compare(TRAIN, DEV, TEST, models=["chain-1", Guess(1 / 3)])
    assert [line.name for line in result.lines] == ["chain-1", "guess"]
    a, b = 18 * math.log(1 / 3), 18 * math.log(2 / 3)
    n_of = np.mean([sum(x.count(label) for x in TEST) for label in "abc"]) / 18
    assert result.lines[1].log_likelihood == pytest.approx(n_of * a + (1 - n_of) * b, rel=1e-12)
    assert result.lines[1].n_influencers is None
    own = ModelContender("mine", sm.BSuMM(), {"lookback": (2,)})
    (line,) = sm.compare(TRAIN, DEV, TEST, models=[own]).lines
    assert (line.name, line.verdict) == ("mine", "best")


def test_a_contender_that_rules_out_what_happens_is_refuted():
    result = sm.compare(TRAIN, DEV, TEST, models=[Guess(0.0), "chain-0"])
    assert [(line.name, line.verdict) for line in result.lines] == [("chain-0", "best"), ("guess", "refuted")]
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["lines"][1]["log_likelihood"] is None
    assert document["lines"][1]["brier"] == pytest.approx(1 / 3, rel=1e-12)


def test_threads_change_nothing():
    models = ["bsumm", "osumm", "chain-2", "vom"]
    one = sm.compare(TRAIN, DEV, TEST, models=models, n_jobs=1)
    assert same(one, sm.compare(TRAIN, DEV, TEST, models=models, n_jobs=2))
    assert len(one.lines) == 4


def test_progress_counts_the_pieces():
    told = []
    sm.compare(TRAIN, models=FAST, splits=2, progress=lambda *each: told.append(each))
    names = ["chain-0, split 1", "chain-0, split 2", "chain-1, split 1", "chain-1, split 2"]
    assert told == [(n + after, 4, name) for n, name in enumerate(names) for after in (0, 1)]


# ------------------------------------------------------------------ trees


def test_trees_grown_once_are_those_of_every_setting():
    (contender,) = lineup(["tree"])
    events = sm.EventSequences.from_lists([*TRAIN, *DEV, *TEST])
    n = 0
    for settings, predictor in contender.fit_each(events, ("a", "b")):
        model = contender.template.copy(target="b", **settings).fit(events)
        assert np.array_equal(predictor.probability(events, "b"), model.predict_proba(events)[:, 0])
        assert predictor.influencers("b") == model.influencers_
        n += 1
    assert n == np.prod([len(values) for values in contender.grid.values()])
