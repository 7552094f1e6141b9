"""Each wrong draw is refused in one sentence with its maker and the option."""

import math

import pytest

from equivalence.declare.draws import (
    Draw,
    given,
    half,
    integers,
    logits,
    normal,
    ties,
    triangular,
    uniform,
    whole,
)
from tests.engine.declare.test_wrong_declarations import refusal

# Maker of a draw -> what it is given: its shape, its options, the word that has to be named.
WRONG_DRAWS = [
    (normal, (-1,), {}, "shape"),
    (normal, (2.0,), {}, "shape"),
    (normal, (True,), {}, "shape"),
    (normal, (None,), {}, "shape"),
    (normal, ("",), {}, "shape"),
    (normal, ("N, M",), {}, "shape"),
    (normal, ((2, 3),), {}, "shape"),
    (normal, (2,), {"scale": None}, "scale"),
    (normal, (2,), {"scale": 0}, "scale"),
    (normal, (2,), {"scale": "2"}, "scale"),
    (normal, (2,), {"scale": True}, "scale"),
    (normal, (2,), {"shift": math.nan}, "shift"),
    (normal, (2,), {"shift": (1, 2)}, "shift"),
    (uniform, (2,), {"low": 2.0}, "low"),
    (uniform, (2,), {"low": "a"}, "low"),
    (uniform, (2,), {"high": math.inf}, "high"),
    (logits, (2,), {"largest": 0}, "largest"),
    (logits, (2,), {"largest": -3.0}, "largest"),
    (logits, (2,), {"largest": 1}, "largest"),
    (logits, (2,), {"largest": None}, "largest"),
    (integers, (2,), {"high": 0}, "high"),
    (integers, (2,), {"high": "N"}, "high"),
    (integers, (2,), {"high": 2.5}, "high"),
    (integers, (2,), {"high": 2**33}, "high"),
    (integers, (2,), {"low": 3, "high": 3}, "low"),
    (whole, (2,), {"low": 9}, "low"),
    (half, (2,), {"high": 3000}, "high"),
    (half, (2,), {"low": -1.5}, "low"),
    (ties, (2,), {"largest": 0}, "largest"),
    (ties, (2,), {"largest": 2.5}, "largest"),
    (ties, (2,), {"step": 3}, "step"),
    (ties, (2,), {"step": 0}, "step"),
    (triangular, (2, 2), {"upper": 1}, "upper"),
    (given, (2,), {"values": None}, "values"),
    (given, (2,), {"values": (1, 2, 3)}, "values"),
    (given, (2,), {"values": 1}, "values"),
    (given, (2,), {"values": (0.5, 1e39)}, "values"),
    (given, (2,), {"values": (0.5, 1e39)}, "values"),
    (given, (2,), {"values": (True, 1)}, "values"),
    (given, (2,), {"values": ((1, 2), (3,))}, "values"),
    (given, (2,), {"values": {1, 2}}, "values"),
    (given, (1,), {"values": 2**31}, "values"),
    (given, (), {"values": "a b"}, "values"),
]


@pytest.mark.parametrize(
    ("make", "shape", "options", "word"),
    [
        pytest.param(*mistake, id=f"{mistake[0].__name__}-{mistake[3]}-{number}")
        for number, mistake in enumerate(WRONG_DRAWS)
    ],
)
def test_a_wrong_draw_is_refused_with_its_maker_and_the_option(make, shape, options, word):
    told = refusal(make, *shape, **options)
    assert told.startswith(f"draw {make.__name__!r}: ")
    assert word in told.partition(": ")[2]


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        (("gaussian", (2,), {}), "draw 'gaussian': kind is not among normal, uniform"),
        ((None, (2,), {}), "draw None: kind is not among"),
        (("normal", [2], {"scale": 1.0, "shift": 0.0}), "shape is [2]; write a tuple"),
        (("normal", (2,), {"scale": 1.0}), "options are not s"),
        (("normal", (2,), {"scale": 1.0, "shift": 0.0}, None), "differentiable is None; write"),
        (("binary", (2,), [1]), "options has [1]; write a mapping"),
    ],
)
def test_a_draw_that_no_maker_makes_is_refused(draw, complaint):
    assert complaint in refusal(Draw, *draw)


def test_a_name_that_a_case_lacks_is_told():
    told = refusal(normal("H").resolve, {"W": 3})
    assert told == "an input names 'H', not in {'W': 3}"
