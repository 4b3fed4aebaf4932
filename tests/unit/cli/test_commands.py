"""Every command does what the library does, and says where it saved it."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

import commands
import summarkov as sm
from summarkov.cli.page import plain
from summarkov.evidence.words import headline
from summarkov.simulate.example import web_shop
from summarkov.wording import factor, percent

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder and expect it to succeed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Result:
        result = commands.run(*arguments)
        assert result.stderr == ""
        return result

    return run


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with events, more events, and a graph, a model and a joint model learned from them."""
    folder = tmp_path_factory.mktemp("shop")
    for name, seed in (("events", 1), ("new", 2)):
        events = web_shop().simulate(200, 20, random_state=seed)
        lines = (json.dumps({"id": f"visit {i}", "events": e}) for i, e in enumerate(events.to_lists()))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    events = sm.read_events(folder / "events.jsonl")
    sm.InfluenceGraph(sm.BSuMM()).fit(events).save(folder / "graph.json")
    sm.InfluenceGraph(sm.BSuMM(), targets=["search", "purchase"]).fit(events).save(folder / "some.json")
    sm.BSuMM("purchase").fit(events).save(folder / "one.json")
    sm.CSuMM(("purchase", "write review"), lookback=4).fit(events).save(folder / "joint.json")
    (folder / "truth.json").write_text(json.dumps(web_shop().to_dict()))
    return folder


def the_only_document(result: Result) -> Any:
    """The JSON document that is all there is on stdout."""
    assert result.stdout.isascii()
    return json.loads(result.stdout)


# ------------------------------------------------------------------ learn


def test_learn_without_a_target_learns_a_graph_over_all_labels(run: Run, shop: Path) -> None:
    result = run("learn", shop / "events.jsonl", "-o", "model.json", "--no-order-test")
    assert Path("model.json").read_bytes() == (shop / "graph.json").read_bytes()
    assert result.stdout.endswith("\nSaved the model as model.json\n")
    assert "200 cases, 4,000 events, 10 event types" in result.stdout


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("--target purchase --jobs 2", "one.json"),
        ("-t write_review -t purchase --joint -m csumm --lookback 4", "joint.json"),
    ],
)
def test_learn_with_targets_learns_one_model(run: Run, shop: Path, options: str, name: str) -> None:
    words = [word.replace("_", " ") for word in options.split()]
    run("learn", shop / "events.jsonl", *words, "-o", "model.json")
    assert Path("model.json").read_bytes() == (shop / name).read_bytes()


def test_learn_all_labels_jointly(run: Run, shop: Path) -> None:
    run("learn", shop / "events.jsonl", "--joint", "-o", "all.json")
    model = sm.load("all.json")
    assert model.target_ == model.outcomes_ == sm.read_events(shop / "events.jsonl").labels


@pytest.mark.parametrize(
    ("options", "family", "expected"),
    [
        ("-k none --gamma 0.5 --alpha 2", sm.BSuMM, {"lookback": None, "gamma": 0.5, "alpha": 2.0}),
        ("-m csumm -k 2,5,None", sm.CSuMM, {"lookback": (2, 5, None)}),
        ("-k 4 --set delay=2 --set parameters=reachable", sm.BSuMM, {"delay": 2, "parameters": "reachable"}),
        ("--set prior=base-rate --search sweep", sm.BSuMM, {"prior": "base-rate", "search": "sweep"}),
        ("--false-edges none", sm.BSuMM, {"false_edges": None}),
        ("--set criterion=extended-bic --set xi=2", sm.BSuMM, {"criterion": "extended-bic", "xi": 2.0}),
        ("--required browse --candidates search", sm.BSuMM, {"required": ("browse",)}),
        ("-m OSUMM --set mask=first", sm.OSuMM, {"mask": "first", "lookback": 5}),
        ("-m csumm --set cap=3", sm.CSuMM, {"cap": 3}),
        ("-m chain --set order=2", sm.MarkovChain, {"order": 2}),
        (
            "-m tree --alpha 2 --set lookbacks=1,4,none",
            sm.TreeSuMM,
            {"lookbacks": (1, 4, None), "alpha": 2.0},
        ),
        ("-m tree --set counts=none --set starts=2", sm.TreeSuMM, {"counts": (), "starts": (2,)}),
        ("-m tree --set pairs=no --set max-depth=3", sm.TreeSuMM, {"pairs": False, "max_depth": 3}),
    ],
)
def test_learn_passes_its_options_on(
    run: Run, shop: Path, options: str, family: type, expected: dict[str, Any]
) -> None:
    run("learn", shop / "events.jsonl", "-t", "purchase", *options.split(), "-o", "model.json")
    model = sm.load("model.json")
    assert type(model) is family
    assert expected.items() <= model.get_params().items()


