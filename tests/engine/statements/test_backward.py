"""The statement to blame for wrong gradients, where the outputs are right."""

import functools

import pytest

from equivalence import normal
from equivalence.diagnosis import diagnose
from tests.defects import yolox
from tests.defects.functional_gradients import DEFECTS
from tests.engine.parts.small import case
from tests.engine.statements import telling

told = functools.partial(telling.told, DEFECTS)


@pytest.mark.parametrize(
    ("name", "piece", "difference"),
    [
        ("keys_detached", "ops.stop_gradient(qkv[1])", "zero everywhere"),
        ("target_not_detached", "target = ops.softmax(", "no simple difference"),
        ("commitment_exchanged", "0.25 * learnt + committed", "a constant factor of 4"),
        ("limit_of_one_tenth", "ops.clamp(cotangent, -0.1, 0.1)", "no simple difference"),
        ("size_detached_everywhere", "h * ops.stop_gradient(size)", "zero everywhere"),
    ],
)
def test_the_statement_is_named_with_what_its_gradient_looks_like(name, piece, difference):
    lines = told(name)
    assert f"@{name}.py:" in lines[0]
    assert piece in lines[0]
    by_hand = "  the result is right; the gradient that is made by hand here is not"
    given = "  its result is right; the gradient that it passes back is not"
    assert lines[2] == (by_hand if name == "limit_of_one_tenth" else given)
    assert lines[3].startswith("  against functional_")
    assert difference in lines[3]


def test_where_nothing_tells_statements_apart_all_are_named():
    title = told("variance_detached")[0]
    assert "centred = x - x.mean(-1, keep_dims=True), or what follows in" in title
    assert "@variance_detached.py:119" in title


def test_a_right_network_is_given_no_statement():
    lines = told("keys_detached", "tests.defects.functional_candidates:Attention")
    assert lines[0].startswith("culprit: none")


NETS = "tests.engine.parts.detached_"


@pytest.mark.nightly
def test_a_gradient_that_the_reference_stops_is_told_where_it_stops_it():
    lines = telling.told(yolox.DEFECTS, "gradient_through_the_assignment")
    name = "yolox_loss@gradient_through_the_assignment.py"
    assert "return ops.cat((centres, sizes, found[..., 4:]), axis=-1)" in lines[0]
    assert lines[3].startswith(f"  called from {name}:")  # found = decode(maps)


def test_two_mistakes_one_behind_the_other_are_both_named():
    wrong = case(f"{NETS}pt:Net", f"{NETS}ms:Net", normal(3, 8))
    lines = diagnose.tell(wrong, 0, False)[0]
    titles = [line for line in lines if line.startswith("culprit: ")]
    assert any("g = ops.stop_gradient(h)" in title for title in titles)
    assert any("s = ops.stop_gradient(ops.sigmoid(z))" in title for title in titles)
