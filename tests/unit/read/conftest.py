"""Files for the tests of readers."""

import pathlib

import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file and return its name; names in messages are then short."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        path = pathlib.Path(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write
