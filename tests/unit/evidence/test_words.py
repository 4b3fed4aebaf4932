"""What is said of influences, checked against counts by hand: follow rates, never, not comparable."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov import END
from summarkov.cli.learned import influences, learned
from summarkov.cli.page import Page
from summarkov.evidence import ORDERS, Influence, words
from summarkov.models.fitted import Edges
from summarkov.show.content import content


def counts_in(text: str) -> list[tuple[int, int]]:
    """All "k of n" in a text."""
    found = re.findall(r"([\d,]+) of ([\d,]+)", text)
    return [(int(k.replace(",", "")), int(n.replace(",", ""))) for k, n in found]


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), min_size=3, max_size=12),
    st.sampled_from(["a", "b", "c", END]),
    st.sampled_from([1, 3, None]),
)
def test_sentences_have_the_counts_of_the_edge(log, x, k) -> None:
    """Which are those of a count by hand, as tests/every_engine/test_followed.py checks."""
    labels = sorted({label for case in log for label in case})
    if x not in {*labels, END}:
        return
    model = sm.BSuMM(target=x, lookback=k, required=labels, candidates=()).fit(log)
    assert len(model.influences_) == len(labels)
    for edge in model.influences_:
        said = words.evidence(edge, "'Z'", "'X'", "within")
        found, followed = counts_in(said), (edge.followed, edge.occurrences)
        assert found[:1] in ([followed], [(edge.cases_followed, edge.cases_with)])
        assert followed in found
        assert not edge.occurrences_other or (edge.followed_other, edge.occurrences_other) in found
        assert x != END or said.startswith("The case ")
        assert ("never" in said.split(";")[0].split(", after")[0]) == (edge.followed == 0)
        shown = words.times(edge)
        if "never" in shown:
            assert edge.hits_with == 0
            assert shown == f"never (0 of {edge.occurrences:g})"
        if "only" in shown:
            assert edge.hits_without == 0
            assert shown == f"only with it ({edge.hits_with:g} of {edge.hits_with:g})"


# ---------------------------------------------------------------------- not comparable


def log_of(*cases: tuple[int, str]) -> list[list[str]]:
    """So many cases of each kind."""
    return [case.split() for n, case in cases for _ in range(n)]


#: With B held equal the ratio of Z is 0 or infinite, while raw counts are not.
NOT_COMPARABLE = {
    "ratio 0, raw up": log_of((300, "Z c c c"), (60, "c c x c"), (900, "c c c c"), (120, "Z B x c")),
    "ratio 0, raw down": log_of((900, "Z c c c"), (400, "c c x c"), (900, "c c c c"), (40, "Z B x c")),
    "infinite, raw up": log_of((200, "Z c x c"), (50, "B c x c"), (900, "c c c c")),
    "infinite, raw down": log_of((20, "Z c x c"), (400, "Z c c c"), (300, "B x x c"), (30, "c c c c")),
}


def not_comparable(log: list[list[str]], *more: str) -> tuple[sm.BSuMM, Influence]:
    events = sm.EventSequences.from_lists(log)
    model = sm.BSuMM(target="x", lookback=None, required=["Z", "B", *more], candidates=()).fit(events)
    return model, next(edge for edge in model.influences_ if edge.influencer == "Z")


@pytest.mark.parametrize("name", NOT_COMPARABLE)
def test_a_ratio_of_comparable_strata_alone_is_not_comparable(name, capsys) -> None:
    model, edge = not_comparable(NOT_COMPARABLE[name])
    assert edge.hits_with * edge.hits_without > 0
    assert edge.ratio == (0 if "ratio 0" in name else np.inf)
    assert edge.not_comparable == "B"
    raw = (edge.hits_with / edge.n_with) / (edge.hits_without / edge.n_without)
    assert edge.raw_ratio == pytest.approx(raw)
    assert (raw > 1) == ("raw up" in name)
    assert edge.effect in ("amplifies", "inhibits")  # the record keeps what the interval says
    assert (edge.shown_effect, edge.set_aside) == ("unclear", "not comparable")
    assert words.times(edge) == (f"raw ×{raw:.0f}" if raw >= 9.95 else f"raw ×{raw:#.2g}")
    assert words.limits(edge) == ""
    # the terminal, the page and the table that it saves, a frame, and a sheet, which notebooks show
    Page().show(learned(model))
    assert "Z → x: not comparable with B held equal" in capsys.readouterr().out
    page = content(model)
    at = [page["labels"][code] for code in page["edges"]["influencer"]].index("Z")
    found = {name: column[at] for name, column in page["edges"].items()}
    assert (found["effect"], found["effectWord"]) == ("unclear", "not comparable")
    assert (found["not_comparable"], found["set_aside"]) == ("B", "not comparable")
    assert found["verdict"].startswith("not comparable with B held equal; raw, ")
    (row,) = (row for row in model.influences_.to_frame("pyarrow").to_pylist() if row["influencer"] == "Z")
    assert (row["not_comparable"], row["shown_effect"]) == ("B", "unclear")
    (cells,) = (cells for cells in model.influences_.summary().rows if cells[0] == "Z")
    assert "not comparable" in cells
    said = " ".join((words.times(edge), *cells, json.dumps(found)))
    assert not re.search("never|only then|only with it", said)


def test_nothing_comparable_at_all() -> None:
    _, edge = not_comparable(log_of((300, "Z B x c"), (90, "c x c c"), (600, "c c c c"), (40, "B c x c")))
    assert not edge.not_comparable  # some are: B without Z
    events = log_of((300, "B x c c"), (90, "Z x c c"), (600, "Z c c c"))
    (edge,) = sm.BSuMM(target="x", lookback=None, required=["Z"], candidates=()).fit(events).influences_
    assert not edge.not_comparable  # there is no other influencer


def test_the_influencer_that_makes_it_so_is_named() -> None:
    """C varies freely and is not the reason; B is."""
    cases = NOT_COMPARABLE["ratio 0, raw up"]
    log = [[*(["C"] if at % 2 else []), *case] for at, case in enumerate(cases)]
    edge = not_comparable(log, "C")[1]
    assert (edge.ratio, edge.not_comparable) == (0, "B")


# ---------------------------------------------------------------------- few comparable, reversed, directions

EDGE = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 300, 1000, 200, 2000)


def followed(k: float, n: float, k_other: float, n_other: float, rule="counted", **more) -> Influence:
    """The edge with follow rates."""
    own = {"occurrences": n, "followed": k, "follow_rate": k / n, "follow_rule": rule}
    other = {"occurrences_other": n_other, "followed_other": k_other, "follow_rate_other": k_other / n_other}
    return replace(EDGE, **own, **other, **more)


def test_no_factor_from_few_comparable_events() -> None:
    few = replace(EDGE, comparable_hits=9.0, comparable_expected=3.0)
    assert words.times(few) == "raw ×3.0"
    assert words.limits(few) == ""
    assert words.verdict(few) == (
        "amplifies, raw, 3.0 times as likely; with other influencers equal too few events are comparable"
    )
    enough = replace(few, comparable_expected=10.0)
    assert words.times(enough) == "×3.0"
    turned = replace(few, effect="inhibits", ratio=0.2, low=0.1, high=0.8)
    assert turned.is_reversed
    assert turned.shown_effect == "unclear"
    assert words.verdict(turned).startswith("unclear direction, raw, 3.0 times as likely")


def test_raw_and_adjusted_are_both_shown_where_they_differ(capsys) -> None:
    edge = replace(
        EDGE, effect="inhibits", ratio=0.7, low=0.6, high=0.8, comparable_hits=90.0, comparable_expected=120.0
    )
    assert words.times(edge) == "×0.70, raw ×3.0"
    assert "0.70 times as likely (95% interval 0.60 to 0.80)" in words.verdict(edge)
    assert words.verdict(edge).endswith("; raw, 3.0 times as likely")
    Page().show(influences([edge], {}))
    assert "×0.70, raw ×3.0" in capsys.readouterr().out


def test_no_verb_where_follow_rates_point_the_other_way(capsys) -> None:
    edge = followed(20.0, 100.0, 450.0, 900.0)
    assert edge.directions_differ
    assert words.effect_word(edge) == "unclear direction"
    assert edge.effect == "amplifies"
    assert "follow rates point the other way" in words.verdict(edge)
    assert "3.0 times as likely" in words.verdict(edge)
    Page().show(influences([edge], {}))
    output = capsys.readouterr().out
    assert "? A → B" in " ".join(output.split())
    assert "20.0% of 100" in output
    assert "Unclear direction: the interval holds 1, or rates and ratio point different ways" in output


def test_cases_lead_where_the_influencer_comes_often_in_a_case() -> None:
    edge = followed(1020.0, 2300.0, 90.0, 900.0, cases_with=843.0, cases_followed=620.0)
    assert words.evidence(edge, "Z", "x", "within 5 events") == (
        "In 620 of 843 cases with Z, x follows within 5 events; in 44.3% of occurrences (1,020 of 2,300), "
        "after other events in 10.0% (90 of 900)"
    )


def test_a_ratio_far_from_the_follow_rates_is_explained() -> None:
    """B follows most events within 5, for A comes soon; but hardly ever is it next without A."""
    counted = {"follow_rate": 1.0, "follow_rate_other": 0.2, "occurrences": 94.0, "followed": 94.0}
    edge = Influence("A", "B", "amplifies", 300.0, 90.0, 999.0, 94, 200, 3, 5000, **counted)
    assert words.verdict(edge).endswith(
        "; it is next at 47.0% of moments with it in the window (94 of 200), otherwise at 0.06% (3 of 5,000)"
    )
    assert words.verdict(replace(edge, ratio=5.0)).endswith("other influencers equal")


def test_cut_off_sequences_are_said_to_be_so() -> None:
    edge = followed(60.0, 100.0, 90.0, 900.0, rule="complete windows", left_out=7.0)
    note = "Follow rates leave out all occurrences whose window is cut off."
    assert Edges([edge, EDGE]).summary().notes == (note,)
    assert words.follow_note([EDGE, replace(edge, follow_rule="counted")]) == ""
    about = replace(edge, follow_rule="product-limit", follow_rate=0.7)
    assert words.change(about) == "about 10.0% → about 70.0%"
    assert "product-limit" in words.follow_note([about])


def test_never_is_not_said_where_hits_were_left_out() -> None:
    """All windows with a hit are cut off: none of those counted is followed, and yet it does follow."""
    log = [["a", "c", "c", "b"]] * 20 + [["a", "c", "c", "c", "c"]] * 20
    events = sm.EventSequences.from_lists(log, ends="cut off")
    model = sm.BSuMM(target="b", lookback=4, required=["a"], candidates=()).fit(events)
    (edge,) = model.influences_
    assert (edge.followed, edge.occurrences, edge.left_out, edge.hits_with) == (0, 20, 20, 20)
    said = words.evidence(edge, "a", "b", "within 4 events")
    assert said == (
        "b follows a within 4 events in 0% of occurrences (0 of 20); 20 occurrences left out; in 20 of 40 "
        "cases with a"
    )
    assert "never" not in words.times(edge)


def test_moments_are_called_so_where_follow_rates_are_not_known() -> None:
    said = words.evidence(EDGE, "'A'", "'B'", "within 5 events")
    assert said == (
        "At 30.0% of the moments (300 of 1,000) with 'A' in its window, 'B' is the next event; "
        "otherwise at 10.0% (200 of 2,000)"
    )
    assert words.change(EDGE) == "10.0% → 30.0% of moments"


# ---------------------------------------------------------------------- headlines


def test_what_was_set_aside_does_not_count() -> None:
    company = [replace(EDGE, target=x, order=ORDERS[1]) for x in "BCD"]
    assert words.headline(company) == "0 influences depend on order (set aside: 3 co-occurrence only)"
    mixed = [
        replace(EDGE, order=ORDERS[0]),
        replace(EDGE, order=ORDERS[0], competition=True),
        replace(EDGE, order="fixed order"),
        replace(EDGE, order="unclear"),
        replace(EDGE, hits_with=3, hits_without=2, order=ORDERS[0]),
    ]
    assert words.headline(mixed) == (
        "1 influence depends on order (set aside: 1 fixed order, 1 crowding out, 1 unclear order, "
        "1 too few events)"
    )
    assert words.headline([EDGE, replace(EDGE, effect="unclear", low=0.5)]) == (
        "1 influence (set aside: 1 unclear direction)"
    )
