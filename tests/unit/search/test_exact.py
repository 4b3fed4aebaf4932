"""Exact search: what it finds that greedy does not, what it proves, and what it refuses."""

import importlib
import io
import json
import pickle

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.engines import MemorySource, StatesRequest
from summarkov.errors import StoreError, TooLargeError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def exclusive_or(n=400, seed=3):
    """X is likely after one of A and B, and not after both or none: neither alone tells anything."""
    rng, sequence = np.random.default_rng(seed), []
    for _ in range(n):
        past = sequence[-2:]
        likely = 0.75 if ("A" in past) != ("B" in past) else 0.05
        sequence.append("X" if rng.random() < likely else str(rng.choice(list("ABCD"))))
    return sm.read_events([sequence])


@pytest.fixture(scope="module")
def fitted():
    return sm.BSuMM("X", lookback=2, search="exact").fit(exclusive_or())


def test_it_finds_an_exclusive_or(fitted):
    greedy = sm.BSuMM("X", lookback=2).fit(exclusive_or())
    assert fitted.influencers_ == ("A", "B")
    certificate = fitted.trace_.certificate
    assert certificate.is_optimal
    assert certificate.gap == 0
    assert certificate.bound == fitted.score_
    assert certificate.examined + certificate.pruned == 2**5
    assert certificate.open == 0
    assert certificate.greedy == greedy.influencers_
    assert certificate.greedy_gap == max(0.0, fitted.score_ - greedy.score_)
    assert not fitted.trace_  # no label was added after the other
    assert greedy.trace_.certificate is None


def test_counts_beyond_what_floats_hold():
    events = exclusive_or(5000)
    heavy = sm.BSuMM("X", lookback=2, search="exact").fit(events, sample_weight=[2**42 - 1])
    light = sm.BSuMM("X", lookback=2, search="exact").fit(events)
    assert int(heavy.fitted.table.counts.sum()) == 5000 * (2**42 - 1) > 2**53
    assert set(light.influencers_) <= set(heavy.influencers_)
    names = [heavy.labels_.index(z) for z in heavy.influencers_]
    request = StatesRequest(heavy.fitted.summary, tuple(names), heavy.fitted.target)
    (counted,) = MemorySource(events, sample_weight=[2**42 - 1]).count([request])
    assert np.array_equal(heavy.fitted.table.counts, counted.counts)


def test_ties_go_to_the_smaller_set_then_to_the_first():
    """To X, B and C are the same; D never comes."""
    events = sm.EventSequences.from_lists([["B", "X"], ["C", "X"], ["A", "A"]] * 10, labels=list("ABCDX"))
    one = sm.BSuMM("X", lookback=1, search="exact", max_sets=None, max_influencers=1)
    assert one.copy().fit(events).influencers_ == ("B",)
    assert one.copy(candidates=["C", "D"]).fit(events).influencers_ == ("C",)
    assert one.copy(candidates=["D"], gamma=0).fit(events).influencers_ == ()
    assert one.copy(max_influencers=None, gamma=0).fit(events).influencers_ == ("B", "C")


def test_a_stopped_search():
    model = sm.BSuMM("X", lookback=2, gamma=0.1, false_edges=None, search="exact", max_sets=6).fit(
        exclusive_or()
    )
    certificate = model.trace_.certificate
    assert not certificate.is_optimal
    assert certificate.examined == 6
    assert certificate.open > 0
    assert certificate.gap > 0
    best = sm.BSuMM("X", lookback=2, gamma=0.1, false_edges=None, search="exact").fit(exclusive_or()).score_
    assert model.score_ <= best <= certificate.bound
    assert certificate.bound == pytest.approx(model.score_ + certificate.gap, rel=1e-12)


