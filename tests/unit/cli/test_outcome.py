"""``summarkov outcome``: what is printed can be counted."""

import json

import pytest

import commands
from commands import run as command

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

ROWS = [("a", "ask wait"), ("b", "ask check"), ("c", "wait"), ("d", "check ask")]
RESULTS = {"a": "declined", "b": "paid", "c": "declined", "d": "paid"}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    lines = ["case,event,time,result"]
    for copy in range(20):
        for case, text in ROWS:
            for place, event in enumerate(text.split()):
                lines.append(f"{case}{copy},{event},{place},{RESULTS[case]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments):
    return commands.run("outcome", *arguments)


def test_it_is_counted_by_state(log):
    found = run(log, "--column", "result=declined", "--json")
    told = json.loads(found.stdout)
    assert (told["outcome"], told["cases"], told["base_rate"]) == ("result=declined", 80, 0.5)
    (influencer,) = told["influencers"]
    assert influencer in ("check", "wait")
    expected = {"declined": 40.0} if influencer == "wait" else {"declined": 0.0}
    states = {row["state"]: (row["cases"], row["with_outcome"]) for row in told["states"]}
    assert states[influencer] == (40.0, expected["declined"])


def test_a_saved_model_shows_and_predicts_the_same(log, tmp_path):
    saved, cases = tmp_path / "model.json", tmp_path / "open.csv"
    cases.write_text("case,event,time\nx,wait,1\ny,check,1\n")
    learned = json.loads(run(log, "--column", "result=declined", "-o", saved, "--json").stdout)
    assert learned["saved"] == str(saved)
    shown = json.loads(command("show", saved, "--json").stdout)
    assert learned.pop("read")["columns"]["order"] == ["time"]
    assert {"saved": str(saved), **shown} == learned
    assert "result=declined: 50.0% of 80 cases" in command("show", saved).stdout
    rows = json.loads(command("predict", saved, cases, "--json").stdout)["rows"]
    told = {row["sequence"]: row["p(result=declined)"] for row in rows}
    assert told["x"] == pytest.approx(40.1 / 60.2)  # after one event, 60 cases are without a check
    assert told["y"] == pytest.approx(0.1 / 20.2)
    table = tmp_path / "rows.csv"
    written = command("predict", saved, cases, "-o", table)
    assert written.stdout == f"Saved 2 rows as {table}\n"
    assert table.read_text().splitlines()[0] == (
        '"sequence","position","p(result=declined)","after","already_reached"'
    )
    why = json.loads(command("predict", saved, "--after", "wait", "--json").stdout)["next"][0]
    assert (why["target"], why["probability"]) == ("result=declined", told["x"])
    printed = command("predict", saved, "--after", "wait").stdout
    assert f"result=declined: {told['x']:.1%} (95% interval" in printed
    refused = command("export", saved, "-o", tmp_path / "graph.dot", code=2)
    assert "holds a model of an outcome" in refused.output


def test_the_page_of_a_saved_model(log, tmp_path):
    saved, page = tmp_path / "model.json", tmp_path / "page.html"
    run(log, "--column", "result=declined", "-o", saved)
    written = command("report", saved, "--events", log, "--sequences", "2", "-o", page, "--json")
    assert json.loads(written.stdout) == {"saved": str(page), "bytes": page.stat().st_size}
    text = page.read_text().partition('id="model">')[2].partition("</script>")[0]
    told = json.loads(text)
    names = [told["labels"][code] for code in told["outcome"]]
    assert names == ["result=declined", "result=declined: no"]
    ends = {case[0]: told["labels"][case[1][-1]] for case in told["cases"]}
    assert ends == {"a0": "result=declined", "d19": "result=declined: no"}
    assert told["lengths"]["longest"] == 2  # the outcome is no event


def test_a_case_that_has_already_reached_it_is_marked(tmp_path):
    log, saved = tmp_path / "log.txt", tmp_path / "model.json"
    log.write_text("\n".join(["a b pay a", "a b c c", "b a a pay", "b b a c"] * 10) + "\n")
    learned = run(log, "--contains", "pay", "--after", "3", "-o", saved)
    lines = learned.stdout.splitlines()
    assert " ".join(lines[:2]).startswith(
        "contains pay: 33.3% of 30 cases that had at least 3 events and had not reached  it, from what is"
    )
    assert lines[2:4] == [
        "Left out: 10 cases, reached it within 3 events",
        "Of all cases whose outcome is known: 50.0%",
    ]
    printed = command("predict", saved, "--after", "a", "--after", "pay", "--after", "a").stdout
    assert printed.splitlines()[2:] == ["contains pay: already reached"]
    (row,) = json.loads(command("predict", saved, "-a", "pay", "--json").stdout)["next"]
    assert (row["probability"], row["interval"], row["is_certain"]) == (1.0, [1.0, 1.0], True)
    told = json.loads(command("predict", saved, log, "--json").stdout)["rows"]
    assert [each["already_reached"] for each in told] == [True, False] * 20
    assert {each["after"] for each in told} == {4}
    printed = command("predict", saved, log).stdout
    assert "20 cases already reached it: there is nothing left to predict." in " ".join(printed.split())
    assert "100%" not in printed
    why = command("predict", saved, log, "--why", "1")
    assert " cases)" in " ".join(why.stdout.split())


def test_cases_are_counted_and_told_in_a_sentence(tmp_path):
    log = tmp_path / "log.txt"
    ways = {"ask lab release": 36, "ask release back": 26, "ask lab": 36, "ask back": 2}
    log.write_text("".join(f"{way}\n" * n for way, n in ways.items()))
    told = " ".join(run(log, "--ends-with", "back", "--forbidden", "lab").stdout.split())
    assert "+ release 26 of 62 5.3% → 41.9%" in told
    assert "ends with back in 41.9% of cases with release (26 of 62), otherwise in 5.3% (2 of 38)." in told
    (edge,) = json.loads(run(log, "--ends-with", "back", "--forbidden", "lab", "--json").stdout)["influences"]
    assert (edge["hits_with"], edge["n_with"], edge["hits_without"], edge["n_without"]) == (26, 62, 2, 38)


def test_an_influencer_that_is_the_outcome_is_named(log):
    told = " ".join(run(log, "--column", "result=declined").stdout.split())
    words = (
        "'check' nearly determines the outcome 'result=declined': 0 of 40 cases with it and 40 of 40 without "
        "have it; add it to what is forbidden to leave it out"
    )
    assert f"Notice: {words}." in told
    assert json.loads(run(log, "--column", "result=declined", "--json").stdout)["notices"] == [words]


def test_settings_and_what_was_not_found_are_told(log, tmp_path):
    saved = tmp_path / "model.json"
    printed = run(log, "--column", "result=declined", "--forbidden", "wait", "-o", saved).stdout
    assert "BSuMM: look-back none" in printed
    assert "Without → with" in printed
    assert "how many times as likely with it" in printed
    assert "BSuMM: look-back none, alpha 0.1" in command("show", saved, "--all").stdout
    told = json.loads(run(log, "--column", "result=declined", "-k", "3", "--json").stdout)
    assert told["settings"]["lookback"] == 3
    nothing = run(log, "--ends-with", "check", "--gamma", "1000").stdout
    said = "No event and no attribute was found to change it; a weak influence may be missed."
    assert said in " ".join(nothing.split())


def test_how_sure_influences_are_is_told(log):
    asked = (log, "--column", "result=declined", "--order-test", "--confidence", "4")
    told = json.loads(run(*asked, "--json").stdout)
    (edge,), (sure,) = told["order"]["edges"], told["confidence"]["edges"]
    assert (edge["order"], sure["frequency"], told["confidence"]["n"]) == ("unclear", 1.0, 4)
    told = " ".join(run(*asked).stdout.split())
    assert "1 edge against 99 shuffles, 0 depending on order" in told
    assert "4 graphs, each learned from 80 sequences drawn again" in told
    assert "order" not in json.loads(run(*asked[:3], "--json").stdout)


def test_it_is_said_why_sequences_are_left_out_and_what_was_read(log, tmp_path):
    partly = tmp_path / "partly.csv"
    partly.write_text(
        log.read_text().replace("a0,ask,0,declined\na0,wait,1,declined", "a0,ask,0,\na0,wait,1,")
    )
    lines = run(partly, "--column", "result=declined").stdout.splitlines()
    assert "Left out: 1 case, no outcome known" in lines
    assert "Read from: case 'case', event 'event', order 'time', attribute 'result'." in lines
    lines = run(partly, "--column", "result=declined", "--after", "2").stdout.splitlines()
    assert "Left out: 20 cases, ended before event 2" in lines
    told = json.loads(run(partly, "--column", "result=declined", "--after", "2", "--json").stdout)
    assert told["left_out"] == {"no outcome known": 1, "ended before event 2": 20}
    assert (told["after"], told["cases"], told["overall_rate"]) == (2, 59, 39 / 79)
    lines = run(log, "--ends-with", "ask", "--search", "exact").stdout.splitlines()
    assert not any("Left out" in line for line in lines)
    assert any(line.startswith("Exact search: for 1 of 1 label no other influencers score") for line in lines)
