"""Every result is a data frame with stable columns, prints as a table and shows as HTML."""

import copy
import pickle
import sys
from dataclasses import dataclass

import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.errors import MissingLibraryError, SettingError
from summarkov.evidence import Influence
from summarkov.frames import Records, Sheet, columns_of
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(60, 12, random_state=3)
GRAPH = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(EVENTS)
MODEL = GRAPH.models_["browse"]
COMPARED = sm.compare(EVENTS, models=["chain-0", "chain-1"], targets=["browse"])
GROUPS = sm.compare_groups(sm.BSuMM(lookback=1), EVENTS[:30], EVENTS[30:], targets=["browse"])

OUTCOME = sm.OutcomeModel(ends_with="browse").fit(EVENTS)
JOINT = sm.JointSuMM().fit(EVENTS)


def drift():
    return sm.drift(GRAPH, {"first": EVENTS[:30], "second": EVENTS[30:]})


#: Results, and how many rows their frames have.
RESULTS = {
    "edges": (GRAPH.edges_, len(GRAPH.edges_)),
    "one edge": (GRAPH.edges_[0], 1),
    "one difference": (GROUPS.edges[0], 1),
    "influences": (MODEL.influences_, len(MODEL.influencers_)),
    "table": (MODEL.table_, len(MODEL.table_)),
    "trace": (MODEL.trace_, len(MODEL.trace_)),
    "confidence": (GRAPH.copy().fit(EVENTS).confidence(EVENTS, n=5), None),
    "groups": (GROUPS, len(GROUPS.edges)),
    "labels of groups": (GROUPS.labels, 1),
    "comparison": (COMPARED, 2),
    "sensitivity": (sm.sensitivity(sm.BSuMM("browse"), EVENTS, gamma=(0.1, 1), lookback=(1, None)), None),
    "explanation": (MODEL.explain(["search"]), 1 + len(MODEL.explain(["search"]).counterfactuals)),
    "description": (EVENTS.describe(), len(EVENTS.labels)),
    "events": (EVENTS, EVENTS.n_events),
    "predictions": (GRAPH.predictions(EVENTS), EVENTS.n_events),
    "next": (GRAPH.predict_next(EVENTS), len(EVENTS)),
    "why next": (GRAPH.explain_next(["search"], most=3), 3),
    "order test": (GRAPH.order_test(EVENTS, n=19), len(GRAPH.edges_)),
    "evaluation": (GRAPH.evaluate(EVENTS), None),
    "groups by": (sm.compare_groups(sm.BSuMM(lookback=1), EVENTS, by=["a", "b"] * 30), None),
    "outcome": (OUTCOME.table_, len(OUTCOME.table_)),
    "outcome's influences": (OUTCOME.influences_, len(OUTCOME.influencers_)),
    "outcome's prediction": (OUTCOME.predictions(EVENTS), len(EVENTS)),
    "joint edges": (JOINT.edges_, len(JOINT.edges_)),
    "joint explanation": (JOINT.explain(["search"], "browse"), None),
    "joint why next": (JOINT.explain_next(["search"], most=2), 2),
    "reliability": (COMPARED.reliability("chain-1"), None),
    "drift": (drift(), None),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_frame(name):
    result, n_rows = RESULTS[name]
    table = result.to_frame("pyarrow")
    assert isinstance(table, pa.Table)
    assert n_rows is None or table.num_rows == n_rows
    assert table.num_columns >= 3
    assert not any(pa.types.is_null(kind) for kind in table.schema.types)


@pytest.mark.needs("pandas", "polars")
@pytest.mark.parametrize("name", RESULTS)
def test_frames_of_both_libraries_say_the_same(name):
    import pandas
    import polars

    result, _ = RESULTS[name]
    table = result.to_frame("pyarrow")
    one, other = result.to_frame("pandas"), result.to_frame("polars")
    assert isinstance(one, pandas.DataFrame)
    assert isinstance(other, polars.DataFrame)
    assert list(one.columns) == other.columns == table.column_names
    assert str(other.rows()) == str([tuple(row.values()) for row in table.to_pylist()])
    pandas.testing.assert_frame_equal(one, other.to_pandas(), check_dtype=False)
    assert isinstance(result.to_frame(), pandas.DataFrame)


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "events"])
def test_every_result_prints_and_shows(name):
    result, _ = RESULTS[name]
    assert repr(result) == str(result.summary())
    assert " object at 0x" not in repr(result)
    assert max(map(len, repr(result).splitlines())) <= 200
    assert result._repr_html_() == result.summary()._repr_html_()
    assert result._repr_html_().startswith(("<table>", "<p>"))


