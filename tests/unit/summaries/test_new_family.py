"""A new family of models is one file: a summary and its estimator. All the rest of the package takes it."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import StoreError
from summarkov.models import SummaryModel
from summarkov.models.model import SearchedModel
from summarkov.show.content import content
from summarkov.summaries import Names, Summary

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

# What a contributor writes, and nothing else. ----------


@dataclass(frozen=True)
class LatestSummary(Summary):
    """Which influencer occurred last within the last ``lookback`` events: |U| + 1 states."""

    lookback: int = 5

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return n_influencers + 1

    def encode(self, index: Any, influencers: Sequence[int], labels: Sequence[str]) -> tuple[Any, Any]:
        place = {code: number for number, code in enumerate(influencers, start=1)}
        states = []
        for start, stop in itertools.pairwise(index.offsets.tolist()):
            codes = index.codes[start:stop].tolist()
            for end in range(len(codes)):
                recent = reversed(codes[max(0, end - self.lookback) : end])
                states.append(next((place[code] for code in recent if code in place), 0))
        keys, ids = np.unique(np.array(states, np.int32), return_inverse=True)
        return ids, keys[:, None]

    def state(self, key: Sequence[int], names: Names) -> str | None:
        return names.influencers[key[0] - 1] if key[0] else None

    def words(self, key: Sequence[int], names: Names) -> str:
        return f"{names.influencers[key[0] - 1]} last" if key[0] else "none of them"

    @property
    def horizon(self) -> int | None:
        return self.lookback

    def key_width(self, n_influencers: int) -> int:
        return 1


@pytest.fixture(scope="module")
def family():
    """The estimator; it is forgotten after the tests, because others list all families."""

    @dataclass(eq=False, repr=False)
    class LatestSuMM(SearchedModel):
        """Summary Markov model of the influencer that occurred last."""

        command_name: ClassVar[str | None] = "latest"

        _: KW_ONLY
        lookback: int = 5

        def make_summary(self) -> Summary:
            return LatestSummary(self.lookback)

    yield LatestSuMM
    del SummaryModel.families["LatestSuMM"]


# What it can do then. ----------

SEQUENCES = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B", "A", "B"], ["C", "B", "A", "B"]] * 10


def test_it_is_learned_and_predicts(family):
    graph = sm.InfluenceGraph(family(lookback=2)).fit(SEQUENCES)
    model = graph.models_["B"]
    assert model.influencers_ == ("A", "B", "C")
    assert [(row.state, row.n, row.words) for row in model.table_] == [
        (None, 30.0, "none of them"),
        ("A", 50.0, "A last"),
        ("B", 30.0, "B last"),
        ("C", 40.0, "C last"),
    ]
    assert sum(row.counts[0] for row in model.table_) == 60.0
    assert model.explain(["C", "A"]).words == "A last"
    assert graph.predict_next([["C", "A"]]).most_likely == ("B",)
    assert graph.predict_proba(SEQUENCES).sum(axis=1) == pytest.approx(1.0)


def test_every_way_to_cut_the_data_finds_the_same(family, tmp_path):
    sm.write_events(sm.read_events(SEQUENCES), tmp_path / "events.jsonl")
    whole = family("B", lookback=2).fit(SEQUENCES)
    threads = family("B", lookback=2, n_jobs=3).fit(SEQUENCES)
    with sm.scan_events(tmp_path / "events.jsonl") as source:
        streamed = family("B", lookback=2).fit(source)
    assert whole.to_document() == threads.to_document() == streamed.to_document()


def test_it_is_saved_and_loaded(family, tmp_path):
    graph = sm.InfluenceGraph(family(lookback=2)).fit(SEQUENCES)
    graph.save(tmp_path / "graph.json")
    again = sm.load(tmp_path / "graph.json")
    assert isinstance(again.models_["B"], family)
    assert again.to_document() == graph.to_document()
    document = json.loads((tmp_path / "graph.json").read_text())
    assert document["targets"][1]["states"][1]["state"] == [1]
    del document["checksum"]
    for state, told in (
        ([-1], r": expected a list of 1, each a whole number from 0 "),
        ([1, 2], r": expected a list of 1, each"),
    ):
        document["targets"][1]["states"][1]["state"] = state
        (tmp_path / "graph.json").write_text(json.dumps(document))
        with pytest.raises(StoreError, match=r"states\[1\]\.state" + told):
            sm.load(tmp_path / "graph.json")


def test_it_has_a_page(family):
    graph = sm.InfluenceGraph(family(lookback=2)).fit(SEQUENCES)
    page = content(graph)
    target = {key: column[1] for key, column in page["targets"].items()}
    assert page["summaries"][target["summary"]] == {"kind": "own"}
    assert page["states"][target["states"]]["words"] == ["none of them", "A last", "B last", "C last"]
    assert "<html" in graph.to_html()


def test_the_command_line_takes_it(family, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sm.write_events(sm.read_events(SEQUENCES), "events.jsonl")
    learn = ["learn", "events.jsonl", "--model", "latest", "--lookback", "2", "-o", "graph.json"]
    shown = ["show", "graph.json", "--target", "B"]
    for arguments in (learn, shown):
        found = CliRunner().invoke(app, arguments)
        assert (found.exit_code, found.stderr) == (0, "")
    assert "A last" in found.stdout
    assert sm.load("graph.json").models_["B"].influencers_ == ("A", "B", "C")
    wrong = CliRunner().invoke(app, [*learn[:3], "lastest"])
    assert "--model must be one of bsumm, " in wrong.stderr
    assert "did you mean 'latest'?" in wrong.stderr
