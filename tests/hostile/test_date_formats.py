"""Formats of dates that are hostile, or only foreign: read as they say, or refused before any row is."""

import re
import string
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.read.values import DateFormat

BOTH = pytest.mark.parametrize("read", [sm.read_events, sm.scan_events], ids=["memory", "stream"])
ANSWER = [["b", "a"]]


def log(folder, *times):
    path = folder / "log.csv"
    rows = "".join(f'1,{label},"{time}"\n' for label, time in zip("abc", times, strict=False))
    path.write_text(f"case,event,time\n{rows}")
    return path


@BOTH
@pytest.mark.parametrize(
    ("form", "first", "second"),
    [
        ("%Y年%m月%d日", "2024年5月6日", "2024年5月5日"),
        ("%d · %m · %Y", "6 · 5 · 2024", "5 · 5 · 2024"),
        ("le %d à %Hh%M", "le 6 à 9h30", "le 6 à 9h29"),
        ("%%%d%%", "%6%", "%5%"),
        (r"\Q%d\E", r"\Q6\E", r"\Q5\E"),
        ("(?P<day>.*)%d", "(?P<day>.*)6", "(?P<day>.*)5"),
    ],
)
def test_letters_of_any_script_and_signs_of_patterns_stand_for_themselves(
    read, form, first, second, tmp_path
):
    path = log(tmp_path, first, second)
    assert read(path, date_format=form).to_lists() == ANSWER
    for other in ("", "x" + first, first + "x"):
        with pytest.raises(DataError, match=r"is not written as date_format=|no value in its order"):
            read(log(tmp_path, first, other), date_format=form)


def test_every_sign_between_the_parts():
    for sign in string.punctuation.replace("%", "") + " \tß中\x01":
        text = pa.chunked_array([[f"3{sign}7"]])
        assert DateFormat(f"%d{sign}%m").read(text).to_pylist() == [datetime(1970, 7, 3)], sign


@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        ("%d/%m/%y %I:%M %p", "31/12/68 12:00 AM", "2068-12-31T00:00:00.000000"),
        ("%y", "70", "1970-01-01T00:00:00.000000"),
        ("%d/%m/%y %I:%M %p", "1/2/69 12:59 pm", "1969-02-01T12:59:00.000000"),
        ("%F %I %p", "2024-02-29 11 PM", "2024-02-29T23:00:00.000000"),
        ("%B %d %Y", "September 9 2024", "2024-09-09T00:00:00.000000"),
        ("%d %b %Y", "30 nov 0001", "0001-11-30T00:00:00.000000"),
        ("%F %T.%f", "2024-12-31 23:59:59.05", "2024-12-31T23:59:59.050000"),
        ("%F %H:%M %z", "2024-01-01 00:30 +05:45", "2023-12-31T18:45:00.000000"),
        ("%F %H:%M %z", "2024-01-01 00:30 -0930", "2024-01-01T10:00:00.000000"),
        ("%F %H:%M %z", "2024-01-01 00:30 Z", "2024-01-01T00:30:00.000000"),
    ],
)
def test_the_moment_that_is_meant(form, text, told):
    text = pa.chunked_array([[text]])
    form = DateFormat(form)
    assert str(np.datetime64(form.read(text)[0].value, "us")) == told


def test_numbers_in_one_file_and_dates_in_another(tmp_path):
    for name, times in (("1.csv", ("3", "4")), ("2.csv", ("1/2", "2/2"))):
        log(tmp_path, *times).rename(tmp_path / name)
    with pytest.raises(DataError, match=r"row 1 of the data holds '3' and row 1 of \S*2.csv '1/2'; write"):
        sm.scan_events(tmp_path, date_format="%d/%m")


def test_zones(tmp_path):
    told = re.escape("is not written as date_format='%F %z' says; mend it")
    for zone in ("+99:99", "+24:00", "-2400", "+00:60", "+1:00", "z", ""):
        path = log(tmp_path, "2024-01-01 +0100", f"2024-01-01 {zone}".strip())
        with pytest.raises(DataError, match=told):
            sm.read_events(path, date_format="%F %z")
    path = log(tmp_path, "2024-01-02 -23:59", "2024-01-02 +2359")
    assert sm.read_events(path, date_format="%F %z").to_lists() == ANSWER


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("%Y" + "x" * 10**7, "has 10000002 characters; give one of at most 200, such as"),
        ("%Y\udcff", r"date_format='%Y\udcff' holds '\udcff', half of a character; leave it out"),
        ("%", "has %, which is not known"),
        ("%F%Y", "must have each part of a date or time at most once"),
    ],
    ids=["long", "half", "cut", "twice"],
)
def test_formats_that_are_refused_before_anything_is_read(form, told):
    with pytest.raises(SettingError, match=re.escape(told)):
        sm.read_events("no such file.csv", date_format=form)


@BOTH
def test_forms_of_iso_that_are_not_read_are_refused_where_they_stand(read, tmp_path):
    """Python reads week dates, Arrow does not: it was said that row 1 does not go with row 1."""
    for times, row in (
        (("2024-W05-1", "2024-W05-2"), 1),
        (("2024-01-31", "2024-W05-2"), 2),
        (("20240131T101500", "20240131T101501"), 1),
        (("10:15", "T1016"), 2),
    ):
        told = f"row {row} of the data holds {times[row - 1]!r}; write all of it as numbers"
        with pytest.raises(DataError, match=re.escape(told)) as error:
            read(log(tmp_path, *times))
        assert " and row " not in str(error.value)


@BOTH
@pytest.mark.parametrize("value", ["30/02/2024", "1/13/2024", "2024-01-02", "1/1/24", "", "1/1/2024 x"])
def test_a_date_of_another_format_is_named(read, value, tmp_path):
    told = f"row 2 of the data holds '{value}', which is not written as date_format='%d/%m/%Y' says; mend"
    with pytest.raises(DataError, match=told):
        read(log(tmp_path, "31/12/2023", value), date_format="%d/%m/%Y")
