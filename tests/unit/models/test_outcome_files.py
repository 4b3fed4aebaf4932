"""Models of outcomes in files: equal after reading, and refused where a file does not hold together."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, StoreError
from summarkov.events.attributes import Attributes


def cases(n=300):
    rng = np.random.default_rng(5)
    sequences = [[f"e{j}" for j in rng.integers(0, 6, rng.integers(1, 12))] for _ in range(n)]
    return sequences, ["bad" if rng.random() < (0.8 if "e1" in s else 0.1) else "good" for s in sequences]


def again(model):
    file = io.StringIO()
    model.save(file)
    file.seek(0)
    return sm.load(file)


@pytest.mark.parametrize(
    "template",
    [
        None,
        sm.BSuMM(lookback=3, delay=1, search="exact"),
        sm.OSuMM(lookback=None, mask="first"),
        sm.CSuMM(lookback=None, cap=3, forbidden=["e2"]),
        sm.TreeSuMM(candidates=["e1", "e3"]),
    ],
    ids=["default", "exact", "order", "counts", "tree"],
)
def test_what_is_read_is_what_was_saved(template):
    sequences, y = cases()
    model = sm.OutcomeModel(template, value="bad").fit(sequences, y)
    read = again(model)
    assert read.to_document() == model.to_document()
    assert read.name_ == "outcome=bad"
    assert read.influences_ == model.influences_
    assert read.table_.to_frame("pyarrow") == model.table_.to_frame("pyarrow")
    for after in (None, 0, 3):
        assert read.open_table(after).to_frame("pyarrow") == model.open_table(after).to_frame("pyarrow")
    assert np.array_equal(read.predict_open(sequences), model.predict_open(sequences))
    assert np.array_equal(read.predict_ended(sequences), model.predict_ended(sequences))
    assert read.explain(["e1", "e2"]) == model.explain(["e1", "e2"])


def test_settings_are_those_of_the_template():
    sequences, y = cases()
    template = sm.CSuMM(lookback=4, forbidden=["e2"])
    read = again(sm.OutcomeModel(template, value="bad").fit(sequences, y))
    assert repr(read.model) == "CSuMM(forbidden=('e2',), lookback=4)"
    told = again(sm.OutcomeModel(ends_with="e1", after=2).fit(sequences))
    n = sum(len(s) < 2 for s in sequences)
    assert (told.ends_with, told.after, told.left_out_) == ("e1", 2, {"ended before event 2": n})
    told = again(sm.OutcomeModel(contains="e1").fit(sequences))
    assert (told.contains, told.model.forbidden, told.left_out_) == ("e1", ("e1",), {})
    assert told.predictions([["e1"], ["e2"]]).already_reached.tolist() == [True, False]


def test_a_moment_in_time_comes_back():
    rows = {"case": [i // 3 for i in range(300)], "event": list("abc") * 100, "time": [*range(300)]}
    events = sm.read_events(rows, case="case", event="event", order_by="time", times=True)
    y = ["x" if i % 4 else "y" for i in range(100)]
    read = again(sm.OutcomeModel(value="x", after="2 units").fit(events, y))
    assert (read.after, read.left_out_, read.table_[0].n) == ("2", {}, 100)


def test_files_from_before_outcomes_were_about_whole_cases_are_refused(tmp_path: Path):
    sequences, y = cases()
    document = sm.OutcomeModel(value="bad").fit(sequences, y).to_document()
    del document["open_cases"]
    document |= {"left_out": 0, "open": []}
    (tmp_path / "old.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match=r"before outcomes were about whole cases.*learn it again with"):
        sm.load(tmp_path / "old.json")


def test_ticks_attributes_times_and_weights_come_back():
    events = sm.read_events([[["a", "b"], ["c"]], [["a"], ["b"]], [["c"]]] * 40)
    region = np.arange(120) % 2 == 0
    events = events.with_attributes(Attributes(["r=n", "r=s"], np.column_stack([region, ~region])))
    y = ["x" if north else "y" for north in region]
    weights = np.linspace(0.5, 1.5, 120)
    model = sm.OutcomeModel(value="x").fit(events, y, sample_weight=weights)
    read = again(model)
    assert read.influencers_ == model.influencers_ == ("r=n",)
    assert np.array_equal(read.predict_open(events), model.predict_open(events))
    assert read.base_rate_ == pytest.approx(weights[region].sum() / weights.sum(), abs=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["outcome"].update(name="outcome=bad: no"),
            "and not its opposite",
        ),
        (lambda d: d["outcome"].update(after=0), "a whole number >= 1"),
        (lambda d: d["open_cases"]["after"].reverse(), "moments 'after' in order, each once, from 0 on"),
        (lambda d: d["open_cases"]["states"][0]["counts"][0].pop(), "numbers of shape 2 by 12 by 2"),
        (lambda d: d["open_cases"].update(after=[*range(99)]), "numbers of shape 2 by 99 by 2"),
        (lambda d: d["data"].pop("outcomes"), "numbers of shape 2 by 3"),
        (lambda d: d["data"].update(outcomes=["e0"]), "two 'outcomes' or none"),
        (lambda d: d["data"].update(outcomes=["e0", "e1"]), "expected the target e0, e1"),
        (lambda d: d.update(left_out={"no outcome known": -1}), "a whole number >= 0"),
        (lambda d: d.update(overall_rate=7), "a number <= 1"),
        (lambda d: d.update(kind="BSuMM", checksum="sha256:0"), "checksum does not fit"),
    ],
)
def test_files_that_do_not_hold_together_are_refused(tmp_path: Path, change, message):
    sequences, y = cases()
    path = tmp_path / "model.json"
    sm.OutcomeModel(value="bad").fit(sequences, y).save(path)
    document = json.loads(path.read_text())
    del document["checksum"]
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(StoreError, match=message):
        sm.load(path)


def test_an_outcome_influences_nothing():
    sequences, y = cases()
    model = sm.OutcomeModel(sm.BSuMM(lookback=None, required=["outcome=bad"]), value="bad")
    with pytest.raises(SettingError, match="'outcome=bad' is both required and forbidden"):
        model.fit(sequences, y)