def test_learned_look_backs_are_printed(run: Run, shop: Path) -> None:
    printed = run("learn", shop / "events.jsonl", "-t", "purchase", "-k", "1,5,none", "-o", "m.json").stdout
    model = sm.load("m.json")
    assert model.lookbacks_["add to cart"] == 5
    assert "BSuMM: look-back 1,5,none" in printed
    assert "+ add to cart → " in " ".join(printed.split())
    told = " ".join(run("show", "m.json", "--all").stdout.split())
    assert "cases with 'add to cart', 'purchase' follows " in told
    assert "add add to cart" in told
    document = the_only_document(run("show", "m.json", "--json"))
    assert document["lookbacks"] == model.lookbacks_
    assert document["settings"]["lookback"] == [1, 5, None]
    assert document["trace"][0]["lookback"] == 5
    run("learn", shop / "events.jsonl", "-k", "auto", "-o", "g.json")
    assert "Back" in run("show", "g.json").stdout
    after = run("predict", "m.json", "-a", "add to cart", "-a", "browse").stdout
    assert "in history state: add to cart within 5 positions" in " ".join(after.split())


def test_learn_for_programs(run: Run, shop: Path) -> None:
    graph = sm.load(shop / "graph.json")
    document = the_only_document(run("learn", shop / "events.jsonl", "--json"))
    assert document["saved"] is None
    assert document["data"]["events"] == 4000
    assert document["settings"]["lookback"] == 5
    found = {(e["influencer"], e["target"], e["effect"]) for e in document["edges"]}
    assert found == {(e.influencer, e.target, e.effect) for e in graph.edges_}  # the order test ranks anew
    document = the_only_document(
        run("learn", shop / "events.jsonl", "-t", "purchase", "--json", "-o", "m.json")
    )
    assert document["saved"] == "m.json"
    assert document["influencers"] == list(sm.load("m.json").influencers_)


def test_learn_from_a_table_with_named_columns(run: Run) -> None:
    Path("log.csv").write_text("who,what,when\nx,B,2\nx,A,1\ny,A,3\n")
    columns = ("--case", "who", "--event", "what", "--order-by", "when")
    document = the_only_document(run("learn", "log.csv", *columns, "-m", "chain", "-t", "B", "--json"))
    assert [(s["words"], s["n"]) for s in document["states"]] == [("start", 2.0), ("A", 1.0)]
    Path("log.dat").write_text("A B A\nB\n")
    assert the_only_document(run("describe", "log.dat", "--format", "text", "--json"))["n_events"] == 4


def test_sums_of_weights_are_said_to_be_so(run: Run) -> None:
    Path("weighed.csv").write_text("case,event,w\nx,A,1.5\nx,B,1.5\ny,A,3\ny,B,3\n")
    assert "Counts of cases and events that a model shows are sums of weights." in " ".join(
        run("learn", "weighed.csv", "--weight", "w", "--in-order").stdout.split()
    )


# ------------------------------------------------------------------ show


def test_show_a_graph(run: Run, shop: Path) -> None:
    graph = sm.load(shop / "graph.json")
    lines = run("show", shop / "graph.json", "--all").stdout.splitlines()
    assert lines[0].startswith(f"{headline(graph.edges_)} among 10 event types")
    shown = [line for line in lines if line[:2] in ("+ ", "- ", "~ ", "? ") and " → " in line]
    parts = sorted(graph.edges_, key=lambda edge: (edge.set_aside != "", edge.is_self))  # in the same order
    for edge, line in zip(parts, shown, strict=True):
        sign = {"amplifies": "+", "inhibits": "-", "unclear": "?"}[edge.shown_effect]
        assert " ".join(line.split()).startswith(f"{sign} {edge.influencer} → {edge.target} ")
        assert f" {percent(edge.follow_rate)} " in line
        assert f" {percent(edge.follow_rate_other)} " in line
        assert f" {factor(edge.ratio)} (" in line
    assert "Influence is statistical: no proof" in " ".join(" ".join(lines).split())


