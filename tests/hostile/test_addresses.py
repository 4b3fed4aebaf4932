"""Addresses of files may hold keys: nothing that is said shows them."""

from __future__ import annotations

import pickle

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, StoreError, SummarkovError, UnknownLabelError, without_secrets

#: Arrow refuses it before it asks anybody.
ADDRESS = "s3://me:SECRET@bucket/log.csv?scheme=http&nonsense=x"


def test_commands_and_functions():
    found = CliRunner().invoke(app, ["learn", ADDRESS])
    assert found.exit_code == 2
    refusals = [found.output]
    for read in (sm.read_events, sm.load, sm.scan_events):
        with pytest.raises(SummarkovError) as caught:
            read(ADDRESS)
        refusals.append(str(caught.value))
    for error in (
        DataError(ADDRESS),
        UnknownLabelError(ADDRESS, []),
        pickle.loads(pickle.dumps(caught.value)),
    ):
        refusals.append(str(error))
    for words in refusals:
        assert "s3://...@bucket/log.csv" in words
        assert "SECRET" not in words


@pytest.mark.parametrize(
    "text", ["s3://bucket/log.csv", "who@where", "a://b/c@d", "x: @y", "mail me@there://x", "s3://@b"]
)
def test_all_else_stays(text):
    assert without_secrets(text) == text


def test_secrets_among_settings():
    told = without_secrets("abfss://box@disk.host/a?client_id=1&client_secret=SECRET&x=2 is not there")
    assert told == "abfss://box@disk.host/a?client_id=1&client_secret=...&x=2 is not there"


@pytest.mark.parametrize("address", ["s3:///x", "file://", "http://127.0.0.1:1/x.json"])
def test_what_is_no_address_of_a_model(address):
    with pytest.raises(StoreError, match=r"is no address that can be read \(.*Arrow knows s3://"):
        sm.load(address)
