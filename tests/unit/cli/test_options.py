"""The tables of options say what the models and the readers take, and their true defaults."""

import inspect
import re
from pathlib import Path

import pytest

import summarkov as sm
from commands import run
from summarkov.cli.main import SHARED, declared
from summarkov.models.model import all_families

FAMILIES = {each.command_name: each for each in all_families().values() if each.command_name}
FAMILIES["joint"] = sm.JointSuMM
OPTIONS = {each.name: each for each in declared("<settings>")[1] if each.name != "set"}


def test_every_option_is_a_setting_of_some_model():
    assert set(OPTIONS) <= {name for family in FAMILIES.values() for name in family().get_params(deep=False)}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_the_defaults_that_help_states_are_those_of_the_models(name):
    words = OPTIONS[name].default.help
    stated = re.search(r"Default ([\w.,-]+?)[.;:,]?(?= |$)", words)
    owners = {kind: family for kind, family in FAMILIES.items() if name in family().get_params(deep=False)}
    default = next(owners[kind] for kind in ("bsumm", *owners) if kind in owners)().get_params(deep=False)[
        name
    ]
    if stated is None:
        assert default in (None, False, ())
        return
    texts = {str(x).lower() for x in (default if isinstance(default, tuple) else (default,))}
    assert {text.removesuffix(".0") for text in texts} <= {
        text.removesuffix(".0") for text in re.split(r",", stated[1])
    }


def test_reading_has_the_options_of_read_events():
    known = {"attribute": "attributes", "cut": "cuts", "cut_off": "ends"}
    own = {"in_order", "map", "min_count", "drop_first", "collapse", "start"}
    parameters = set(inspect.signature(sm.read_events).parameters) - {"source", "labels"}
    options = {known.get(each.name, each.name) for each in declared("<reading>")[1]} - own
    assert options == parameters


def test_a_table_says_all_of_an_option():
    table = "Where to look:\n--rows -n N>=1  At most N. [default: 20]\n--label LABEL...  One, or\n    more."
    rows, labels = declared(table)[1]
    assert (rows.annotation, rows.default.default, rows.default.min) == (int, 20, 1)
    assert (rows.default.param_decls, rows.default.rich_help_panel) == (("--rows", "-n"), "Where to look")
    assert (labels.annotation, labels.default.help) == (list[str] | None, "One, or more.")
    assert all(each.default.help for table in SHARED for each in declared(f"<{table}>")[1])


def test_the_papers_settings_are_what_is_said(tmp_path, monkeypatch):
    """Cases are cut off, and the search is not guarded: the page says so too."""
    monkeypatch.chdir(tmp_path)
    Path("paper.txt").write_text("a b c\nb a c a\n" * 10)
    printed = run("learn", "paper.txt", "--paper", "-o", "paper.json").stdout
    assert "All 20 cases are taken as cut off" in printed
    assert "false edges none" in printed
    run("report", "paper.json", "-o", "paper.html")
    assert '"false_edges":null' in Path("paper.html").read_text()
