"""Which columns are chosen, and what is said where none can be."""

import pytest

from summarkov.errors import DataError
from summarkov.read.columns import CASE_NAMES, EVENT_NAMES, ORDER_NAMES, Columns, choose_columns


@pytest.mark.parametrize("case", sum(CASE_NAMES, ()))
@pytest.mark.parametrize("event", sum(EVENT_NAMES, ()))
@pytest.mark.parametrize("order", sum(ORDER_NAMES, ()))
def test_recognised_names(case, event, order):
    names = ["cost", order.upper(), event.title(), case]
    assert choose_columns(names, Columns(), "log") == Columns.of(case, event.title(), order.upper())


def test_process_mining_names_win():
    names = ["case", "event", "time", "case:concept:name", "concept:name", "time:timestamp"]
    assert choose_columns(names, Columns(), "log") == Columns.of(
        "case:concept:name", "concept:name", "time:timestamp"
    )


def test_asked_names_win_and_are_not_taken_twice():
    names = ["case", "event", "activity", "time"]
    assert choose_columns(names, Columns.of(event="time", order=False), "log") == Columns.of(
        "case", "time", False
    )
    assert choose_columns(names, Columns.of(case="event"), "log") == Columns.of("event", "activity", "time")


def test_lists_and_ids_are_not_taken():
    with pytest.raises(DataError, match=r"column 'events' of log holds lists, .* one row per event; make"):
        choose_columns(["id", "events"], Columns(), "log", list_columns={"events"})
    with pytest.raises(DataError, match="no column of log is recognised as the case"):
        choose_columns(["id", "event"], Columns(), "log")


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (
            ["case", "event", "activity"],
            Columns(),
            "log.csv has columns 'event' and 'activity', and each could be the event; say which with event=",
        ),
        (
            ["case", "event", "Time", "timestamp"],
            Columns(),
            "log.csv has columns 'Time' and 'timestamp', and each could be the order; say which with "
            "order_by=",
        ),
        (
            ["case", "x", "x"],
            Columns.of(event="x"),
            "log.csv has columns 'x' and 'x', and each could be the event; say which with event=",
        ),
        (
            ["user", "page"],
            Columns(),
            "no column of log.csv is recognised as the event; name it with event=; "
            "the columns are 'user', 'page'",
        ),
        (
            ["user", "event"],
            Columns(),
            "no column of log.csv is recognised as the case; name it with case=; "
            "the columns are 'user', 'event'",
        ),
        (
            ["user", "event"],
            Columns.of(case="usr"),
            "log.csv has no column 'usr'; the columns are 'user', 'event'; did you mean 'user'?",
        ),
        (
            ["case", "event"],
            Columns.of(order="when"),
            "log.csv has no column 'when'; the columns are 'case', 'event'",
        ),
        (
            [f"c{i}" for i in range(21)],
            Columns(),
            "no column of log.csv is recognised as the event; name it with event=; the columns are "
            + ", ".join(f"'c{i}'" for i in range(20))
            + ", ...",
        ),
    ],
)
def test_messages(names, asked, message):
    with pytest.raises(DataError) as error:
        choose_columns(names, asked, "log.csv")
    assert str(error.value) == message
