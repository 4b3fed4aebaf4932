"""``summarkov predict --why``: one case of a file is explained with its times, ticks and attributes."""

import json

import pytest

import summarkov as sm
from commands import run

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

READING = ("--order-by", "at", "--times", "--ties", "together", "--attribute", "region")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Pain follows a dose within 6 hours, in the north alone; food comes along with some doses."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    lines = ["case,event,at,region"]
    for number in range(40):
        region = "north" if number % 2 else "south"
        for hour, event in (
            (0, "dose"),
            (0, "food"),
            (5, "pain" if region == "north" else "walk"),
            (20, "walk"),
        ):
            lines.append(f"c{number},{event},2026-01-{number % 9 + 1:02}T{hour:02}:00,{region}")
        lines.append(f"c{number},dose,2026-01-{number % 9 + 1:02}T21:00,{region}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_one_case_is_explained_as_in_python(log, tmp_path):
    saved = tmp_path / "graph.json"
    run("learn", log, *READING, "--lookback", "6h", "--no-order-test", "-o", saved)
    found = run("predict", saved, log, *READING, "--why", "c1", "-t", "pain", "--json")
    told = json.loads(found.stdout)
    assert (told["case"], told["attributes"]) == ("c1", ["region=north"])
    assert told["after"] == [["dose", "food"], ["pain"], ["walk"], ["dose"]]
    events = sm.read_events(
        log, case="case", event="event", order_by="at", times=True, ties="together", attributes=["region"]
    )
    why = sm.load(saved).explain(events[events.ids.index("c1")], "pain")
    assert told["next"][0]["probability"] == why.probability
    assert told["next"][0]["words"] == why.words
    printed = run("predict", saved, log, *READING, "--why", "c1", "-t", "pain").stdout
    assert printed.splitlines()[:2] == ["History in c1: dose + food, pain, walk, dose", "region=north"]
    assert "  dose just before" in printed.splitlines()
    everything = json.loads(run("predict", saved, log, *READING, "--why", "c1", "--json").stdout)["next"]
    assert sorted(each["target"] for each in everything) == ["dose", "food", "pain", "walk"]
