"""Which differences are differences, and the table that says so."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from summarkov.comparison.comparison import Chosen, Comparison, Tuned, paired_interval
from summarkov.errors import SettingError
from summarkov.models.prediction import BINS

SEED = 11


def tuned(name, by_sequence, *, brier=0.1, top=None, loss=None, influencers=2, reliability=None, dev=-1.0):
    """A result with the given log-likelihood of each test sequence, for one target."""
    bins = np.zeros((len(BINS) - 1, 3)) if reliability is None else reliability
    each = np.array(by_sequence, dtype=float)
    names = None if influencers is None else ("x",) * influencers
    chosen = Chosen("a", {"alpha": 1}, dev, names, float(each.sum()), brier, bins.tolist())
    return Tuned(name, (chosen,), each, 1.5, top, top, loss)


def lines(*results, **options):
    return Comparison([[each] for each in results], [10], **options).lines


# ------------------------------------------------------------------ the interval


def test_the_interval_is_nearly_that_of_student():
    d = np.random.default_rng(SEED).normal(-0.3, 1, size=40)
    low, high = paired_interval([d], 20_000, 0)
    assert (low, high) == paired_interval([d], 20_000, 0)
    assert (low, high) != paired_interval([d], 20_000, 1)
    exact = stats.t.interval(0.95, 39, loc=d.sum(), scale=d.std(ddof=1) * math.sqrt(40))
    width = exact[1] - exact[0]
    assert (low, high) == pytest.approx(exact, abs=0.03 * width)


@pytest.mark.parametrize("n", [3, 40])
def test_the_interval_covers_the_truth_as_often_as_it_says(n):
    rng = np.random.default_rng(SEED)
    covered = 0
    for seed in range(400):
        low, high = paired_interval([rng.normal(-1, 2, size=n)], 300, seed)
        covered += low <= -n <= high
    assert covered / 400 == pytest.approx(0.95, abs=0.035)


def test_one_sequence_says_nothing_and_no_difference_has_no_width():
    assert paired_interval([np.array([-5.0]), np.array([-6.0])], 100, 0, [[7], [7]]) == (-math.inf, math.inf)
    assert paired_interval([np.zeros(30)], 100, 0) == (0.0, 0.0)
    found = lines(tuned("a", [-1.0]), tuned("b", [-100.0]))
    assert [line.verdict for line in found] == ["best", "no difference"]
    assert found[1].interval == (-math.inf, math.inf)


def test_many_sequences_fit_in_memory():
    d = np.tile([-2.0, 1.0], 150_000)
    low, high = paired_interval([d], 20, 0)
    assert low < d.sum() < high
    assert high - low == pytest.approx(2 * 1.96 * 1.5 * math.sqrt(len(d)), rel=0.5)


def test_the_same_sequences_in_another_split_are_no_new_evidence():
    d = np.random.default_rng(SEED).normal(-0.2, 1, size=25)
    once = paired_interval([d], 2000, 0)
    known = paired_interval([d] * 9, 2000, 0, [range(25)] * 9)
    assert known == pytest.approx(once, rel=1e-9)
    taken_for_new = paired_interval([d] * 9, 2000, 0)
    assert taken_for_new[1] - taken_for_new[0] == pytest.approx((once[1] - once[0]) / 3, rel=0.15)


# ------------------------------------------------------------------ verdicts


def test_verdicts():
    rng = np.random.default_rng(SEED)
    base = rng.normal(-10, 1, size=30)
    found = lines(
        tuned("much worse", base - 1 + rng.normal(0, 0.1, 30)),
        tuned("best", base),
        tuned("hardly worse", base - 0.01 + np.linspace(-1, 1, 30)),
    )
    assert [(line.name, line.verdict) for line in found] == [
        ("best", "best"),
        ("hardly worse", "no difference"),
        ("much worse", "worse"),
    ]
    best, hardly, much = found
    assert (best.difference, best.interval) == (0.0, (0.0, 0.0))
    assert hardly.difference == pytest.approx(-0.3, abs=1e-9)
    assert hardly.interval[0] < hardly.difference < 0 < hardly.interval[1]
    assert much.interval[0] < much.difference < much.interval[1] < 0
    assert much.difference == pytest.approx(much.log_likelihood - best.log_likelihood, rel=1e-9)


def test_equals_are_sorted_by_name_and_are_no_different():
    found = lines(tuned("b", [-1, -2]), tuned("a", [-1, -2]))
    assert [(line.name, line.verdict, line.difference) for line in found] == [
        ("a", "best", 0.0),
        ("b", "no difference", 0.0),
    ]


def test_what_ruled_out_what_happened_is_refuted():
    found = lines(tuned("sure", [-0.1, -math.inf, -0.1]), tuned("careful", [-9.0, -9.0, -9.0]))
    assert [(line.name, line.verdict) for line in found] == [("careful", "best"), ("sure", "refuted")]
    assert found[1].log_likelihood == found[1].difference == -math.inf
    assert found[1].log_loss == math.inf
    found = lines(tuned("b", [-math.inf, -1]), tuned("a", [-1, -math.inf]))
    assert [(line.name, line.verdict) for line in found] == [("a", "refuted"), ("b", "refuted")]


def test_means_over_splits():
    one = [
        tuned("x", [-1, -2], brier=0.1, top=0.5, loss=1.5),
        tuned("x", [-3, -4], brier=0.3, loss=2.0, influencers=None),
    ]
    (line,) = Comparison([one], [10, 5]).lines
    assert line.next_event_log_loss == 1.75
    assert line.log_likelihood == pytest.approx(-5, rel=1e-12)
    assert line.log_loss == pytest.approx((3 / 10 + 7 / 5) / 2, rel=1e-12)
    assert line.brier == pytest.approx(0.2, rel=1e-12)
    assert (line.top_1, line.n_influencers, line.seconds) == (0.5, 2.0, 3.0)


# ------------------------------------------------------------------ calibration


def test_reliability_and_calibration_error():
    bins = np.zeros((len(BINS) - 1, 3))
    bins[3] = 10, 0.6, 1
    bins[12] = 30, 28.5, 30
    result = Comparison([[tuned("x", [-1, -2], reliability=bins)]], [40])
    rows = result.reliability("x").to_frame("pyarrow").to_pylist()
    assert rows == [
        {"low": 0.05, "high": 0.1, "n": 10, "predicted": pytest.approx(0.06, rel=1e-12), "occurred": 0.1},
        {"low": 0.9, "high": 1.0, "n": 30, "predicted": pytest.approx(0.95, rel=1e-12), "occurred": 1.0},
    ]
    assert [list(row) for row in result.to_dict()["calibration"]["x"]] == [
        ["from", "to", "n", "predicted", "occurred"]
    ] * 2
    assert result.calibration_error("x") == pytest.approx((10 * 0.04 + 30 * 0.05) / 40, rel=1e-12)
    with pytest.raises(SettingError) as problem:
        Comparison([[tuned("bsumm", [-1, -2])]], [40]).reliability("bsum")
    assert str(problem.value) == "there is no contender 'bsum'; did you mean 'bsumm'?"


# ------------------------------------------------------------------ for programs and for reading


def mixed():
    return Comparison(
        [
            [tuned("careful", [-9.0, -8.0], top=0.25, loss=1.68)],
            [tuned("sure", [-0.1, -math.inf], loss=math.inf, influencers=None, dev=-math.inf)],
            [tuned("a|b", [-10.0, -9.5])],
        ],
        [20],
    )


def test_json_is_strict():
    document = json.loads(json.dumps(mixed().to_dict(), allow_nan=False))
    assert (document["format"], document["version"]) == ("summarkov-comparison", 1)
    assert (document["splits"], document["test_events"]) == (1, [20])
    by_name = {line["name"]: line for line in document["lines"]}
    assert [line["verdict"] for line in document["lines"]][0::2] == ["best", "refuted"]
    assert by_name["careful"]["log_likelihood"] == -17.0
    sure = by_name["sure"]
    assert [sure[name] for name in ("log_likelihood", "log_loss", "difference")] == [None] * 3
    assert sure["interval"] == [None, None]
    losses = {name: line["next_event_log_loss"] for name, line in by_name.items()}
    assert losses == {"careful": 1.68, "a|b": None, "sure": None}
    assert mixed().to_frame("pyarrow").column("next_event_log_loss").to_pylist() == [1.68, None, math.inf]
    assert document["targets"]["sure"] == [
        {
            "target": "a",
            "settings": {"alpha": 1},
            "dev_log_likelihood": None,
            "test_log_likelihood": None,
            "influencers": None,
            "split": 0,
        }
    ]
    assert document["calibration"] == {"careful": [], "a|b": [], "sure": []}


def test_the_table():
    sheet = mixed().summary()
    first, second, third = (dict(zip(sheet.head, row, strict=True)) for row in sheet.rows)
    assert first == {
        "model": "careful",
        "log-likelihood": "-17.00",
        "to the best (95% interval)": "",
        "log loss per event and label": "0.8500",
        "Brier": "0.1000",
        "calibration error": "0.0000",
        "log loss of the next event": "1.6800",
        "top 1": "25.0%",
        "top 3": "25.0%",
        "influencers": "2.0",
        "seconds": "1.5",
        "verdict": "best",
    }
    assert (second["model"], second["log-likelihood"], second["top 1"]) == ("a|b", "-19.50", "")
    assert second["to the best (95% interval)"].startswith("-2.50 (")
    assert (second["log loss of the next event"], third["log loss of the next event"]) == ("", "inf")
    assert (third["model"], third["log-likelihood"], third["to the best (95% interval)"]) == (
        *("sure", "-inf", "-inf"),
    )
    assert (third["log loss per event and label"], third["influencers"]) == ("inf", "")
    assert third["verdict"] == "refuted"
    in_ticks = Comparison([[tuned("x", [-1])]], [3], unit="tick").summary()
    assert "log loss per tick and label" in in_ticks.head


def test_settings_of_contenders_that_have_the_same_for_all_targets():
    def one(name, penalty):
        found = tuned(name, [-1.0, -2.0])
        settings = {"penalty": penalty, "learning_rate": 0.05, "rounds": 20}
        return replace(found, chosen=(replace(found.chosen[0], settings=settings),), one_for_all=True)

    joint = [one("joint", penalty) for penalty in (10.0, 300.0, 10.0)]
    other = [one("other", 1.0)] * 3
    result = Comparison([[tuned("each", [-1.0, -2.0])] * 3, joint, other], [5, 5, 5])
    settings = {"penalty": 10.0, "learning_rate": 0.05, "rounds": 20}
    assert result.settings == {
        "joint": [settings, {**settings, "penalty": 300.0}, settings],
        "other": [{**settings, "penalty": 1.0}] * 3,
    }