def test_a_limit_that_is_just_enough():
    for gamma in (0.1, 0.5, 1.0):
        model = sm.BSuMM("X", lookback=2, gamma=gamma, search="exact", max_sets=None).fit(exclusive_or())
        complete = model.trace_.certificate
        enough = model.copy(max_sets=complete.examined).fit(exclusive_or()).trace_.certificate
        assert enough == complete
        fewer = model.copy(max_sets=complete.examined - 1).fit(exclusive_or()).trace_.certificate
        assert fewer.examined < complete.examined
        assert not fewer.is_optimal


def test_too_many_candidates(monkeypatch):
    monkeypatch.setattr(importlib.import_module("summarkov.search.exact"), "_MOST_CELLS", 100)
    with pytest.raises(TooLargeError, match="the states of 5 candidates together may be too many") as caught:
        sm.BSuMM("X", lookback=2, search="exact").fit(exclusive_or())
    assert "candidates=" in str(caught.value)
    few = sm.BSuMM("X", lookback=2, search="exact", candidates=["A", "B"]).fit(exclusive_or())
    assert few.influencers_ == ("A", "B")


# ---------------------------------------------------------------------------------- stored


def test_a_certificate_is_stored(tmp_path, fitted):
    fitted.save(tmp_path / "m.json")
    again = sm.load(tmp_path / "m.json")
    assert again.trace_ == fitted.trace_
    assert again.trace_.certificate == fitted.trace_.certificate
    assert again.max_sets == 100_000
    assert pickle.loads(pickle.dumps(fitted.trace_)).certificate == fitted.trace_.certificate
    document = fitted.to_document()
    document["targets"][0]["certificate"]["greedy"] = ["Z"]
    with pytest.raises(StoreError, match=r"targets\[0\]\.certificate.*: expected"):
        sm.load(io.StringIO(json.dumps(document)))


def test_more_sets_than_there_are_atoms(tmp_path):
    labels = [f"z{i:03}" for i in range(200)]
    events = sm.EventSequences.from_lists([["z000", "z001"] * 20], labels=labels)
    model = sm.BSuMM("z000", lookback=1, gamma=1e-6, search="exact", max_sets=500).fit(events)
    model.save(tmp_path / "m.json")
    certificate = sm.load(tmp_path / "m.json").trace_.certificate
    assert certificate == model.trace_.certificate
    assert certificate.examined + certificate.pruned + certificate.open == 2**200


# ---------------------------------------------------------------------------------- command line


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    exclusive_or_lines = [json.dumps(list(sequence)) for sequence in exclusive_or()]
    (tmp_path / "events.jsonl").write_text("\n".join(exclusive_or_lines))

    def call(*arguments):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert all(len(line) <= 80 for line in result.stdout.splitlines()) or "--json" in arguments
        return result.stdout

    return call


def test_the_command_line_says_what_is_proved(run):
    learn = ("learn", "events.jsonl", "-t", "X", "--lookback", "2", "--search", "exact")
    text = " ".join(run(*learn, "-o", "m.json").split())
    assert "Exact search: for 1 of 1 label no other influencers score better" in text
    document = json.loads(run("show", "m.json", "--json"))
    assert document["certificate"]["is_optimal"] is True
    assert document["certificate"]["examined"] + document["certificate"]["pruned"] == 32
    stopped = " ".join(run(*learn, "--set", "max_sets=6", "--gamma", "0.1").split())
    assert "for 0 of 1 label no other influencers score better; for the rest none score" in stopped
    assert "(6 sets scored)" in stopped
    assert "certificate" not in json.loads(run("learn", "events.jsonl", "-t", "X", "--json"))
    text = " ".join(run("learn", "events.jsonl", "--lookback", "2", "--search", "exact").split())
    assert "Exact search: for 5 of 5 labels no other influencers score better" in text
    stopped = run("learn", "events.jsonl", "--search", "exact", "--set", "max_sets=2", "--gamma", "0.1")
    assert "Exact search: for 0 of 5 labels" in " ".join(stopped.split())
    targets = json.loads(run("learn", "events.jsonl", "--search", "exact", "--json"))["targets"]
    assert [target["certificate"]["open"] for target in targets] == [0] * 5
