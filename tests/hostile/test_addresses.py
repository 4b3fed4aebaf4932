"""Addresses of files may hold keys: nothing that is said shows them."""

from __future__ import annotations

import pickle

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, StoreError, SummarkovError, UnknownLabelError, without_secrets

#: Nobody listens there.
NOWHERE = "endpoint_override=127.0.0.1:1&scheme=http&region=x"
ADDRESS = f"s3://me:SECRET@bucket/log.csv?{NOWHERE}"


@pytest.mark.parametrize("command", [["describe", ADDRESS], ["learn", ADDRESS], ["show", ADDRESS]])
def test_commands(command):
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2
    assert "://...@bucket" in found.stderr
    assert "SECRET" not in found.output


@pytest.mark.parametrize("read", [sm.read_events, sm.load, sm.scan_events])
def test_functions(read):
    with pytest.raises(SummarkovError, match=r"s3://\.\.\.@bucket/log.csv") as refused:
        read(ADDRESS)
    assert "SECRET" not in str(refused.value)


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
