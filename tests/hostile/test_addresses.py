"""Addresses of files may hold keys: nothing that is said shows them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, StoreError, SummarkovError, UnknownLabelError, without_secrets

#: Nobody listens there.
NOWHERE = "endpoint_override=127.0.0.1:1&scheme=http&region=x"
ADDRESS = f"s3://me:SECRET@bucket/log.csv?{NOWHERE}"


def test_commands_and_functions():
    """All at once: each tries for some seconds."""

    def refused(read):
        with pytest.raises(SummarkovError) as caught:
            read(ADDRESS)
        return str(caught.value)

    with ThreadPoolExecutor(3) as pool:
        told = pool.map(refused, [sm.read_events, sm.load, sm.scan_events])
        found = CliRunner().invoke(app, ["learn", ADDRESS])
        for words in (found.output, *told):
            assert "s3://...@bucket/log.csv" in words
            assert "SECRET" not in words
    assert found.exit_code == 2


def test_all_errors_leave_them_out():
    for error in (
        DataError(ADDRESS),
        UnknownLabelError(ADDRESS, []),
        pickle.loads(pickle.dumps(DataError(ADDRESS))),
    ):
        assert "SECRET" not in str(error)
        assert "@bucket" in str(error)


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