def test_show_one_label_of_a_graph(run: Run, shop: Path) -> None:
    model = sm.load(shop / "graph.json").models_["purchase"]
    lines = run("show", shop / "graph.json", "--target", "purchase", "--all").stdout.splitlines()
    (row,) = [r for r in model.table_ if r.state == ("add to cart",)]
    low, high = row.intervals[0]
    expected = f"{row.n:g} {row.counts[0]:g} {row.probabilities[0]:.1%} {low:.1%} to {high:.1%}"
    assert any(expected in " ".join(line.split()) for line in lines)
    assert f"add     {model.trace_[0].label}" in "\n".join(lines)
    assert lines[0].startswith("purchase: ")


def test_show_one_model_for_programs(run: Run, shop: Path) -> None:
    model = sm.load(shop / "one.json")
    document = the_only_document(run("show", shop / "one.json", "--json"))
    in_graph = the_only_document(run("show", shop / "graph.json", "-t", "purchase", "--json"))
    assert [(step["action"], step["label"]) for step in in_graph["trace"]] == [
        (step["action"], step["label"]) for step in document["trace"]
    ]  # the scores differ: in a graph more is asked of an influencer
    assert {**document, "trace": []} == {**in_graph, "trace": []}
    assert [s["probabilities"][0] for s in document["states"]] == [
        row.probabilities[0] for row in model.table_
    ]
    assert document["outcomes"][1] is None
    assert [s["label"] for s in document["trace"]] == [s.label for s in model.trace_]


def test_show_a_joint_model(run: Run, shop: Path) -> None:
    output = run("show", shop / "joint.json").stdout
    assert output.startswith("purchase + write review: ")
    assert output.count("\n" + " " * 8) > 2  # the second label of every state
    only = run("show", shop / "joint.json", "-t", "write review").stdout
    assert only.startswith("write review: ")
    assert "purchase:" not in only


def test_show_limits_the_states(run: Run, shop: Path) -> None:
    given = ("-m", "chain", "--set", "order=2", "-t", "purchase")
    run("learn", shop / "events.jsonl", *given, "-o", "chain.json")
    n = len(sm.load("chain.json").table_)
    output = run("show", "chain.json").stdout
    assert f"... and {n - output.count('% to ')} more; --all prints all" in output
    assert len(output.splitlines()) == 24
    assert run("show", "chain.json", "--all").stdout.count("% to ") == n


# ------------------------------------------------------------------ predict


def test_report_writes_the_page_of_a_graph(run: Run, shop: Path) -> None:
    result = run(
        "report", str(shop / "graph.json"), "-o", "page.html", "--events", str(shop / "events.jsonl")
    )
    assert result.stdout == "Saved the page as page.html; open it in a browser\n"
    graph, events = sm.load(shop / "graph.json"), sm.read_events(shop / "events.jsonl")
    assert Path("page.html").read_text(encoding="utf-8") == graph.to_html(events=events)


def test_report_for_programs_and_of_one_model(run: Run, shop: Path) -> None:
    document = the_only_document(run("report", str(shop / "one.json"), "--json"))
    assert document == {"saved": "report.html", "bytes": Path("report.html").stat().st_size}
    assert Path("report.html").read_text(encoding="utf-8") == sm.load(shop / "one.json").to_html()


@pytest.mark.parametrize(
    ("name", "suffix"), [("graph", "csv"), ("some", "jsonl"), ("one", "parquet"), ("joint", "csv")]
)
def test_predict_writes_a_row_an_event(run: Run, shop: Path, name: str, suffix: str) -> None:
    model, new = sm.load(shop / f"{name}.json"), sm.read_events(shop / "new.jsonl")
    result = run("predict", shop / f"{name}.json", shop / "new.jsonl", "-o", f"out.{suffix}")
    assert result.stdout == f"Saved 4,000 rows as out.{suffix}\n"
    rows = read_rows(Path(f"out.{suffix}"))
    assert [r["sequence"] for r in rows[19:21]] == ["visit 0", "visit 1"]
    assert [int(r["position"]) for r in rows[:21]] == [*range(1, 21), 1]
    assert [r["event"] for r in rows] == [label for events in new.to_lists() for label in events]
    columns = [column for column in rows[0] if column.startswith("p")][1:]
    found = np.array([[float(row[column]) for column in columns] for row in rows])
    np.testing.assert_allclose(found, expected_probabilities(model, new, columns), rtol=1e-15)
    assert list(Path().iterdir()) == [Path(f"out.{suffix}")]


