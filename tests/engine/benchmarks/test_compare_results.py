"""Two runs with the same verdicts have the same lines; any other digit is told."""

import json

import pytest

from benchmarks import compare_results

LINE = {"case": "a", "seed": 0, "tensor": "output.0", "error": 1.25, "equal": True}


@pytest.fixture
def differ(tmp_path, capsys):
    """Compares two lists of lines: (exit code, what is printed)."""

    def run(old, new, *options):
        for side, lines in (("old", old), ("new", new)):
            text = "".join(
                f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines
            )
            (tmp_path / side).write_text(text)
        code = compare_results.main([f"{tmp_path}/old", f"{tmp_path}/new", *options])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_the_order_of_lines_does_not_matter(differ):
    other = LINE | {"tensor": "output.1"}
    code, text = differ([LINE, other], [other, LINE])
    assert code == compare_results.SAME
    assert text == "2 lines and 2 lines of 1 cases: 0 differ\n"


def test_the_last_digit_matters(differ):
    code, text = differ([LINE], [LINE | {"error": 1.2500000000000002}])
    assert code == compare_results.DIFFERENT
    assert "changed: output.0 of a from seed 0: error 1.25 -> 1.2500000000000002" in text


def test_a_line_that_one_run_lacks_is_named(differ):
    other = LINE | {"tensor": "output.1"}
    assert differ([LINE, other], [LINE])[0] == compare_results.DIFFERENT
    assert "new: output.1 of a from seed 0" in differ([LINE], [LINE, other])[1]


def test_a_field_that_one_run_does_not_write_is_named_alone(differ):
    code, text = differ([LINE], [LINE | {"excuses": ["underflow"]}])
    assert code == compare_results.SAME
    assert "only in the new results: excuses" in text


def test_a_field_that_some_lines_of_both_have_counts(differ):
    more = LINE | {"tensor": "output.1", "flips": ["x"]}
    lost = {key: value for key, value in more.items() if key != "flips"}
    kept = LINE | {"tensor": "output.2", "flips": ["y"]}
    assert differ([LINE, more, kept], [LINE, lost, kept])[0] == compare_results.DIFFERENT
    assert differ([more], [LINE | more], "--ignore", "flips")[0] == compare_results.SAME


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "has no results"),
        (["{"], "1 is no line of results"),
        (["3"], "1 is no line of results"),
        ([LINE, LINE | {"error": 2.0}], "2 has other figures for output.0 of a from seed 0"),
    ],
)
def test_a_damaged_file_is_one_sentence(differ, lines, told):
    code, text = differ([LINE], lines)
    assert code == compare_results.UNREADABLE
    assert text.startswith("error: ")
    assert told in text
    assert text.count("\n") == 1


def test_a_missing_file_is_one_sentence(tmp_path, capsys):
    assert compare_results.main([f"{tmp_path}/a", f"{tmp_path}/b"]) == compare_results.UNREADABLE
    assert "No such file" in capsys.readouterr().err
