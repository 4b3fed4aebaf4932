"""``--sets``: of which labels the next event is one, on the command line as in Python."""

import csv
import json

import numpy as np
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SHOP = web_shop()
DEV, TEST = SHOP.simulate(60, 8, seed=2), SHOP.simulate(30, 8, seed=3)
HISTORY = ["search", "add to cart"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Events and models of several kinds."""
    made = tmp_path_factory.mktemp("sets")
    train = SHOP.simulate(60, 8, seed=1)
    joint = sm.JointSuMM(penalty=10.0).fit(train)
    joint.save(made / "joint.json")
    sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(train).save(made / "graph.json")
    sm.BSuMM("search", lookback=2).fit(train).save(made / "one.json")
    sm.InfluenceGraph(sm.BSuMM(), targets=["search", "browse"]).fit(train).save(made / "some.json")
    sm.OutcomeModel(ends_with="browse").fit(train).save(made / "outcome.json")
    sm.write_events(DEV, made / "dev.jsonl")
    sm.write_events(DEV[:8], made / "few.jsonl")
    sm.write_events(TEST, made / "test.jsonl")
    sm.write_events(DEV.with_weights(np.arange(60) % 3), made / "weighted.csv")
    sm.write_events([["search", "no label of it"], *DEV.to_lists()], made / "other.jsonl")
    (made / "empty.jsonl").write_text('{"id": "a", "events": []}\n')
    return made


def run(folder, *arguments):
    """Run the command in the folder, 80 columns wide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner(env={"COLUMNS": "80"}).invoke(app, [*map(str, arguments)])


def printed(folder, *arguments):
    """What it prints, in one line."""
    found = run(folder, *arguments)
    assert found.exit_code == 0, found.output
    assert max(map(len, found.stdout.splitlines())) <= 80
    return " ".join(found.stdout.split())


def as_json(folder, *arguments):
    found = run(folder, *arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


AFTER = ("--after", "search", "--after", "add to cart")


@pytest.mark.parametrize("kind", ["joint", "graph"])
def test_the_set_after_a_history(folder, kind):
    model = sm.load(folder / f"{kind}.json")
    sets = sm.LabelSets(model, 0.6).fit(DEV)
    (expected,) = sets.predict_next([HISTORY])
    asked = ("predict", f"{kind}.json", *AFTER, "--sets", "dev.jsonl", "--coverage", 0.6)
    told = as_json(folder, *asked)
    assert told["sets"] == {
        "coverage": 0.6,
        "threshold": sets.threshold_,
        "file": "dev.jsonl",
        "sequences": 60,
        "labels": list(expected.labels),
    }
    assert len(told["next"]) == 10
    text = printed(folder, *asked)
    names = ", ".join(expected.labels)
    assert 1 < len(expected.labels) < 10
    assert f"one of these {len(expected.labels)}, with 60% promised: {names} The promise of 60% is" in text
    assert (
        "about an event drawn at random from a new sequence, if new sequences come about as those of "
        "dev.jsonl did. It was calibrated on 60 sequences." in text
    )
    assert "promise" not in printed(folder, *asked[:-4])
    assert "sets" not in as_json(folder, *asked[:-4])


def test_one_label_is_this_one(folder):
    text = printed(folder, "predict", "joint.json", *AFTER, "--sets", "dev.jsonl", "--coverage", 0.05)
    assert "The next event is this one, with 5% promised: browse The promise" in text


def test_the_usual_promise_is_nine_of_ten(folder):
    assert as_json(folder, "predict", "joint.json", *AFTER, "--sets", "dev.jsonl")["sets"]["coverage"] == 0.9


def test_the_set_of_a_case(folder):
    sets = sm.LabelSets(sm.load(folder / "joint.json")).fit(DEV)
    told = as_json(folder, "predict", "joint.json", "test.jsonl", "--why", "3", "--sets", "dev.jsonl")
    assert told["sets"]["labels"] == list(sets.predict_next(TEST[3])[0].labels)


def test_every_row_of_a_file_has_its_set(folder):
    sets = sm.LabelSets(sm.load(folder / "graph.json"), 0.7).fit(DEV)
    expected = [each.labels for x in TEST.to_lists() for each in sets.predict_next([x[:n] for n in range(8)])]
    asked = ("predict", "graph.json", "test.jsonl", "--sets", "dev.jsonl", "--coverage", 0.7)
    told = as_json(folder, *asked)
    assert [tuple(row["set"]) for row in told["rows"]] == expected
    assert told["sets"]["threshold"] == sets.threshold_
    saved = as_json(folder, *asked, "-o", "p.csv", "--engine", "stream")
    assert (saved["columns"][-1], saved["sets"]["sequences"]) == ("set", 60)
    with open(folder / "p.csv", newline="") as file:
        assert [row["set"] for row in csv.DictReader(file)] == [", ".join(labels) for labels in expected]
    assert "It was calibrated on 60" in printed(folder, *asked, "-o", "p.jsonl")
    lines = (folder / "p.jsonl").read_text().splitlines()
    assert [tuple(json.loads(line)["set"]) for line in lines] == expected
    assert printed(folder, *asked, "-o", "p.parquet").startswith("Saved 240 rows")
    assert [tuple(each) for each in parquet.read_table(folder / "p.parquet")["set"].to_pylist()] == expected


def test_the_first_rows_show_their_sets(folder):
    sets = sm.LabelSets(sm.load(folder / "graph.json"), 0.3).fit(DEV)
    found = run(folder, "predict", "graph.json", "test.jsonl", "--sets", "dev.jsonl", "--coverage", 0.3)
    first = found.stdout.splitlines()[1]
    assert first.rstrip().endswith(f"%  {', '.join(sets.predict_next([[]])[0].labels)}")
    assert "The promise of 30% is about an event" in found.stdout


def test_weights_of_sequences_count(folder):
    sets = sm.LabelSets(sm.load(folder / "joint.json")).fit(DEV.with_weights(np.arange(60) % 3))
    asked = ("predict", "joint.json", *AFTER, "--sets", "weighted.csv", "--weight", "weight")
    told = as_json(folder, *asked)["sets"]
    assert (told["threshold"], told["sequences"]) == (sets.threshold_, 60)
    assert sets.threshold_ != sm.LabelSets(sets.model).fit(DEV).threshold_


def test_what_sets_hold_is_measured(folder):
    sets = sm.LabelSets(sm.load(folder / "joint.json"), 0.8).fit(DEV)
    asked = ("evaluate", "joint.json", "test.jsonl", "--sets", "dev.jsonl", "--coverage", 0.8)
    told = as_json(folder, *asked)["sets"]
    assert (told["held"], told["mean_size"]) == (sets.held(TEST), sets.mean_size(TEST))
    assert (
        f"Sets with 80% promised held {100 * sets.held(TEST):.1f}% of the events, each sequence counting "
        f"once, and have {sets.mean_size(TEST):.1f} of 10 labels on average. The promise of 80% is about"
    ) in printed(folder, *asked)
    assert "sets" not in as_json(folder, *asked[:-4])


def test_with_too_few_sequences_every_set_is_all_labels(folder):
    asked = ("predict", "joint.json", *AFTER, "--sets", "few.jsonl")
    told = (
        "Every set is all labels: to promise 90% takes 9 sequences, and few.jsonl has 8 sequences with "
        "events; give more, or a smaller --coverage."
    )
    assert told in printed(folder, *asked)
    assert "promised:" not in printed(folder, *asked)
    assert len(as_json(folder, *asked)["sets"]["labels"]) == 10
    assert told in printed(folder, "evaluate", "joint.json", "test.jsonl", "--sets", "few.jsonl")


def test_labels_that_are_not_known_can_pass(folder):
    sets = sm.LabelSets(sm.load(folder / "joint.json"), 0.5)
    sets.fit([["search", "no label of it"], *DEV.to_lists()], unknown="ignore")
    asked = ("predict", "joint.json", *AFTER, "--sets", "other.jsonl", "--coverage", 0.5)
    told = as_json(folder, *asked, "--unknown", "ignore")["sets"]
    assert (told["threshold"], told["sequences"]) == (sets.threshold_, 61)


SETS = ("--sets", "dev.jsonl")
ALL_LABELS = "--sets is for models of all labels: a graph, or a model of --model joint"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("predict", "joint.json", *AFTER, "--sets", "no.jsonl"),
            "there is no file no.jsonl; check the path",
        ),
        (
            ("predict", "joint.json", *AFTER, "--sets", "other.jsonl"),
            "--unknown ignore lets such labels pass",
        ),
        (("predict", "joint.json", *AFTER, "--sets", "empty.jsonl"), "no events to find the threshold from"),
        (("predict", "joint.json", *AFTER, *SETS, "--coverage", 1), "coverage must be a number above 0 and"),
        (("predict", "joint.json", *AFTER, *SETS, "--coverage", 0), "coverage must be a number above 0 and"),
        (("predict", "joint.json", *AFTER, "--coverage", 0.5), "--coverage goes with --sets FILE"),
        (("evaluate", "joint.json", "test.jsonl", "--coverage", 0.5), "--coverage goes with --sets FILE"),
        (("predict", "one.json", *AFTER, *SETS), ALL_LABELS),
        (("predict", "some.json", *AFTER, *SETS), ALL_LABELS),
        (("predict", "outcome.json", "test.jsonl", *SETS), ALL_LABELS),
        (("evaluate", "one.json", "test.jsonl", *SETS), ALL_LABELS),
        (("predict", "joint.json", "test.jsonl", *SETS, "-o", "dev.jsonl"), "it is read here, and would be"),
        (("evaluate", "joint.json", "test.jsonl", *SETS, "--engine", "stream"), "add --engine memory"),
    ],
)
def test_what_cannot_be_says_what_to_do(folder, arguments, message):
    found = run(folder, *arguments)
    assert found.exit_code == 2
    assert message in " ".join(found.output.split())
