"""A saved model is applied to events that are read as those were that it was learned from."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import summarkov as sm
from commands import printed
from summarkov.cli.page import plain
from summarkov.read.case_attributes import cuts_of

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def write_log(path: Path, seed: int, n: int = 120) -> None:
    """Cases with ticks, times, a region and an age; 'dose' makes 'relief' likely for six hours."""
    rng = random.Random(seed)
    rows = ["case,time,event,region,age"]
    for case in range(n):
        region, age = rng.choice(("north", "south")), rng.randint(20, 90)
        minute, dose = 0, -1000
        for _ in range(12):
            minute += rng.randint(60, 500)
            event = "relief" if minute - dose <= 360 and rng.random() < 0.7 else rng.choice("xyz")
            if rng.random() < 0.3:
                event, dose = "dose", minute
            day, hour = divmod(minute, 1440)
            stamp = f"2024-01-{1 + day:02d}T{hour // 60:02d}:{hour % 60:02d}:00"
            labels = (event, "aside")[: rng.randint(1, 2)]
            rows += [f"{case},{stamp},{each},{region},{age}" for each in labels]
    path.write_text("\n".join(rows) + "\n")


READ = ("--ties", "together", "--times", "--attribute", "region", "--attribute", "age")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("applied")
    write_log(folder / "log.csv", 0)
    write_log(folder / "new.csv", 1)
    arguments = ("learn", folder / "log.csv", *READ, "--lookback", "1h,6h,1d", "--no-order-test", "--all")
    (folder / "told.txt").write_text(printed(*arguments, "-o", folder / "model.json", columns=100))
    return folder


def test_ticks_attributes_and_times_are_told_apart(folder: Path) -> None:
    told = (folder / "told.txt").read_text()
    events = sm.read_events(folder / "log.csv", ties="together", times=True, attributes=["region", "age"])
    assert events.moments is not None
    n_ticks = int(events.moments.starts.sum())
    first = (
        f"among 6 event types and 6 values of attributes, learned from 120 cases with {n_ticks:,} ticks of"
    )
    assert f"{first} {events.n_events:,} events" in " ".join(told.split())
    assert "look-back 1h,6h,1d" in told
    assert "dose → relief 6h" in " ".join(told.split())
    assert "'6h'" not in told
    assert " → target Back " in " ".join(told.split())
    data = json.loads(printed("show", folder / "model.json", "--json"))["data"]
    assert data["events"] == events.n_events == sum(data["labels"].values())
    assert data["positions"] == n_ticks
    assert data["attributes"]["region=north"] + data["attributes"]["region=south"] == 120


def test_a_model_knows_how_its_events_were_read(folder: Path) -> None:
    model, new = folder / "model.json", folder / "new.csv"
    asked = json.loads(printed("evaluate", model, new, *READ, *cuts(model), "--json"))
    assert json.loads(printed("evaluate", model, new, "--json")) == asked
    printed("predict", model, new, *READ, *cuts(model), "-o", folder / "asked.csv")
    printed("predict", model, new, "-o", folder / "plain.csv")
    assert (folder / "plain.csv").read_text() == (folder / "asked.csv").read_text()
    printed("predict", model, new, "--engine", "stream", "-o", folder / "streamed.csv")
    assert (folder / "streamed.csv").read_text() == (folder / "asked.csv").read_text()


def cuts(model: Path) -> list[str]:
    found = cuts_of(sm.load(model).layout_.attributes)["age"]
    assert found is not None
    assert len(found) == 3
    return ["--cut", f"age={','.join(map(str, found))}"]


def test_one_case_is_explained_as_in_python(folder: Path) -> None:
    """With its times, ticks and attributes, however it is asked for."""
    model = sm.load(folder / "model.json")
    cut = cuts_of(model.layout_.attributes)["age"]
    how = {"ties": "together", "times": True, "attributes": ["region", "age"], "cuts": {"age": cut}}
    events = sm.read_events(folder / "new.csv", **how)
    cases = {name: events[at] for at, name in enumerate(events.ids)}
    reasons = {name: model.explain(case, "relief") for name, case in cases.items()}
    name = next(name for name, why in reasons.items() if any(each.lags for each in why.active))
    case, why = cases[name], reasons[name]
    (ticks,) = case.to_lists()
    asked = (folder / "model.json", folder / "new.csv", "--why", name)
    told = json.loads(printed("predict", *asked, "-t", "relief", "--json"))
    assert (told["case"], told["after"]) == (name, ticks)
    assert any(isinstance(tick, list) for tick in ticks)
    held = [case.attributes.names[at] for at in case.attributes.present[0].nonzero()[0]]
    assert told["attributes"] == held
    assert told["next"] == [plain(why)]
    lines = printed("predict", *asked, "-t", "relief").splitlines()
    words = [" + ".join(tick) if isinstance(tick, list) else tick for tick in ticks]
    assert " ".join(" ".join(lines).split()).startswith(
        f"History in {name}: {', '.join(words)} {', '.join(held)}"
    )
    assert f"  {next(each for each in why.active if each.lags)}" in lines
    everything = json.loads(printed("predict", *asked, "--json"))["next"]
    assert {each["target"] for each in everything} == {"dose", "relief", "aside", "x", "y", "z"}
