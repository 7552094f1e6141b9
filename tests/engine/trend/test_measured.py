"""What is kept of the lines of a run."""

import math

from equivalence.trend.measured import measured
from tests.engine.parts.results import failure, tensor


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