def read_rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    import pyarrow.parquet

    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def expected_probabilities(model: Any, new: Any, columns: list[str]) -> Any:
    if isinstance(model, sm.InfluenceGraph):
        assert columns == [f"p({x})" for x in model.models_]
        if len(model.models_) == len(model.labels_):
            return model.predict_proba(new)
        return np.column_stack([each.predict_proba(new)[:, 0] for each in model.models_.values()])
    if len(model.target_) == 1:
        assert columns == ["p(purchase)"]
        return model.predict_proba(new)[:, :1]
    assert columns == ["p(purchase)", "p(write review)", "p_other"]
    return model.predict_proba(new)


def test_predict_for_programs(run: Run, shop: Path) -> None:
    document = the_only_document(run("predict", shop / "one.json", shop / "new.jsonl", "--json"))
    p = sm.load(shop / "one.json").predict_proba(sm.read_events(shop / "new.jsonl"))
    assert [row["p(purchase)"] for row in document["rows"]] == p[:, 0].tolist()
    saved = run("predict", shop / "one.json", shop / "new.jsonl", "--json", "-o", "p.csv")
    assert the_only_document(saved) == {
        "saved": "p.csv",
        "rows": 4000,
        "columns": ["sequence", "position", "event", "p(purchase)"],
    }


def test_predict_shows_the_first_rows(run: Run, shop: Path) -> None:
    lines = run("predict", shop / "graph.json", shop / "new.jsonl").stdout.splitlines()
    assert lines[0] == "Probabilities of 10 outcomes at 4,000 places"
    assert lines[-1] == "... and 3,990 more; -o FILE saves all"
    assert lines[3].split()[:3] == ["visit", "0", "1"]


def test_predict_no_events(run: Run, shop: Path) -> None:
    Path("empty.jsonl").write_text("[]\n")
    assert "10 outcomes at 0 places" in run("predict", shop / "graph.json", "empty.jsonl").stdout
    run("predict", shop / "one.json", "empty.jsonl", "-o", "p.csv")
    assert Path("p.csv").read_text() == '"sequence","position","event","p(purchase)"\n'


def test_predict_after_a_history(run: Run, shop: Path) -> None:
    graph = sm.load(shop / "graph.json")
    (after,) = graph.predict_next([["add to cart", "page error"]]).probabilities.tolist()
    asked = ("-a", "add to cart", "-a", "page error")
    document = the_only_document(run("predict", shop / "graph.json", *asked, "--json"))
    found = {row["target"]: row["probability"] for row in document["next"]}
    assert document["after"] == ["add to cart", "page error"]
    assert [found[x] for x in graph.labels_] == pytest.approx(after, rel=1e-12)
    lines = run("predict", shop / "graph.json", *asked).stdout.splitlines()
    assert lines[0] == "History: add to cart, page error"
    notes = " ".join(" ".join(lines).split())
    assert "Their histories are pooled, so after just this one an event may never have come." in notes
    (row,) = [line for line in lines if line.startswith("contact support")]
    assert row.split()[2] == f"{found['contact support']:.1%}"
    assert row.endswith("page error" + " " * (len(row) - len(row.rstrip())))


def test_predict_after_a_history_prints_the_most_likely(run: Run) -> None:
    labels = [f"{n:02}" for n in range(30)]
    sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([labels * 3]).save("many.json")
    document = the_only_document(run("predict", "many.json", "-a", "04", "--json"))
    assert len(document["next"]) == 30
    lines = run("predict", "many.json", "-a", "04").stdout.splitlines()
    rows = [line.split()[0] for line in lines[3:23]]
    assert rows == [row["target"] for row in document["next"][:20]]
    assert rows[0] == "05"
    assert lines[23] == "... and 10 more; --json prints all"


