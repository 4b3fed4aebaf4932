"""Events, models and outputs in an object store, which runs on this machine; and files that are open."""

import io
import json
from pathlib import Path

import pytest
from pyarrow import fs, parquet
from typer.testing import CliRunner

import needs
import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, StoreError
from summarkov.read.files import is_address, name_of, plain_name, size_of

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = sm.read_events({f"visit {k}": ["A", "B", "C", "A", "B"][k % 3 :] for k in range(30)}, ends="cut off")


@pytest.fixture(scope="module")
def store():
    """The address of a bucket in a store that speaks S3, on loopback."""
    if why := needs.why_not("moto", "flask_cors"):
        pytest.skip(why)
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION"):
            patch.setenv(f"AWS_{name}", "us-east-1" if name == "REGION" else "test")
        settings = f"?endpoint_override={host}:{port}&scheme=http&allow_bucket_creation=true"
        system, path = fs.FileSystem.from_uri(f"s3://bucket{settings}")
        system.create_dir(path)
        yield lambda name: f"s3://bucket/{name}{settings}"
    server.stop()


def rows(start, stop):
    return EVENTS[start:stop].to_frame("pyarrow")


@pytest.mark.parametrize("name", ["log.parquet", "log.csv.gz", "log.jsonl"])
def test_events_go_there_and_back(store, name):
    sm.write_events(EVENTS, store(name))
    assert sm.read_events(store(name)) == EVENTS
    with sm.scan_events(store(name)) as source:
        assert source.label_counts.tolist() == EVENTS.label_counts.tolist()


def test_folders_patterns_and_lists(store):
    for number in range(3):
        system, path = fs.FileSystem.from_uri(store(f"lake/day={number}/part.parquet"))
        system.create_dir(path.rpartition("/")[0])
        parquet.write_table(rows(10 * number, 10 * number + 10), path, filesystem=system)
    model = sm.BSuMM("B").fit(EVENTS)
    every = [store(f"lake/day={number}/part.parquet") for number in range(3)]
    for path in (store("lake"), store("lake/"), store("lake/day=*/part.parquet"), every):
        with sm.scan_events(path) as source:
            assert sm.BSuMM("B").fit(source).to_document() == model.to_document()
    with sm.scan_events(store("lake/day=[01]*")) as source:
        assert source.n_sequences == 20
    for wrong, words in (
        ("nothing", "there is no file or folder s3://bucket/nothing"),
        ("lake/*.csv", "there are no files that end in|cannot be told"),
    ):
        with pytest.raises(DataError, match=words):
            sm.scan_events(store(wrong), format="parquet")
    with pytest.raises(DataError, match=r"there is no file s3://bucket/nothing.csv"):
        sm.read_events(store("nothing.csv"))


def test_models_and_pages(store):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(EVENTS)
    graph.save(store("model.json"))
    assert sm.load(store("model.json")).to_document() == graph.to_document()
    graph.to_html(store("page.html"))
    system, path = fs.FileSystem.from_uri(store("page.html"))
    assert system.open_input_file(path).read().startswith(b"<!DOCTYPE html>")
    with pytest.raises(StoreError, match=r"s3://bucket/other.json.*: there is no such file"):
        sm.load(store("other.json"))
    with pytest.raises(StoreError, match="cannot be written"):
        graph.save(
            store("model.json")
            .replace("//bucket", "//no-such-bucket")
            .replace("&allow_bucket_creation=true", "")
        )


def test_commands(store, monkeypatch, tmp_path):
    """Events, models and results of the command line, by the addresses that were typed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(each) for each in arguments])
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    sm.write_events(EVENTS, store("cli/log.csv"))
    model = store("cli/model.json")
    said = run("learn", store("cli/log.csv"), "--model", "bsumm", "--lookback", "2", "-o", model)
    assert f"Saved the model as {model}" in said
    graph = sm.load(model)
    expected = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(EVENTS)
    assert graph.influencers_ == expected.influencers_
    assert "among 3 event types" in run("show", model)
    assert "Log loss" in run("evaluate", model, store("cli/log.csv"))
    said = run("predict", model, store("cli/log.csv"), "-o", store("cli/rows.csv"), "--json")
    assert json.loads(said)["saved"] == store("cli/rows.csv")
    assert size_of(store("cli/rows.csv")) > 1000
    assert f"Saved {store('cli/graph.svg')}" in run("export", model, "-o", store("cli/graph.svg"))
    run("report", model, "-o", store("cli/page.html"), "--json")
    assert size_of(store("cli/page.html")) > 10_000
    refused = run("convert", store("cli/log.csv"), store("cli/log.csv"), code=2)
    assert "it is read here, and would be lost" in refused
    refused = run("learn", "ftp://host/log.csv", code=2)
    assert "ftp://host/log.csv is no address that can be read" in refused
    assert list(tmp_path.iterdir()) == []


def test_addresses_that_pathlib_made_paths_of(store, tmp_path):
    sm.write_events(EVENTS, Path(store("path.csv")))
    assert sm.read_events(Path(store("path.csv"))) == EVENTS
    (tmp_path / "s3:").mkdir()
    there = tmp_path / "s3:" / "log.csv"
    sm.write_events(EVENTS, there)
    assert sm.read_events(there) == EVENTS


def test_addresses_that_are_not_known():
    with pytest.raises(DataError, match=r"ftp://host/log.csv is no address .* Arrow knows s3://, gs://"):
        sm.read_events("ftp://host/log.csv")
    paths = ("s3://a", "file:///a", "a/b", "C:/a", "C:\\a")
    assert [path for path in paths if is_address(path)] == ["s3://a"]
    assert plain_name("a?b") == "a?b"


def test_addresses_of_this_machine(tmp_path):
    address = (tmp_path / "my log.csv").as_uri()
    sm.write_events(EVENTS, address)
    assert (tmp_path / "my log.csv").exists()
    assert name_of(address) == str(tmp_path / "my log.csv")
    assert sm.read_events(address) == EVENTS
    with sm.scan_events(tmp_path.as_uri()) as source:
        assert source.n_sequences == 30
    model = sm.BSuMM("B").fit(EVENTS)
    model.save((tmp_path / "model.json").as_uri())
    assert sm.load(tmp_path / "model.json").to_document() == model.to_document()


@pytest.mark.parametrize("kind", [io.BytesIO, io.StringIO])
def test_files_that_are_open(kind):
    model, file = sm.BSuMM("B").fit(EVENTS), kind()
    model.save(file)
    file.seek(0)
    assert sm.load(file).to_document() == model.to_document()
    with pytest.raises(StoreError, match=r"the file: not valid JSON|the file: not JSON"):
        sm.load(file)
