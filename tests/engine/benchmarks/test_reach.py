"""What the twins of a finished run reached, as a table."""

import json

from benchmarks.reach import table
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach, encode


def line(twin, *decisions):
    made = (
        Decision(Key(REFERENCE, kind, "net.py", place), yes, no)
        for place, (kind, yes, no) in enumerate(decisions)
    )
    return json.dumps({"twin": twin, "reach": encode(Reach.of(made))})


def test_twins_are_listed_with_what_none_of_their_cases_reached_the_least_first(tmp_path):
    results = tmp_path / "results.jsonl"
    half = (("kink", 1, 1), ("tie", 0, 3), ("tie", 0, 3), ("where", 4, 0))
    other = (("kink", 1, 1), ("tie", 0, 3), ("tie", 0, 3), ("where", 0, 4))
    lines = [line("a", ("kink", 1, 1)), '{"twin": "a"}', line("b", *half), line("b", *other)]
    results.write_text("\n".join(lines))
    assert table(results) == [
        "3 of 5 decisions of 2 twins",
        "",
        "| twin | reached | not reached |",
        "|---|---|---|",
        "| b | 2 of 4 | tie (2) |",
        "| a | 1 of 1 |  |",
    ]
