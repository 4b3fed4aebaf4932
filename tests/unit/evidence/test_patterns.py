"""Patterns of planted tables are named, noise is not; mixed influences say on whom they depend."""

import itertools
import json

import pytest

import summarkov as sm

TWO = list(itertools.product((0, 1), repeat=2))
THREE = list(itertools.product((0, 1), repeat=3))
MORE = {(0, 0): 0.05, (0, 1): 0.12, (1, 0): 0.15, (1, 1): 0.6}
CROSSED = {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.4}


def fitted(table, names="BC", n_sequences=400, seed=0, **settings):
    """A model of X over given influencers, from dynamics in which X has this table and Z takes the rest."""
    rest = 0.95 - 0.1 * len(names)
    rules = {
        "X": (tuple(names), dict(table)),
        "Z": (tuple(names), {state: rest - p for state, p in dict(table).items()}),
        "A": 0.05,
        **dict.fromkeys(names, 0.1),
    }
    events = sm.Dynamics(rules, lookback=3).simulate(n_sequences, 30, seed)
    return sm.BSuMM("X", lookback=3, required=list(names), candidates=[], **settings).fit(events)


def noisy_or(base, *each):
    """Each influencer that is there brings X about on its own."""
    table = {}
    for state in itertools.product((0, 1), repeat=len(each)):
        rest = 1 - base
        for there, p in zip(state, each, strict=True):
            rest *= (1 - p) ** there
        table[state] = 1 - rest
    return table


def levels(*likely, states=TWO, high=0.4, low=0.1):
    return {state: high if state in likely else low for state in states}


@pytest.mark.parametrize(
    ("table", "kind", "words"),
    [
        (levels((1, 1)), "and", "B and C together"),
        (levels((0, 1), (1, 0), (1, 1)), "or", "B or C"),
        (levels((0, 0)), "nor", "neither B nor C"),
        (levels((0, 1), (1, 0)), "xor", "B or C but not both"),
        (levels((1, 0)), "without", "B without C"),
        (levels((0, 1)), "without", "C without B"),
        (MORE, "together", "B and C together more than apart"),
        (levels((1, 1, 1), states=THREE), "and", "B, C and D together"),
        (levels(*THREE[1:], states=THREE), "or", "B, C or D"),
        (levels((0, 0, 0), states=THREE), "nor", "none of B, C and D"),
        (levels((1, 1, 0), states=THREE), "without", "B and C without D"),
    ],
)
def test_planted_patterns(table, kind, words):
    names = "BCD"[: len(next(iter(table)))]
    (pattern,) = fitted(table, names, n_sequences=400 * 2 ** (len(names) - 1)).patterns_
    assert (pattern.target, pattern.kind, pattern.words) == ("X", kind, words)
    assert pattern.influencers == tuple(names)
    assert pattern.probability == pytest.approx(max(table.values()), abs=0.05)
    assert pattern.otherwise == pytest.approx(min(table.values()), abs=0.05)


def test_nothing_is_named_that_is_not_there():
    """Influencers forced upon noise, and one that works alone beside an idle one."""
    noise = [fitted(dict.fromkeys(TWO, 0.2), n_sequences=100, seed=seed).patterns_ for seed in range(100)]
    assert sum(len(found) for found in noise) <= 1
    alone = [fitted(levels((1, 0), (1, 1)), n_sequences=200, seed=seed).patterns_ for seed in range(40)]
    assert sum(len(found) for found in alone) <= 2
    graded = {(0, 0): 0.1, (0, 1): 0.2, (1, 0): 0.3, (1, 1): 0.2}
    assert fitted(graded, n_sequences=800).patterns_ == ()
    for each in ((0.2, 0.25), (0.12, 0.15, 0.18)):  # each works on its own
        assert fitted(noisy_or(0.05, *each), "BCD"[: len(each)], n_sequences=800).patterns_ == ()
    for likely in (((0, 0), (1, 1)), ((0, 0), (0, 1), (1, 0))):  # two levels of no simple name
        assert fitted(levels(*likely), n_sequences=800).patterns_ == ()


def test_states_hardly_seen_have_no_pattern():
    assert fitted(levels((1, 1)), n_sequences=3).patterns_ == ()
    assert fitted(levels((1, 1)), n_sequences=400, alpha=1000).patterns_ == ()
    chain = sm.MarkovChain("B").fit([["A", "B"]] * 20)
    assert chain.patterns_ == ()
    assert sm.BSuMM("B", lookback=1).fit([["A", "B", "C"]] * 20).patterns_ == ()  # one influencer


def test_ordinal_and_count_models_are_taken_by_presence():
    rules = {
        "X": (("B", "C"), levels((1, 1))),
        "Z": (("B", "C"), {s: 0.8 - p for s, p in levels((1, 1)).items()}),
    }
    events = sm.Dynamics({**rules, "B": 0.1, "C": 0.1}, lookback=3).simulate(800, 30, 0)
    for family in (sm.OSuMM, sm.CSuMM):
        (pattern,) = family("X", lookback=3, required=["B", "C"], candidates=[]).fit(events).patterns_
        assert pattern.kind == "and"


def test_a_mixed_influence_says_on_whom_it_depends():
    model = fitted(CROSSED, n_sequences=800)
    assert [(e.influencer, e.effect, e.depends) for e in model.influences_] == [
        ("B", "mixed", "amplifies with C, inhibits without"),
        ("C", "mixed", "amplifies with B, inhibits without"),
    ]
    plain = fitted(levels((1, 1)), n_sequences=800)
    assert [e.depends for e in plain.influences_] == ["", ""]
    table = {s: 0.4 if (s[0] and not s[2]) or (s[2] and not s[0]) else 0.1 for s in THREE}  # C is idle
    model = fitted(table, "BCD", n_sequences=2000)
    depends = {e.influencer: e.depends for e in model.influences_}
    assert depends["B"] == "inhibits with D, amplifies without"
    assert depends["D"] == "inhibits with B, amplifies without"


def test_printed_and_in_json(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from summarkov.cli.main import app

    monkeypatch.setenv("COLUMNS", "80")
    fitted(levels((0, 1), (1, 0), (1, 1))).save(tmp_path / "or.json")
    fitted({(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.4}, n_sequences=800).save(
        tmp_path / "mixed.json"
    )
    printed = CliRunner().invoke(app, ["show", str(tmp_path / "or.json")]).stdout
    assert "Pattern (or): X with B or C: 39.7% instead of" in printed
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= 80
    document = json.loads(CliRunner().invoke(app, ["show", str(tmp_path / "or.json"), "--json"]).stdout)
    assert [(p["kind"], p["words"]) for p in document["patterns"]] == [("or", "B or C")]
    assert str(sm.load(tmp_path / "or.json").patterns_[0]).startswith("X with B or C: 39.7% instead of")
    printed = CliRunner().invoke(app, ["show", str(tmp_path / "mixed.json")]).stdout
    assert "~ B → X: amplifies with C, inhibits without" in printed
