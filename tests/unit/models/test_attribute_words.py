"""Attributes hold all along: whatever is said of them names no look-back, and no number of times."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.events.attributes import Attributes

OPIOID = "opioid"


@pytest.fixture(scope="module")
def stays():
    """In ward a, nausea is more likely, and more so just after an opioid."""
    rng, sequences = np.random.default_rng(3), []
    in_a = rng.random(150) < 0.5
    for ward in in_a:
        sequence = []
        for _ in range(12):
            p = 0.7 if ward and sequence[-1:] == [OPIOID] else 0.4 if ward else 0.08
            others = ["opioid", "meal", "walk"]
            sequence.append("nausea" if rng.random() < p else others[rng.integers(3)])
        sequences.append(sequence)
    held = Attributes(["ward=a", "ward=b"], np.column_stack([in_a, ~in_a]))
    return sm.read_events(sequences).with_attributes(held)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sm.BSuMM("nausea", lookback="auto"), "opioid just before, ward=a"),
        (sm.CSuMM("nausea", lookback={OPIOID: 1}, required=[OPIOID]), "opioid just before x1, ward=a"),
        (sm.TreeSuMM("nausea"), "ward=a, opioid just before"),
    ],
    ids=["auto", "counts", "tree"],
)
def test_states_name_attributes_alone(stays, model, words, tmp_path):
    fitted = model.fit(stays)
    told = [row.words for row in fitted.table_]
    assert words in told
    assert re.findall(r"ward=a [^,]+", str(fitted.table_).replace("  ", ",")) == []
    path = tmp_path / "model.json"
    fitted.save(path)
    assert [row.words for row in sm.load(path).table_] == told
    assert str(fitted.explain(stays[:1])) == str(sm.load(path).explain(stays[:1]))


def test_the_page_and_the_command_line_name_attributes_alone(stays, tmp_path):
    model, path = sm.BSuMM("nausea", lookback="auto").fit(stays), tmp_path / "model.json"
    (where,) = re.findall(r'"where":(\[[^]]*\])', model.to_html())
    assert json.loads(where) == ["just before", ""]
    tree = sm.TreeSuMM("nausea").fit(stays)
    (asks,) = re.findall(r'"asks":(\[[^]]*\])', tree.to_html())
    code = tree.labels_.index("ward=a")
    assert json.loads(asks)[0] == f"\x01{code}\x02"
    model.save(path)
    shown = CliRunner().invoke(app, ["show", str(path)]).output
    assert re.search(r"\+ ward=a +→ nausea +\d+%", shown)
    assert re.search(r"\+ opioid +→ nausea +1 +\d", shown)
    assert "ward=a just before" not in shown
