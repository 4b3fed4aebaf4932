"""Model files that are cut short, of another version, edited or hostile: one sentence, exit code 2."""

import copy
import io
import json
import subprocess
import sys
from functools import reduce
from operator import getitem

import pytest
from fuzz import CORPUS
from fuzz.stored import places

import summarkov as sm
from summarkov.errors import StoreError
from summarkov.text import load_topics

#: Every kind of file that is stored: models of all families, graphs, topic models.
FILES = {
    path.stem: path for folder in ("model", "topics") for path in sorted((CORPUS / folder).glob("*.json"))
}
#: One of each way of reading them.
SOME = ("binary", "with_joint", "with_outcome", "nmf")
LOADS = {name: load_topics if path.parent.name == "topics" else sm.load for name, path in FILES.items()}


def text_of(name):
    return FILES[name].read_text(encoding="utf-8")


def document_of(name):
    return json.loads(text_of(name))


def refusal(tmp_path, name, content):
    """What is said about a file instead of loading it: one sentence that begins with its name."""
    path = tmp_path / "m.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    with pytest.raises(StoreError) as caught:
        LOADS[name](path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert message.isprintable()
    return message[len(str(path)) :]


def edited(document, path, value):
    document = copy.deepcopy(document)
    *way, last = path
    reduce(getitem, way, document)[last] = value
    return document


def without_checksum(name, path=(), value=None):
    """A file in which something was changed by somebody who took its checksum off."""
    document = edited(document_of(name), path, value) if path else document_of(name)
    del document["checksum"]
    return json.dumps(document)


@pytest.mark.parametrize("name", FILES)
def test_a_file_may_be_laid_out_anew_or_go_without_its_checksum(name, tmp_path):
    assert len(FILES) >= 20
    laid_out = json.dumps(dict(sorted(document_of(name).items())), indent=7)
    for text in (text_of(name), laid_out, without_checksum(name)):
        (tmp_path / "m.json").write_text(text)
        assert LOADS[name](tmp_path / "m.json") is not None


#: Changes that make no sense, whatever the checksum says, and what is said of them.
NONSENSE = [
    # Two influencers cannot both be the one event of a look-back of 1.
    *(
        (
            name,
            ["settings", "lookback"],
            1,
            "expected a state that this summary has and that fits into its look",
        )
        for name in ("binary", "ordinal")
    ),
    *((name, ["version"], version, "version") for name in ("binary", "nmf") for version in (0, 4, 10**400)),
]


@pytest.mark.parametrize(("name", "place", "value", "said"), NONSENSE)
def test_nonsense(name, place, value, said, tmp_path):
    assert said in refusal(tmp_path, name, without_checksum(name, place, value))


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("part", [0, 50, 99])
def test_cut_short(name, part, tmp_path):
    text = text_of(name).rstrip()
    cut = text[: len(text) * part // 100]
    assert "was the file cut short, or" in refusal(tmp_path, name, cut)


@pytest.mark.parametrize("name", [*SOME, "graph", "resampled", "tree", "old_sure", "old_joint"])
def test_any_change_of_any_value_is_noticed(name, tmp_path):
    """Every number and text, one at a time, into another of its kind; the checksum sees what makes sense."""
    document, path, tried = document_of(name), tmp_path / "m.json", 0
    for place in places(document):
        *way, last = place
        holder = reduce(getitem, way, document)
        match before := holder[last]:
            case bool():
                holder[last] = not before
            case int() | float():
                holder[last] = before + 1
            case str():
                holder[last] = f"{before}x"
            case None:
                holder[last] = 1
            case _:
                continue
        path.write_text(json.dumps(document))
        with pytest.raises(StoreError):
            LOADS[name](path)
        holder[last] = before
        tried += 1
    assert tried >= 14


# ------------------------------------------------------------------------------- hostile


def in_place(name, what):
    """The text with something that JSON can hardly say in place of its first list."""
    head, _, rest = text_of(name).partition("[")
    return f"{head}{what},[{rest}" if name == "nmf" else f"{head}[{what},{rest}"


HOSTILE = {
    "NaN": lambda name: in_place(name, "NaN"),
    "nested 10^5": lambda name: in_place(name, "[" * 10**5 + "]" * 10**5),
    "nested objects": lambda name: in_place(name, '{"a":' * 10**5 + "1" + "}" * 10**5),
    "number of 10^5 digits": lambda name: in_place(name, "9" * 10**5),
    "repeated name": lambda name: text_of(name).replace('"version":', '"version":1,"version":', 1),
    "two documents": lambda name: text_of(name) * 2,
    "a list": lambda name: f"[{text_of(name)}]",
    "a text": lambda name: json.dumps(text_of(name)),
    "UTF-16": lambda name: text_of(name).encode("utf-16"),
    "a mark": lambda name: text_of(name).encode("utf-8-sig"),
    "half a character": lambda name: text_of(name).replace('"kind"', '"\ud800"', 1),
    "half a character, escaped": lambda name: text_of(name).replace('"kind"', '"\\ud800"', 1),
    "zeros": lambda name: b"\0" * 1000,
    "a pickle": lambda name: (
        b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93."
    ),
}


@pytest.mark.parametrize("name", ["binary", "nmf"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile(name, kind, tmp_path):
    refusal(tmp_path, name, HOSTILE[kind](name))


#: Sizes that a file can claim without having them.
CLAIMS = [
    ("binary", ["settings", "lookback"], 10**9),
    ("binary", ["data", "sequences"], 10**18),
    ("binary", ["data", "labels", "a"], 10**18),
    ("labels", ["settings", "cap"], 10**9),
    ("exact", ["settings", "max_sets"], 10**9),
    ("exact", ["targets", 0, "certificate", "examined"], 10**400),
    ("chain", ["settings", "order"], 10**9),
    ("tree", ["settings", "max_depth"], 10**9),
    ("tree", ["targets", 0, "tree", "within"], 10**18),
    ("learned", ["targets", 0, "lookbacks"], {"a": 10**9}),
    ("sure", ["confidence", "n"], 10**9),
    ("old_sure", ["confidence", "n"], 10**9),
    ("old_joint", ["settings", "leaves"], 10**9),
    ("old_graph", ["targets", 0, "followings", "a", "b", "own", "n"], 1e300),
    ("nmf", ["settings", "phrases"], 10**9),
    ("nmf", ["settings", "confidence"], 1e300),
    ("nmf", ["inverse_frequencies", 0], 1e308),
]


#: Loads all of them in one process, whose memory may not grow by more than 200 MB.
PROGRAM = """
import json, pathlib, resource, sys, warnings
warnings.simplefilter("error")
import summarkov as sm
from summarkov.errors import SummarkovError
from summarkov.text import load_topics

def use(path, kind):
    if kind == "nmf":
        return len(load_topics(path)(["the bank raised rates", "x"]))
    model = sm.load(path)
    partial = "sure", "old_sure", "old_graph", "some", "with_times"
    return kind in partial or len(model.predict_proba([["a", "b", "c"]]))

files = json.loads(sys.argv[1])
for path, kind in files["good"]:
    use(path, kind)  # imports what it needs before the limit
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + 200_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path, kind in files["claims"]:
    try:
        use(path, kind)
        said = "harmless"
    except SummarkovError as problem:
        said = f"refused: {problem}"
    print(json.dumps(said), flush=True)
"""


@pytest.mark.needs("sklearn")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_claims_cost_nothing(tmp_path):
    """Refused, or harmless, and in neither case is time or memory taken for what is claimed."""
    claims = []
    for number, (name, place, value) in enumerate(CLAIMS):
        path = tmp_path / f"{number}.json"
        path.write_text(without_checksum(name, place, value))
        claims.append((str(path), name))
    files = {
        "good": [(str(path), name) for name, path in FILES.items() if not name.startswith("old")],
        "claims": claims,
    }
    ended = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(files)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
    for claim, line in zip(CLAIMS, ended.stdout.splitlines(), strict=True):
        said = json.loads(line)
        assert said.startswith(("refused: ", "harmless")), claim
        assert "\n" not in said, claim


@pytest.mark.parametrize("kind", [io.BytesIO, io.StringIO])
def test_files_that_are_open(kind):
    model, file = sm.BSuMM("B").fit([["A", "B"], ["B", "A", "B"]]), kind()
    model.save(file)
    file.seek(0)
    assert sm.load(file).to_document() == model.to_document()
    with pytest.raises(StoreError, match=r"the file: not valid JSON|the file: not JSON"):
        sm.load(file)