def test_predict_after_a_history_with_one_model(run: Run, shop: Path) -> None:
    why = sm.load(shop / "one.json").explain(["add to cart"])
    document = the_only_document(run("predict", shop / "one.json", "--after", "add to cart", "--json"))
    (told,) = document["next"]
    assert told == plain(why)
    names = "target state words support probability interval base_rate seen active counterfactuals"
    assert list(told) == [*names.split(), "in_sequences", "is_certain", "moment", "is_nearby"]
    assert told["active"] == [
        {"label": "add to cart", "lags": [1], "positions": [1], "unit": "event", "ages": []}
    ]
    printed = run(
        "predict", shop / "one.json", "--after", "browse", "-a", "add to cart", "-a", "search"
    ).stdout
    assert "  add to cart 2 events before" in printed
    without = sm.load(shop / "one.json").explain(["browse", "search", "search"])
    assert f"had add to cart not occurred: {without.probability:.1%}" in printed
    of_graph = run("predict", shop / "graph.json", "-a", "add to cart", "-t", "purchase").stdout
    assert of_graph == run("predict", shop / "one.json", "-a", "add to cart").stdout
    output = run("predict", shop / "joint.json", "-a", "purchase", "-a", "purchase").stdout
    assert "purchase x2+" in " ".join(output.split())
    partly = the_only_document(run("predict", shop / "some.json", "-a", "add to cart", "--json"))
    found = {row["target"]: row["probability"] for row in partly["next"]}
    assert found["purchase"] == pytest.approx(why.probability)  # not normalised: not all labels are there


# ------------------------------------------------------------------ evaluate


def test_evaluate_a_graph(run: Run, shop: Path) -> None:
    graph, new = sm.load(shop / "graph.json"), sm.read_events(shop / "new.jsonl")
    train = sm.read_events(shop / "events.jsonl")
    document = the_only_document(run("evaluate", shop / "graph.json", shop / "new.jsonl", "--json"))
    assert (document["sequences"], document["events"]) == (200, 4000)
    for each in document["targets"]:
        model = graph.models_[each["target"][0]]
        blind = sm.MarkovChain(each["target"][0], order=0).fit(train)
        assert each["log_likelihood"] == pytest.approx(model.log_likelihood(new), rel=1e-12)
        assert each["log_loss"] == pytest.approx(-model.log_likelihood(new) / 4000, rel=1e-12)
        assert each["brier_score"] == pytest.approx(model.brier_score(new), rel=1e-12)
        assert each["base_rate_log_loss"] == pytest.approx(-blind.score(new), rel=1e-12)
    following = document["next_event"]
    assert following["log_likelihood"] == pytest.approx(graph.log_likelihood(new), rel=1e-12)
    assert following["brier_score"] == pytest.approx(graph.brier_score(new), rel=1e-12)
    assert following["log_loss"] < following["base_rate_log_loss"]


@pytest.mark.parametrize("model", ["graph.json", "joint.json"])
def test_evaluate_what_is_streamed(run: Run, shop: Path, model: str) -> None:
    lines = (shop / "new.jsonl").read_text().splitlines()
    lines.insert(3, '{"id": "another", "events": ["tweet", "purchase", "tweet"]}')
    Path("new.jsonl").write_text("\n".join(lines))
    Path("new").mkdir()
    for part in range(3):
        Path("new", f"{part}.jsonl").write_text("\n".join(lines[part * 67 : part * 67 + 67]))
    in_memory = run("evaluate", shop / model, "new.jsonl", "--unknown", "ignore", "--json")
    for more in (["new.jsonl", "--engine", "stream", "--memory", "100K"], ["new"]):
        streamed = run("evaluate", shop / model, *more, "--unknown", "ignore", "--json")
        assert streamed.stdout == in_memory.stdout


# ------------------------------------------------------------------ trees


def test_the_leaves_of_a_tree_are_listed(run: Run, shop: Path) -> None:
    run("learn", shop / "events.jsonl", "--model", "tree", "-t", "purchase", "-o", "m.json")
    shown = run("show", "m.json").stdout
    model = sm.TreeSuMM("purchase").fit(sm.read_events(shop / "events.jsonl"))
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 80
    flat = " ".join(shown.split())
    assert "How they were found" not in flat
    assert all(f"{row.n:,.0f} " in flat for row in model.table_)
    assert all(edge.influencer in flat for edge in model.influences_)


def test_a_graph_of_trees_predicts_is_evaluated_and_simulates(run: Run, shop: Path) -> None:
    out = run("learn", shop / "events.jsonl", "-m", "tree", "-o", "g.json", "--all").stdout
    graph = sm.load("g.json")
    assert " ".join(out.split()).startswith(headline(graph.edges_))
    run("predict", "g.json", "-a", "add to cart")
    run("evaluate", "g.json", shop / "events.jsonl")
    assert len(run("simulate", "g.json", "-n", "2", "--length", "3").stdout.splitlines()) == 2
    joint = run(
        "learn", shop / "events.jsonl", "-m", "tree", "-t", "purchase", "-t", "search", "--joint"
    ).stdout
    assert "purchase + search: the next event at" in joint


