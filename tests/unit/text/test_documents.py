"""Documents from files, folders and Python, and what is said about those that cannot be read."""

import json
from pathlib import Path

import pytest

from summarkov.errors import DataError
from summarkov.text import Document, read_documents, split_sentences


def test_files_folders_and_python_give_the_same(tmp_path: Path) -> None:
    long = "A sentence. " * 20_000  # longer than a cell of Python's csv module may be
    texts = {"a": 'First.\nSecond, and "third".', "b": "", "c": long}
    expected = [Document(name, text) for name, text in texts.items()]
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps({"id": k, "text": v}) for k, v in texts.items()))
    quoted = "".join(f'{k},"{v.replace(chr(34), chr(34) * 2)}"\n' for k, v in texts.items())
    (tmp_path / "x.csv").write_text(f"who,words\n{quoted}")
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("c", "a"):
        (folder / f"{name}.txt").write_text(texts[name])
    (folder / "ignored.md").write_text("no document")
    assert read_documents(texts) == expected
    assert read_documents(tmp_path / "x.jsonl") == expected
    assert read_documents(tmp_path / "x.csv", id="who", text="words") == expected
    assert read_documents(folder) == [expected[0], expected[2]]
    assert read_documents(folder / "a.txt", {"z": "Last."}) == [expected[0], Document("z", "Last.")]
    assert read_documents(["One.", "Two."]) == [Document("0", "One."), Document("1", "Two.")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.jsonl", '{"id": "a", "text": "T"}\n{"id": 1', "line 2: not JSON .*, character 9"),
        ("x.jsonl", '\n["a"]\n', r"line 2: expected an object with 'id' and 'text', found \[\"a\"\]"),
        ("x.jsonl", '{"id": "a", "txt": "T"}', "line 1: there is no 'text'; .*did you mean 'txt'"),
        ("x.jsonl", '{"id": "a", "text": 7}', "line 1, 'text': expected text, found 7"),
        ("x.jsonl", '{"id": null, "text": ""}', "line 1, 'id': expected text or a number, found null"),
        ("x.jsonl", '{"id": "a", "text": ""}\n{"id": "a", "text": ""}', "line 2: the document 'a' was there"),
        ("x.csv", "id,body\na,T\n", "row 1: there is no 'text'"),
        ("x.csv", 'id,text\n"a\nb",T\nc\n', "2"),
        ("x.csv", 'id,text\na,"T', "2"),
        ("x.csv", "", "is empty"),
        ("x.pdf", "?", "the format of .* cannot be told"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=words) as problem:
        read_documents(tmp_path / name)
    assert name in str(problem.value)
    assert "\n" not in str(problem.value)


def test_other_things_are_no_documents(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no \.txt files"):
        read_documents(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        read_documents(tmp_path / "nowhere.jsonl")
    (tmp_path / "latin.txt").write_bytes(b"one\n\xe9\n")
    with pytest.raises(DataError, match=r"latin\.txt, line 2: the text is not UTF-8"):
        read_documents(tmp_path)
    with pytest.raises(DataError, match="cannot read documents from int"):
        read_documents(7)
    with pytest.raises(DataError, match="document 0: expected a text or a Document, found 7"):
        read_documents([7])


@pytest.mark.needs("sentencex")
def test_sentences_have_single_blanks_and_are_never_empty() -> None:
    assert split_sentences("  One\n two.\n\n\nThree?  ") == ["One two.", "Three?"]
    assert split_sentences(" \n ") == []
