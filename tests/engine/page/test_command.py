"""`equivalence page RESULTS`."""

import json

import pytest

from equivalence.__main__ import main
from tests.engine.parts.results import failure, tensor


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, *lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_page_of_one_run_lies_beside_its_results(folder, capsys):
    write(folder / "reports/results.jsonl", tensor(), failure("other-cpu"))
    assert main(["page", "reports/results.jsonl"]) == 0
    assert capsys.readouterr().out == "written to reports/index.html\n"
    made = (folder / "reports/index.html").read_text()
    assert "<title>Results of reports/results.jsonl</title>" in made
    assert "<b>1</b> different" in made
    assert "<b>1</b> equal" in made


def test_the_parts_of_a_run_are_one_page(folder):
    write(folder / "a.jsonl", tensor("a"))
    write(folder / "b.jsonl", tensor("b"), tensor("c"))
    assert main(["page", "a.jsonl", "b.jsonl", "--html", "all.html"]) == 0
    assert "<b>3</b> equal" in (folder / "all.html").read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl", "all.html", "b.jsonl"]


@pytest.mark.parametrize(
    ("content", "arguments", "told"),
    [
        (None, [], "r.jsonl cannot be read: No such file or directory; name a results.jsonl"),
        (b"{\n", [], "r.jsonl:1 is damaged: Expecting property name"),
        (b"3\n", [], "r.jsonl:1 is no line of results; name a results.jsonl"),
        (b"\xff\n", [], "r.jsonl cannot be read: it is no text; name a results.jsonl"),
        (b"", ["--html", "r.jsonl"], "--html r.jsonl is no file to write the page to"),
        (b"", ["--html", "."], "--html . is no file to write the page to"),
        (b"", ["--html", "r.jsonl/x.html"], "r.jsonl/x.html cannot be written: "),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_no_file(folder, capsys, content, arguments, told):
    if content is not None:
        (folder / "r.jsonl").write_bytes(content)
    assert main(["page", "r.jsonl", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {told}")
    assert error.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["r.jsonl"] * (content is not None)