@pytest.mark.parametrize("fitted", [GRAPH, MODEL, OUTCOME, JOINT], ids=lambda each: type(each).__name__)
def test_everything_fitted_shows_its_summary(fitted):
    assert str(fitted.summary()).count("%") + str(fitted.summary()).count(" → ") >= 1
    assert fitted._repr_html_() == fitted.summary()._repr_html_()
    assert fitted.copy()._repr_html_().startswith(f"<p><bdi>{type(fitted).__name__}(")


def test_columns_do_not_depend_on_what_is_known():
    fresh = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(EVENTS)
    before = fresh.edges_.to_frame("pyarrow").schema
    fresh.confidence(EVENTS, n=3)
    none = sm.InfluenceGraph(sm.BSuMM(gamma=50)).fit(EVENTS)
    assert len(none.edges_) == 0
    assert before == fresh.edges_.to_frame("pyarrow").schema == none.edges_.to_frame("pyarrow").schema
    assert {"ratio", "low", "high", "cases_followed", "follow_rate", "frequency", "rate_with"} <= set(
        before.names
    )


def test_what_rows_hold():
    row = RESULTS["edges"][0].to_frame("pyarrow").to_pylist()[0]
    edge = GRAPH.edges_[0]
    assert (row["influencer"], row["ratio"], row["is_thin"]) == (edge.influencer, edge.ratio, edge.is_thin)
    row = GROUPS.to_frame("pyarrow").to_pylist()[0]
    assert row["first_ratio"] == pytest.approx(GROUPS.edges[0].first.ratio, nan_ok=True)
    assert row["change_adjusted"] == GROUPS.edges[0].change.adjusted
    row = COMPARED.to_frame("pyarrow").to_pylist()[1]
    assert (row["interval_low"], row["interval_high"]) == COMPARED.lines[1].interval
    first, *others = RESULTS["explanation"][0].to_frame("pyarrow").to_pylist()
    assert first["history"] == "as it is"
    assert first["probability"] == MODEL.explain(["search"]).probability
    assert [row["history"].split()[0] for row in others] == [
        "with" if one.occurred else "without" for one in MODEL.explain(["search"]).counterfactuals
    ]


def test_events_are_read_back():
    assert sm.read_events(EVENTS.to_frame("pyarrow"), labels=EVENTS.labels) == EVENTS


def test_settings_of_to_frame(monkeypatch):
    with pytest.raises(SettingError, match="not 'panda'; did you mean 'pandas'"):
        GRAPH.edges_.to_frame("panda")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"needs pandas; install it with.*summarkov\[frames\]"):
        GRAPH.edges_.to_frame()
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingLibraryError, match="a data frame of polars needs polars"):
        GRAPH.edges_.to_frame("polars")


@dataclass
class Inner:
    a: float


@dataclass
class Outer:
    name: str
    n: int | None
    inner: Inner
    parts: tuple[str, ...]

    derived_columns = ("twice",)

    @property
    def twice(self) -> float:
        """An example."""
        return 2 * self.inner.a


def test_columns_of_records():
    columns = columns_of(Outer, [Outer("x", None, Inner(1.5), ("u", "v"))])
    assert {name: (column.kind, list(column.values)) for name, column in columns.items()} == {
        "name": (str, ["x"]),
        "n": (int, [None]),
        "inner_a": (float, [1.5]),
        "parts": (str, ["u, v"]),
        "twice": (float, [3.0]),
    }


def test_records_are_tuples_that_can_be_copied():
    records = Records([1, 2], Influence)
    assert records == (1, 2)
    for other in (pickle.loads(pickle.dumps(GRAPH.edges_)), copy.deepcopy(GRAPH.edges_)):
        assert str(other) == str(GRAPH.edges_)
        assert type(other) is type(GRAPH.edges_)
    trace = sm.BSuMM("browse", search="exact", candidates=["search"]).fit(EVENTS).trace_
    assert pickle.loads(pickle.dumps(trace)).certificate == trace.certificate is not None


def test_a_sheet_escapes_and_cuts():
    sheet = Sheet("<b>", ("name", "n"), [("a\x1b[31m<i>" + "x" * 100, "1"), ("日本", "12")], total=3)
    text, html = str(sheet), sheet._repr_html_()
    assert "\x1b" not in text + html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "x" * 80 not in text + html
    assert text.splitlines()[-1] == "... and 1 more"
    assert text.splitlines()[3].startswith("日本")
    assert len(text.splitlines()[2]) == len(text.splitlines()[3]) + 2  # two characters of double width
