"""The page is one file that needs no network, and is small."""

import hashlib
import json
import random
import re

import pytest

from equivalence.__main__ import main
from equivalence.page.write import FOLDER, SCRIPTS, framed, page
from tests.engine.parts.histories import history
from tests.engine.parts.results import diagnosis, failure, tensor

VENDORED = {
    "d3.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1",
    "plot.umd.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
}
"""SHA-256 of what is not ours: D3 7.9.2 and Observable Plot 0.6.17, as published on npm."""


def test_it_needs_nothing_from_elsewhere():
    made = page("a run", [[tensor()]])
    ours = made
    for name in SCRIPTS:
        ours = ours.replace((FOLDER / name).read_text(), "")
    assert len(ours) < 20_000
    assert not re.search(r"(src|href)=|https?://|@import|url\(", ours)


def test_what_is_not_ours_is_as_it_was_published():
    for name, digest in VENDORED.items():
        assert hashlib.sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest() == digest


def test_every_script_of_others_is_there_with_its_licence():
    made = page("a run", [[tensor()]])
    for name in ("D3 7.9.2", "Observable Plot 0.6.17", "Permission to use, copy"):
        assert name in made


def test_what_a_run_is_called_and_says_is_text():
    made = page("<b>&", [[tensor(case="<script>")]], ["</pre><i>"])
    assert "<title>&lt;b&gt;&amp;</title>" in made
    assert "&lt;/pre&gt;&lt;i&gt;" in made
    assert "<script>" not in made.partition("<p>")[2].partition("</p>")[0]


def test_excuses_and_kinds_are_tables_that_need_no_script():
    made = page("a run", [[tensor(excuses=["underflow"]), tensor(name="buffer:x", error=99.0)]])
    assert 'data-excuse="underflow"' in made
    assert '<td>buffer</td><td class="figure">1</td>' in made
    assert '<td class="figure over">1</td>' in made


def test_an_infinite_error_is_no_trap():
    assert '<td class="figure">inf</td>' in page("a run", [[tensor(error=None, problem="NaN")]])


@pytest.mark.nightly
def test_a_run_of_17000_tensors_is_below_five_megabytes():
    draw = random.Random(0)
    lines = []
    for case in range(1700):
        name = f"resnet_stage{case // 4}-inplanes{case}-planes32-train-float32-pynative-cpu"
        for part in range(10):
            error = 10 ** draw.uniform(2, 6)
            figures = {"relative": draw.random(), "conditioning": draw.uniform(1, 99)}
            lines.append(tensor(name, f"gradient:layer{part}.conv.weight", error, **figures))
        found = diagnosis()
        found["layers"] = [
            [f"layer{i}", f"layer{i}", [round(draw.uniform(0, 1e6), 1) for _ in range(4)]]
            for i in range(40)
        ]
        found["trees"] = {
            side: {f"layer{i}": "Conv2d" for i in range(40)} for side in found["trees"]
        }
        lines.append(failure(name, text=f"{name}\n" * 10, diagnosis=found))
    names = {line["case"] for line in lines}
    past = history(**{name: [draw.uniform(1, 9) for _ in range(50)] for name in names})
    green = [
        line | {"equal": True, "error": line["error"] / 1e6} for line in lines if "error" in line
    ]
    assert len(green) == 17000
    assert len(page("green", [green])) < 1_500_000
    assert len(page("green", [green], (), past)) < 2_000_000
    assert len(page("red", [lines], (), past)) < 5_000_000


def test_a_frame_holds_the_page_and_shuts_it_off():
    frame = framed('<p title="x">&amp;</p>')
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads" ')
    assert 'srcdoc="&lt;p title=&quot;x&quot;&gt;&amp;amp;&lt;/p&gt;"></iframe>' in frame


def test_what_has_grown_is_a_table_and_other_seeds_are_none_of_it():
    past = history(**{"relu-cpu": [0.5, 4.0], "other-cpu": [0.5, 4.0]})
    made = page("a run", [[tensor()]], (), past)
    assert "Errors that have grown (1)" in made
    assert "<td>0.5 -&gt; 4 of 16 roundings (8 times), output.0, since 2026-11-02" in made
    assert "have grown" not in page("a run", [[tensor()]])
    assert "have grown" not in page("a run", [[tensor(seed=7)]], (), past)


# `equivalence page RESULTS`.


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
