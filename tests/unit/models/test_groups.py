"""Two groups, or more by an attribute: which edges and labels differ, and how sure that is."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from paper.calibration import random_dynamics
from typer.testing import CliRunner

import summarkov as sm
from strategies import from_counts
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError
from summarkov.evidence import Difference, GroupComparison, LabelDifference

pytestmark = pytest.mark.cut_off

LAST = sm.BSuMM(lookback=1)


@pytest.fixture(scope="module")
def groups():
    """Two groups in which B follows A, more so in the second; D follows C in both."""

    def group(n, after_a, seed):
        b, d = {(0,): 0.1, (1,): after_a}, {(0,): 0.05, (1,): 0.2}
        rest = {(a, c): 1 - 0.5 - b[(a,)] - d[(c,)] for a in (0, 1) for c in (0, 1)}
        rules = {"A": 0.25, "C": 0.25, "B": (("A",), b), "D": (("C",), d), "E": (("A", "C"), rest)}
        return sm.Dynamics(rules, lookback=1).simulate(n, 30, random_state=seed).to_lists()

    return group(60, 0.12, 1), group(90, 0.3, 2)


@pytest.fixture(scope="module")
def found(groups):
    return sm.compare_groups(LAST, *groups, targets=["B", "D"])


def test_the_edge_that_differs_is_found(found):
    assert (found.level, found.sizes) == (0.95, (60, 90))
    assert found.names == ("first", "second")
    assert ("A", "B") in [(edge.influencer, edge.target) for edge in found.differing(0.05)]
    edges = {(edge.influencer, edge.target): edge for edge in found.edges}
    assert edges["A", "B"].second.ratio > edges["A", "B"].first.ratio
    assert edges["A", "B"].change.low > 1
    assert edges["C", "D"].change.adjusted > 0.05
    assert edges["C", "D"].change.low < 1 < edges["C", "D"].change.high
    assert [e.change.adjusted for e in found.edges] == sorted(e.change.adjusted for e in found.edges)


def test_differences_agree_with_their_intervals(found):
    kinds = [[e.change for e in found.edges], [x.reach for x in found.labels]]
    for changes in kinds:
        for one in changes:
            assert (one.low > 1 or one.high < 1) == (one.adjusted < 0.05)
            assert one.adjusted == pytest.approx(min(1.0, one.p_value * len(changes)))


def test_labels_come_with_their_reach(groups, found):
    assert {one.label for one in found.labels} == {"B", "D"}
    for one in found.labels:
        for events, reach in zip(groups, (one.reach_first, one.reach_second), strict=True):
            assert reach == pytest.approx(sum(one.label in s for s in events) / len(events))


def test_ratios_are_those_of_the_groups_beside_all_influencers(groups, found):
    graphs = [sm.InfluenceGraph(LAST).fit(events) for events in (*groups, groups[0] + groups[1])]
    for edge in found.edges:
        beside = sorted({z for graph in graphs for z in graph.influencers_[edge.target]})
        assert edge.influencer in beside
        assert edge.in_first == (edge.influencer in graphs[0].influencers_[edge.target])
        assert edge.in_second == (edge.influencer in graphs[1].influencers_[edge.target])
        fixed = sm.BSuMM(edge.target, lookback=1, required=beside, candidates=[])
        for events, influence in zip(groups, (edge.first, edge.second), strict=True):
            (direct,) = [i for i in from_counts(fixed.fit(events)) if i.influencer == edge.influencer]
            assert influence.ratio == pytest.approx(direct.ratio, rel=1e-12)
            assert influence in fixed.influences_  # whose interval allows for sequences that differ
        assert edge.change.ratio == pytest.approx(edge.second.ratio / edge.first.ratio)


def test_exchanging_the_groups_turns_the_differences_around(groups, found):
    other = sm.compare_groups(LAST, *groups[::-1], targets=["B", "D"], n_jobs=2)
    mine = {(e.influencer, e.target): e.change.ratio for e in found.edges}
    assert {(e.influencer, e.target): 1 / e.change.ratio for e in other.edges} == pytest.approx(mine)
    assert sm.compare_groups(LAST, *groups, targets=["B", "D"], n_jobs=2) == found


def test_groups_that_are_alike_seldom_differ():
    differ = 0
    for seed in range(12):
        made = random_dynamics(seed).simulate
        pair = made(50, 20, random_state=900 + seed), made(70, 20, random_state=950 + seed)
        differ += bool(sm.compare_groups(sm.BSuMM(lookback=3), *pair).differing())
    assert differ <= 1


def test_it_says_what_is_held_equal(found):
    assert "Held equal in both: all influencers that the target has in either group" in str(found)


def test_never_in_either_group_is_no_difference():
    """Z is followed by X in neither group: 0 of 400 and 0 of 40."""
    first, second = [["X", "Z", "Y", "Y"]] * 200, [["X", "Z", "Y", "Y"]] * 20
    found = sm.compare_groups(sm.BSuMM(lookback=2, required=["Z"]), first, second, targets=["X"])
    edge = next(e for e in found.edges if e.influencer == "Z")
    assert (edge.first.ratio, edge.second.ratio) == (0.0, 0.0)
    assert (edge.change.low, edge.change.high, edge.change.adjusted) == (0.0, math.inf, 1.0)


def test_groups_without_any_edge_and_labels_that_one_group_has():
    steps = []
    found = sm.compare_groups(
        sm.BSuMM(), [["A"]] * 3, [["B"], ["A"]], progress=lambda done, of: steps.append((done, of))
    )
    assert (found.sizes, found.edges, found.differing()) == ((3, 2), (), ())
    assert steps[-1] == (4, 4)
    edges = sm.compare_groups(LAST, [["A", "B"] * 4] * 10, [["A", "C"] * 4, ["C", "A", "A"]] * 5).edges
    assert {edge.target for edge in edges} <= {"A", "B", "C"}
    unknown = [edge for edge in edges if math.isnan(edge.change.ratio)]
    assert all(edge.change.adjusted == 1.0 for edge in unknown)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "level must be"),
        ({"targets": []}, "targets"),
        ({"names": ("one",)}, "names must be two texts"),
        ({"model": sm.MarkovChain()}, "compared by edges"),
        ({"second": [["A"], []]}, "at least two sequences"),
    ],
)
def test_what_cannot_be_compared_is_refused(groups, settings, message):
    given = {"model": LAST, "first": groups[0], "second": groups[1]}
    with pytest.raises(DataError if "second" in settings else SettingError, match=message):
        sm.compare_groups(**given | settings)


def test_weights_are_those_of_the_sequences(groups):
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, 60), rng.random(90)
    weighed = [sm.read_events(events).with_weights(w) for events, w in zip(groups, weights, strict=True)]
    weighted = sm.compare_groups(sm.BSuMM(lookback=1, candidates=["A"]), *weighed, targets=["B"])
    (edge,) = weighted.edges
    for events, weight, found in zip(groups, weights, (edge.first, edge.second), strict=True):
        model = sm.BSuMM("B", lookback=1, required=["A"], candidates=[]).fit(events, sample_weight=weight)
        assert found.ratio == pytest.approx(model.influences_[0].ratio, rel=1e-5)  # weights are fixed point
    assert weighted.sizes == (int((weights[0] > 0).sum()), 90)


@pytest.mark.parametrize(("level", "n"), [(0.95, 1), (1 - 0.05 / 3, 0)])
def test_what_differs_is_what_the_intervals_say(level, n):
    label = LabelDifference("A", 0.2, 0.3, Difference(1.5, 0.99, 2.3, 0.02, 0.02))
    found = GroupComparison(("others", "north"), level, (45, 15), (label,), ())
    assert len(found.differing_labels()) == n
    assert f"Labels that differ: {'A' if n else 'none'}" in str(found.summary())


def test_empty_sequences_are_among_those_that_a_label_does_not_reach():
    """50 of 100 in both groups, which was reported as .5 against 1, with p .0017."""
    first = [["A", "B"]] * 50 + [["B", "B"]] * 50
    second = [["A", "B"]] * 50 + [[]] * 50
    found = sm.compare_groups(LAST, first, second, targets=["A"])
    (label,) = found.labels
    assert (label.reach_first, label.reach_second, found.sizes) == (0.5, 0.5, (100, 100))
    assert (label.reach.ratio, label.reach.p_value) == (1, 1)
    weighed = sm.read_events(second).with_weights(np.repeat([3.0, 1.0], 50))
    assert sm.compare_groups(LAST, first, weighed, targets=["A"]).labels[0].reach_second == 0.75
    several = sm.compare_groups(LAST, first + second, by=["x"] * 100 + ["y"] * 100, targets=["A"])
    (label,) = several.comparisons[0].labels
    assert (label.reach_first, label.reach_second) == (0.5, 0.5)
    assert several.sizes == (100, 100)


def test_ends_are_compared_where_both_groups_have_them():
    first, second = [["A", "B"]] * 40 + [["A"]] * 10, [["A", "B"]] * 10 + [["A"]] * 40
    model = sm.BSuMM(lookback=3, false_edges=None, gamma=0.1)
    for ends in (("complete", "complete"), ("cut off", "complete"), ("complete", "cut off")):
        groups = [sm.read_events(each, ends=how) for each, how in zip((first, second), ends, strict=True)]
        found = sm.compare_groups(model, *groups)
        assert (sm.END in {edge.target for edge in found.edges}) == ("cut off" not in ends)
        assert sm.END not in {one.label for one in found.labels}


#: In the west B comes after A far more often than elsewhere, and C comes more often in the east.
RATES = {"north": (0.5, 0.2), "east": (0.5, 0.6), "west": (0.95, 0.2)}


@pytest.fixture(scope="module")
def table():
    pd = pytest.importorskip("pandas")
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


def read(table, **more):
    return sm.read_events(table, attributes=["region"], ends="complete", **more)


@pytest.fixture(scope="module")
def regions(table):
    return sm.compare_groups(LAST, read(table), by="region")


def test_groups_are_named_sized_and_counted(regions, table):
    assert regions.names == ("east", "north", "west")
    assert (regions.sizes, regions.left_out) == ((80, 80, 80), {"south": 1})
    assert [one.names for one in regions.comparisons] == [("others", name) for name in regions.names]
    assert {round(one.level, 4) for one in regions.comparisons} == {round(1 - 0.05 / 3, 4)}
    assert [one.sizes for one in regions.comparisons] == [(161, 80)] * 3
    for comparison in regions.comparisons:
        here = table[table["region"] == comparison.names[1]]
        for one in comparison.labels:
            mine = here[here["event"] == one.label]
            assert one.reach_second == pytest.approx(mine["case"].nunique() / here["case"].nunique())
    frame = regions.to_frame("pandas")
    assert len(frame) == sum(len(one.edges) for one in regions.comparisons)
    assert set(frame["group"]) == set(regions.names)
    assert regions.differing_labels().keys() == set(regions.names)
    edges = {(edge.influencer, edge.target): edge for edge in regions.differing()["west"]}
    assert edges["A", "A"].change.high < 1  # in the west B comes instead


def test_each_comparison_is_that_of_two_files_and_two_groups_are_compared_once(regions, table):
    files = [read(table[table["region"] != "west"]), read(table[table["region"] == "west"])]
    files = [events.with_attributes(None) for events in files]
    level = 1 - 0.05 / 3
    found = sm.compare_groups(LAST, *files, names=("others", "west"), level=level)
    assert found == regions.comparisons[2]
    events = read(table[table["region"].isin(["north", "west"])])
    found = sm.compare_groups(LAST, events, by="region")
    assert [(one.names, one.level) for one in found.comparisons] == [(("north", "west"), 0.95)]
    names = [name.removeprefix("region=") for name in events.attributes.values("region")]
    assert sm.compare_groups(LAST, events.with_attributes(None), by=names).comparisons == found.comparisons


def test_weights_of_the_events_count(table):
    two = table[table["region"].isin(["north", "west"])].assign(n=lambda t: np.where(t["case"] < 120, 2, 0))
    (one,) = sm.compare_groups(LAST, read(two, weight="n"), by="region").comparisons
    (other,) = sm.compare_groups(LAST, read(two[two["case"] < 120]), by="region").comparisons
    assert [x.reach_second for x in one.labels] == pytest.approx([x.reach_second for x in other.labels])
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
    with pytest.raises(error, match=why):
        sm.compare_groups(LAST, read(table), by=by)
    with pytest.raises(
        SettingError, match=r"the events have no attributes; read them with attributes=\['x'\]"
    ):
        sm.compare_groups(LAST, [["A"]], by="x")


def test_ranges_of_numbers_stand_in_their_order():
    rows = [
        {"case": case, "event": event, "time": time, "age": str(2 + 6 * (case % 4))}
        for case in range(24)
        for time, event in enumerate("ababab")
    ]
    cuts = {"age": [5, 10, 15]}
    events = sm.read_events(pa.Table.from_pylist(rows), order_by="time", attributes=["age"], cuts=cuts)
    found = sm.compare_groups(sm.BSuMM(lookback=2), events, by="age")
    assert found.names == ("below 5", "5 to <10", "10 to <15", "15 or more")
    assert found.sizes == (6, 6, 6, 6)


def run(*words):
    return CliRunner().invoke(app, ["groups", *map(str, words)])


def test_groups_of_a_table(tmp_path, table):
    table.to_csv(tmp_path / "log.csv", index=False)
    by = (tmp_path / "log.csv", "--by", "region", "-k", "1")
    shown = run(*by).stdout
    assert "surely differ between east (80 cases), north (80 cases), west (80 cases)." in " ".join(
        shown.split()
    )
    assert "south: 1 case, too few to compare" in shown
    document = json.loads(run(*by, "--json").stdout)
    assert document["names"] == ["east", "north", "west"]
    assert len(document["comparisons"]) == 3
    assert "groups are two files, or one file and --by" in run(tmp_path / "log.csv").stderr
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("A\nB\nA\n")
    result = run(tmp_path / "a.txt", tmp_path / "b.txt")
    assert result.exit_code == 0
    assert "No influence was found, neither in one of the groups nor in both" in result.stdout


def test_groups_by_attributes_of_an_xes_log(tmp_path):
    """One of the trace, or of all its events, is as good as a column; so are numbers."""
    name, path = '<string key="concept:name" value="{}"/>', tmp_path / "log.xes"

    def write(costs):
        traces = []
        for case, pair in enumerate(costs):
            each = (f'<event>{name.format("a")}<int key="cost" value="{cost}"/></event>' for cost in pair)
            region = f'<string key="region" value="{"ns"[case % 2]}"/>'
            traces.append(f"<trace>{name.format(f'case {case}')}{region}{''.join(each)}</trace>")
        path.write_text(f"<log>{''.join(traces)}</log>")

    write([(case // 3, case // 3) for case in range(12)])
    for by, names, sizes in (("region", ["n", "s"], [6, 6]), ("cost", ["0", "1", "2", "3"], [3] * 4)):
        done = run(path, "--by", by, "-k", "1", "--json")
        assert done.exit_code == 0, done.stderr
        document = json.loads(done.stdout)
        assert (document["names"], document["sizes"]) == (names, sizes)
    told = run(path, "--by", "costs").stderr
    assert "attribute 'costs' of" in told
    assert "has no value for any sequence; check its name, or leave it out" in told
    write([(1, 2)])
    told = run(path, "--by", "cost").stderr
    assert "column 'cost' of" in told
    assert "changes during case 'case 0': '1' in one row and '2' in another" in told


def test_a_ratio_without_comparable_cases_is_no_number(tmp_path):
    """Of Haggle and Offer no moment is comparable: the table says so, as that of a graph does."""
    one = [["Apply", "Offer", "Haggle", "Offer"], ["Apply", "Check", "Decline"]] * 30
    edges = sm.compare_groups(sm.BSuMM(lookback=3), one, one)
    shown = {(row[0], row[1]): row[2:4] for row in edges.summary().rows}
    for edge in edges.edges:
        cells = shown[edge.influencer, edge.target]
        assert not {"0", "inf", "nan"} & set(cells)
        if not edge.first.hits_without and edge.first.n_without and edge.first.hits_with:
            assert cells[0].startswith("only with it")