# ------------------------------------------------------------------ simulate and describe


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_simulate_draws_what_the_library_draws(run: Run, shop: Path, suffix: str) -> None:
    given = ("-n", "7", "--length", "9", "--seed", "5", "-o", f"drawn.{suffix}")
    result = run("simulate", shop / "graph.json", *given)
    assert result.stdout == f"Saved 7 sequences with 63 events of 10 labels as drawn.{suffix}\n"
    expected = sm.load(shop / "graph.json").simulate(7, 9, random_state=5)
    assert sm.read_events(f"drawn.{suffix}").to_lists() == expected.to_lists()
    run("simulate", shop / "truth.json", *given)
    assert (
        sm.read_events(f"drawn.{suffix}").to_lists() == web_shop().simulate(7, 9, random_state=5).to_lists()
    )


def test_simulate_to_the_terminal_and_for_programs(run: Run, shop: Path) -> None:
    expected = web_shop().simulate(3, 2, random_state=0).to_lists()
    lines = run("simulate", shop / "truth.json", "-n", "3", "--length", "2").stdout.splitlines()
    assert [json.loads(line)["events"] for line in lines] == expected
    document = the_only_document(run("simulate", shop / "truth.json", "-n", "3", "--length", "2", "--json"))
    assert [each["events"] for each in document["data"]] == expected
    saved = run("simulate", shop / "truth.json", "-n", "3", "--length", "2", "--json", "-o", "x.csv")
    assert the_only_document(saved) == {
        "saved": "x.csv",
        "sequences": 3,
        "events": 6,
        "labels": 10,
        "seed": 0,
    }


def test_describe(run: Run, shop: Path) -> None:
    found = sm.read_events(shop / "events.jsonl").describe()
    lines = run("describe", shop / "events.jsonl", "--rows", "3").stdout.splitlines()
    assert lines[:2] == ["200 sequences, 4,000 events, 10 labels", "Events per sequence: 20 to 20, median 20"]
    assert lines[2] == "All 200 cases are taken as cut off: their ends do not count."
    most, n = max(found.label_counts.items(), key=lambda item: item[1])
    assert lines[5].split()[:3] == [most, f"{n:,}", f"{n / 4000:.1%}"]
    assert lines[-1] == "... and 7 more; --rows 0 prints all"
    document = the_only_document(run("describe", shop / "events.jsonl", "--json"))
    assert document["label_counts"] == found.label_counts


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"summarkov {sm.__version__}\n"


def test_no_command_prints_the_help(run: Run) -> None:
    assert run().stdout.strip() == run("--help").stdout.strip()
    assert "Learn which events make which others more or less likely" in run("-h").stdout


# ---------------------------------------------------------------------------------- export


@pytest.mark.parametrize("name", ["g.gv", "g.graphml"])
def test_export_text(run, shop, tmp_path, name):
    result = commands.run("export", shop / "graph.json", "-o", tmp_path / name)
    assert result.stdout.startswith("Saved ")
    graph = sm.load(shop / "graph.json")
    expected = {".dot": "to_dot", ".gv": "to_dot", ".graphml": "to_graphml"}
    assert (tmp_path / name).read_text() == getattr(graph, expected[Path(name).suffix])()


@pytest.mark.parametrize("name", ["edges.csv", "edges.parquet"])
def test_export_edges(shop, tmp_path, name):
    from pyarrow import csv, parquet

    commands.run("export", shop / "graph.json", "-o", tmp_path / name)
    found = (csv.read_csv if name.endswith("csv") else parquet.read_table)(tmp_path / name).to_pylist()
    edges = sm.load(shop / "graph.json").edges_
    assert [(row["influencer"], row["target"]) for row in found] == [(e.influencer, e.target) for e in edges]
    assert [row["ratio"] for row in found] == pytest.approx([e.ratio for e in edges])


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize(
    ("file", "more", "said"),
    [
        ("graph.json", (), "add to cart"),
        ("graph.json", ("--forest",), "rate ratio, other influencers equal"),
        ("graph.json", ("-t", "purchase"), "share of purchase, as counted"),
        ("one.json", (), "share of purchase, as counted"),
    ],
)
def test_export_figures(shop, tmp_path, file, more, said):
    commands.run("export", shop / file, "-o", tmp_path / "figure.svg", *more)
    words = (tmp_path / "figure.svg").read_text()
    assert said in words
