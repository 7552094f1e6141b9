"""The lines that a user types are commands, and the page has what was run of them."""

import json
import shlex

import pytest

from benchmarks import typed

SAID = """settings: all 3 are the same
culprit: net.py:5  return x + 1
  in the network itself (Net)
  what it takes agrees with the reference's
different in 1 of 1 case"""


def test_each_line_names_two_networks_and_at_least_forty_are_typed():
    lines = typed.lines()
    assert len(set(lines)) == len(lines) >= 40
    assert all(":" in target for line in lines for target in shlex.split(line)[:2])


@pytest.mark.parametrize(
    ("said", "short"),
    [
        (SAID, "culprit: net.py:5  return x + 1: what it takes agrees with the reference's"),
        ("culprit: maxpool (MaxPool2d): padding", "culprit: maxpool (MaxPool2d): padding"),
        (
            "error: weights do not pair up\n  candidate a is",
            "weights do not pair up: candidate a is",
        ),
        ("Net: equal (largest 0.31: gradient:w)", "largest error 0.31 roundings"),
        ("EQUAL. the largest error is 0.6 roundings of 8", "largest error 0.6 roundings"),
        ("", ""),
    ],
)
def test_what_is_said_is_told_in_short(said, short):
    assert typed.short(said) == short


def test_the_page_has_what_was_run_and_a_run_goes_on_from_there(tmp_path, monkeypatch):
    monkeypatch.setattr(typed, "PAGE", tmp_path / "typed.md")
    monkeypatch.setattr(typed, "JOURNAL", tmp_path / "typed.jsonl")
    first, second, *rest = typed.lines()
    record = {"line": first, "code": 0, "said": "a | b", "seconds": 3.0}
    typed.JOURNAL.write_text(json.dumps(record) + "\n")
    ran = []
    monkeypatch.setattr(
        typed, "measure", lambda line: ran.append(line) or {**record, "line": line, "code": 1}
    )
    assert typed.main(["--only", second]) == 0
    assert ran == [second]
    text = typed.PAGE.read_text()
    assert f"| `{first}` | equal | a \\| b | 3 |" in text
    assert f"2 networks: 1 different, 1 equal. {len(rest)} are not run yet." in text


def test_a_line_that_takes_too_long_is_told():
    told = typed.row(typed.measure("a:b c:d --input 'normal(2)'", limit=0.01))
    assert f"longer than {typed.LIMIT} s" in told
