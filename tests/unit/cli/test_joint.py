"""A joint model's file on the command line: it predicts a file, and the rest is said to be for Python."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.simulate.example import web_shop


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder with a joint model and events, and the model."""
    folder = tmp_path_factory.mktemp("joint")
    events = web_shop().simulate(20, 6, seed=1)
    model = sm.JointSuMM(penalty=10.0).fit(events)
    model.save(folder / "joint.json")
    sm.write_events(events, folder / "events.jsonl")
    return folder, model, events


def test_it_predicts_a_file(saved):
    folder, model, events = saved
    arguments = [
        "predict",
        str(folder / "joint.json"),
        str(folder / "events.jsonl"),
        "-o",
        str(folder / "p.csv"),
    ]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    with open(folder / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [float(row["p(search)"]) for row in rows]
    np.testing.assert_allclose(
        found, model.predict_proba(events)[:, model.outcomes_.index("search")], rtol=1e-9
    )


@pytest.mark.parametrize("command", ["show", "report", "export"])
def test_other_commands_say_what_to_do(saved, command):
    folder, _, _ = saved
    rest = ["-o", str(folder / "out.html" if command == "report" else folder / "out.dot")]
    arguments = [command, str(folder / "joint.json"), *([] if command == "show" else rest)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert "holds a joint model" in str(result.exception) + result.output
