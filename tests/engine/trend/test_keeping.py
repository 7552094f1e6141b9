"""A run is kept, and says what grew in it; what cannot be kept is a sentence."""

import math
import subprocess

from equivalence.trend.history import NOTHING
from equivalence.trend.keeping import commit, keep, measured, now
from tests.engine.parts.histories import run
from tests.engine.parts.results import failure, tensor


def test_a_run_says_what_grew_in_it_and_the_next_one_is_silent(tmp_path):
    path = tmp_path / "trend.sqlite"
    for day, error in enumerate((0.5, 0.5, 4.0, 4.0), 1):
        kept = keep(path, run(day), [tensor(error=error)])
        assert len(kept.past.runs) == day
        told = "grew in this run: relu-cpu: 0.5 -> 4 of 16 roundings (8 times), output.0, since"
        assert [line.startswith(told) for line in kept.lines] == [True] * (day == 3)


def test_of_many_the_first_are_named(tmp_path):
    path = tmp_path / "trend.sqlite"
    for day in (1, 2):
        lines = keep(path, run(day), [tensor(str(n), error=2.0**day) for n in range(9)]).lines
    assert len(lines) == 4
    assert lines[-1] == "... and 6 more (`equivalence trend` has them)"


def test_a_file_that_cannot_be_used_is_a_sentence(tmp_path):
    path = tmp_path / "trend.sqlite"
    path.write_text("rubbish " * 99)
    past, lines = keep(path, run(1), [tensor()])
    assert past == NOTHING
    assert [line.startswith(f"no trend is kept: {path} is damaged") for line in lines] == [True]


def test_the_time_of_a_run_can_be_sorted():
    first = now()
    assert first < now()
    assert len(first) == len("2026-11-23 02:17:05.123456")


def test_the_commit_is_told_where_there_is_one(tmp_path):
    def git(*arguments):
        named = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(["git", *named, *arguments], cwd=tmp_path, check=True, capture_output=True)

    assert commit(tmp_path) is None
    git("init")
    assert commit(tmp_path) is None
    file = tmp_path / "a"
    file.write_text("a")
    git("add", "a")
    git("commit", "-m", "a")
    git("tag", "v1")
    clean = commit(tmp_path)
    assert len(clean) == 12
    file.write_text("b")
    assert commit(tmp_path) == f"{clean}-dirty"
    assert commit(tmp_path / "absent") is None


# What is kept of the lines of a run.


def test_a_case_is_kept_with_its_largest_error_and_the_tensor_that_has_it():
    lines = [tensor(error=2.0), tensor(name="gradient:w", error=5.0), tensor("b", error=99.0)]
    first, second = measured(lines, {"relu-cpu": 1.5})
    assert first == ("relu-cpu", "equal", 2, 5.0, 16.0, "roundings", "gradient:w", 1.5)
    assert second[:4] == ("b", "different", 1, 99.0)
    assert second.seconds is None


def test_the_examples_of_a_counterpart_are_one_case():
    call = {"torch": "torch.abs", "counterpart": "ops.abs"}
    lines = [tensor(f"abs({n})", error=float(n), **call) for n in (1, 3, 2)]
    (one,) = measured(lines)
    assert one[:4] == ("torch.abs by ops.abs on cpu", "equal", 3, 3.0)


def test_what_was_not_compared_has_no_error_and_what_has_no_number_an_infinite_one():
    died, absent = measured([failure("died"), tensor("absent", error=None, problem="missing")])
    assert (died.verdict, died.tensors, died.error) == ("different", 0, None)
    assert (absent.verdict, absent.error) == ("different", math.inf)


def test_tensors_that_are_declared_to_differ_have_no_part_in_the_error():
    lines = [tensor(error=1e6, differs="why", declared=1.0), tensor(name="b", differs="why")]
    (one,) = measured(lines)
    assert one[:4] == ("relu-cpu", "known difference", 2, 0.5)
