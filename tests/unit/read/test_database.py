"""Rows of a real database come in through the door for Arrow streams."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

import summarkov as sm
from needs import POSTGRES
from summarkov.errors import DataError, TiesWarning

pytestmark = pytest.mark.needs("PostgreSQL")


def _user():
    """Whoever runs the server, which refuses to be run by root."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL is not run by root, and there is no user postgres")


@pytest.fixture(scope="module")
def address():
    """A server of its own on loopback."""
    user, programs = _user(), POSTGRES[-1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name, "data")
        if user is not None:
            shutil.chown(name, user)

        def run(program, *given):
            subprocess.run(
                [programs / program, *given], check=True, capture_output=True, user=user, cwd="/", timeout=120
            )

        run("initdb", "-D", folder, "-U", "tester", "-A", "trust", "--no-sync")
        options = f"-p {port} -h 127.0.0.1 -k {name}"
        run("pg_ctl", "-D", folder, "-w", "-l", Path(name, "log"), "-o", options, "start")
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", folder, "-w", "-m", "immediate", "stop")


def test_events_of_a_query(address):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("create table visits (customer int, page text, seen timestamp with time zone)")
        cursor.execute(
            "insert into visits values (2, 'cart', '2024-05-01 10:00+00'), "
            "(1, 'home', '2024-05-01 09:00+00'), "
            "(2, 'home', '2024-05-01 09:30+00'), (1, 'pay', '2024-05-01 11:00+02'), (3, null, now())"
        )
        cursor.execute("select customer, page, seen from visits where page is not null")
        with pytest.warns(TiesWarning, match="1 event of the table with the same 'seen' as the one before"):
            events = sm.read_events(
                cursor.fetch_arrow(), case="customer", event="page", order_by="seen", times=True
            )
        assert dict(zip(events.ids, events.to_lists(), strict=True)) == {
            "2": ["home", "cart"],
            "1": ["home", "pay"],
        }
        assert events.tied_order == 1  # 11:00 in Berlin is 9:00 in Greenwich
        cursor.execute("select customer as case, page as event, seen as time from visits")
        with pytest.raises(DataError, match="'event' of the table has no value in 1 row"):
            sm.read_events(cursor.fetch_arrow())
