"""Whether looking back over positions tells another story than looking back in time."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.engines import make_source
from summarkov.engines.surveys import positions_within
from summarkov.models.stability import by_position
from summarkov.settings import Duration


def world(lookback, n=120):
    """Pain follows a dose within some hours, or positions; steps are of 1 to 5 hours."""
    rng, rows = np.random.default_rng(3), []
    for case in range(n):
        doses, time = [], np.datetime64("2026-01-01", "s")
        for place in range(20):
            time += np.timedelta64(3600 * rng.integers(1, 6), "s")
            far = [
                (time - then) / np.timedelta64(1, "h") if lookback == "8h" else place - at
                for then, at in doses
            ]
            p = 0.6 if any(d <= int(str(lookback)[0]) for d in far) else 0.02
            event = rng.choice(["dose", "pain", "walk"], p=[0.2, p, 0.8 - p])
            doses += [(time, place)] if event == "dose" else []
            rows.append((case, str(time), event))
    columns = dict(zip(("case", "time", "event"), zip(*rows, strict=True), strict=True))
    return sm.read_events(pa.table(columns), order="time", times=True, ends="cut off")


def test_positions_in_a_time_are_counted():
    events = world("8h", 30)
    times = events.times.reshape(30, 20).tolist()
    pairs = sum(
        0 < b - a <= 8 * 3600 * 10**9 // events.time_unit.size
        for row in times
        for at, b in enumerate(row)
        for a in row[:at]
    )
    assert positions_within(make_source(events), Duration.of("8h", "lookback")) == round(pairs / 600) == 2


@pytest.mark.parametrize(("truth", "sign"), [("8h", 1), (2, -1)])
def test_the_true_kind_of_window_fits_better(truth, sign):
    events = world(truth)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback="8h")).fit(events)
    story = by_position(graph, events)
    again = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events)
    scores = [sum(model.score_ for model in each.models_.values()) for each in (graph, again)]
    assert story.lookback == 2
    assert story.gain == pytest.approx(scores[0] - scores[1])
    assert story.gain * sign > 5
    assert story.differs
    assert f"time scores {'better' if sign > 0 else 'worse'} by {abs(story.gain):,.1f}" in str(story)
    assert by_position(again, events) is None


def test_learn_says_so(tmp_path):
    log = tmp_path / "log.csv"
    sm.write_events(world("8h"), log)
    asked = ["learn", str(log), "--order-column", "time", "--times", "-t", "pain", "--lookback", "8h"]
    found = CliRunner().invoke(app, [*asked, "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)["by_position"]
    assert (told["lookback"], told["differs"]) == (2, True)
    assert "the story is another" in " ".join(CliRunner().invoke(app, asked).stdout.split())
