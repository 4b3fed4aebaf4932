"""Groups by an attribute: names, shares counted by hand, comparisons with all others, what is refused."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError

pd = pytest.importorskip("pandas")

#: In the west B comes after A far more often than elsewhere, and C comes more often in the east.
RATES = {"north": (0.5, 0.2), "east": (0.5, 0.6), "west": (0.95, 0.2)}
MODEL = sm.BSuMM(lookback=1)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    rows = []
    for number in range(240):
        region = list(RATES)[number % 3]
        follows, often = RATES[region]
        labels = []
        while len(labels) < 20:
            if labels[-1:] == ["A"]:
                labels.append("B" if rng.random() < follows else "A")
            else:
                labels.append("C" if rng.random() < often else str(rng.choice(["A", "B"])))
        rows += [(number, label, at, region) for at, label in enumerate(labels)]
    rows += [(999, "A", 0, "south"), (999, "B", 1, "south")]
    return pd.DataFrame(rows, columns=["case", "event", "time", "region"])


@pytest.fixture(scope="module")
def found(table):
    events = sm.read_events(table, attributes=["region"])
    return sm.compare_groups(MODEL, events, by="region")


def test_groups_are_named_and_sized(found):
    assert found.names == ("east", "north", "west")
    assert found.sizes == (80, 80, 80)
    assert found.left_out == {"south": 1}
    assert [one.names for one in found.comparisons] == [("others", name) for name in found.names]
    assert {round(one.level, 4) for one in found.comparisons} == {round(1 - 0.05 / 3, 4)}
    assert [one.sizes for one in found.comparisons] == [(161, 80)] * 3


def test_shares_are_those_counted_by_hand(found, table):
    for one in found.shares:
        here = table[table["region"] == one.group]
        mine = here[here["event"] == one.label]
        assert one.rate == pytest.approx(len(mine) / len(here))
        assert one.reach == pytest.approx(mine["case"].nunique() / here["case"].nunique())
    assert len(found.to_frame("pandas")) == 9


def test_what_was_planted_is_found(found):
    assert "C" in {one.label for one in found.differing_labels()["east"]}
    edges = {(edge.influencer, edge.target): edge for edge in found.differing()["west"]}
    assert edges["A", "A"].change.high < 1  # in the west B comes instead


def test_a_comparison_is_that_of_the_two_files(found, table):
    west = sm.read_events(table[table["region"] == "west"])
    others = sm.read_events(table[table["region"] != "west"])
    names, level = ("others", "west"), 1 - 0.05 / 3
    assert sm.compare_groups(MODEL, others, west, names=names, level=level) == found.comparisons[2]


def test_two_groups_are_compared_once(table):
    two = table[table["region"].isin(["north", "west"])]
    events = sm.read_events(two, attributes=["region"])
    found = sm.compare_groups(MODEL, events, by="region")
    assert [(one.names, one.level) for one in found.comparisons] == [(("north", "west"), 0.95)]
    by_list = sm.compare_groups(
        MODEL,
        events.with_attributes(None),
        by=[n.removeprefix("region=") for n in events.attributes.values("region")],
    )
    assert by_list.comparisons == found.comparisons


def test_weights_of_the_events_count(table):
    two = table[table["region"].isin(["north", "west"])].assign(n=lambda t: np.where(t["case"] < 120, 2, 0))
    weighed = sm.compare_groups(MODEL, sm.read_events(two, attributes=["region"], weight="n"), by="region")
    kept = two[two["case"] < 120]
    copied = sm.compare_groups(MODEL, sm.read_events(kept, attributes=["region"]), by="region")
    one, other = weighed.comparisons[0], copied.comparisons[0]
    assert [x.rate_second for x in one.labels] == pytest.approx([x.rate_second for x in other.labels])
    assert one.sizes == other.sizes


@pytest.mark.parametrize(
    ("by", "error", "why"),
    [
        ("regoin", DataError, "there is no attribute 'regoin'; did you mean 'region'"),
        (["a"], SettingError, "by must be an attribute, or the group of each of the 241 sequences, not 1"),
        (["a"] * 241, DataError, "group makes fewer than two groups"),
        ([str(i // 2) for i in range(241)], DataError, "group makes 121 groups, more than 20"),
    ],
)
def test_what_makes_no_groups(table, by, error, why):
    events = sm.read_events(table, attributes=["region"])
    with pytest.raises(error, match=why):
        sm.compare_groups(MODEL, events, by=by)
    with pytest.raises(
        SettingError, match=r"the events have no attributes; read them with attributes=\['x'\]"
    ):
        sm.compare_groups(MODEL, [["A"]], by="x")


def test_on_the_command_line(tmp_path, table):
    table.to_csv(tmp_path / "log.csv", index=False)

    def run(*words):
        return CliRunner().invoke(app, ["groups", *map(str, words)])

    shown = run(tmp_path / "log.csv", "--by", "region", "-k", "1").stdout
    assert shown.startswith("region: east (80 sequences), north (80 sequences), west (80 sequences)\n")
    assert "south: 1 sequence, too few to compare" in shown
    document = json.loads(run(tmp_path / "log.csv", "--by", "region", "-k", "1", "--json").stdout)
    assert document["names"] == ["east", "north", "west"]
    assert len(document["comparisons"]) == 3
    assert "groups are two files, or one file and --by" in run(tmp_path / "log.csv").stderr


@pytest.mark.parametrize(("of", "by"), [("trace", "region"), ("event", "cost")])
def test_groups_by_an_attribute_of_an_xes_log(tmp_path, table, of, by):
    """One of the trace, or of all its events, is as good as a column; so are numbers."""
    costs = {"north": 1, "east": 2, "west": 7, "south": 2}
    traces = []
    for case, rows in table.groupby("case", sort=False):
        region = rows["region"].iloc[0]
        own = f'<string key="region" value="{region}"/><int key="cost" value="{costs[region]}"/>'
        name = '<string key="concept:name" value="{}"/>'
        events = "".join(
            f"<event>{name.format(label)}{own if of == 'event' else ''}</event>" for label in rows["event"]
        )
        traces.append(f"<trace>{name.format(case)}{own if of == 'trace' else ''}{events}</trace>")
    path = tmp_path / "log.xes"
    path.write_text(f"<log>{''.join(traces)}</log>")
    words = [path, "--by", by, "-k", "1", "--json"]
    done = CliRunner().invoke(app, ["groups", *map(str, words)])
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    expected = table.assign(cost=table["region"].map(costs)).drop_duplicates("case")[by].value_counts()
    names = [str(name) for name, n in sorted(expected.items()) if n > 1]
    assert document["names"] == names
    assert document["sizes"] == [int(n) for name, n in sorted(expected.items()) if n > 1]
    assert len(document["comparisons"]) == 3


def test_an_attribute_of_events_must_not_change_and_must_be_there(tmp_path):
    name = '<string key="concept:name" value="{}"/>'
    events = "".join(f'<event>{name.format("a")}<int key="cost" value="{n}"/></event>' for n in (1, 2))
    path = tmp_path / "log.xes"
    path.write_text(f"<log><trace>{name.format('x')}{events}</trace></log>")
    told = CliRunner().invoke(app, ["groups", str(path), "--by", "cost"]).stderr
    assert "column 'cost' of" in told
    assert "changes during case 'x': '1' in one row and '2' in another" in told
    told = CliRunner().invoke(app, ["groups", str(path), "--by", "costs"]).stderr
    assert "attribute 'costs' of" in told
    assert "has no value for any sequence; check its name, or leave it out" in told


def test_ranges_of_numbers_stand_in_their_order():
    lists = [["a", "b"] * 3] * 24
    ages = [str(2 + 6 * (case % 4)) for case in range(24)]
    rows = {"case": [], "event": [], "time": [], "age": []}
    for case, events in enumerate(lists):
        for time, event in enumerate(events):
            for name, value in zip(rows, (case, event, time, ages[case]), strict=True):
                rows[name].append(value)
    events = sm.read_events(rows, case="case", order_by="time", attributes=["age"], cuts={"age": [5, 10, 15]})
    found = sm.compare_groups(sm.BSuMM(lookback=2), events, by="age")
    assert found.names == ("below 5", "5 to <10", "10 to <15", "15 or more")
    assert found.sizes == (6, 6, 6, 6)
