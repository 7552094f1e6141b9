"""Operators with kinks: each is seen in every form, with how far it is from its kinks."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from equivalence.judge.truth import STEPPING
from equivalence.kinks.operators import (
    COMPARISONS,
    KINKS,
    STEPS,
    AtKinks,
    kink_of,
    name_of,
    quantity_of,
)
from equivalence.kinks.watch import KinkWatch
from tests.engine.parts.small import watched


@pytest.mark.parametrize(
    "relu",
    [
        nn.ReLU(),
        nn.ReLU(inplace=True),
        F.relu,
        torch.relu,
        lambda x: x.relu(),
        lambda x: x.relu_(),
        lambda x: F.relu(x, inplace=True),
        nn.LeakyReLU(0.1),
        nn.LeakyReLU(0.1, inplace=True),
        nn.PReLU(),
        nn.ELU(0.5),
        nn.ELU(0.5, inplace=True),
        nn.SELU(),
        torch.abs,
        torch.Tensor.abs_,
        lambda x: x.clamp(min=0),
        lambda x: x.clamp_(max=0),
        lambda x: x.clamp(0, math.inf),
        lambda x: torch.clamp_min(x, 0),
    ],
)
def test_a_relu_is_seen_in_every_form_with_what_goes_in(relu):
    x = torch.tensor([[-1.0, 0.25, 2.0]])
    assert [quantity.tolist() for quantity in watched(relu, x.clone())] == [[[-1.0, 0.25, 2.0]]]


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("bent", [nn.ReLU6, lambda inplace: nn.Hardtanh(0, 6, inplace=inplace)])
def test_a_relu6_has_two_kinks(bent, in_place):
    x = torch.tensor([[-1.0, 0.25, 2.0, 5.5, 6.0, 8.0]])
    told = [[[-1.0, 0.25, 2.0, 0.5, 0.0, -2.0]]]
    assert [q.tolist() for q in watched(bent(inplace=in_place), x.clone())] == told


@pytest.mark.parametrize(
    ("bent", "told"),
    [
        (lambda x: x.clamp(-1, 2), [-3.0, 0.0, 1.5, -1.0]),
        (lambda x: x.clamp(max=2), [-6.0, -3.0, -1.5, 1.0]),
        (lambda x: x.clamp_min_(-1), [-3.0, 0.0, 1.5, 4.0]),
        (nn.Hardtanh(), [-3.0, 0.0, 0.5, -2.0]),
        (nn.Hardswish(), [-1.0, 2.0, 2.5, 0.0]),
        (nn.Hardsigmoid(inplace=True), [-1.0, 2.0, 2.5, 0.0]),
        (nn.Softshrink(), [-3.5, -0.5, 0.0, -2.5]),
    ],
)
def test_where_other_kinks_are(bent, told):
    x = torch.tensor([-4.0, -1.0, 0.5, 3.0])
    assert [quantity.tolist() for quantity in watched(bent, x)] == [told]


@pytest.mark.parametrize(
    "smooth",
    [
        nn.ELU(),
        nn.CELU(0.5),
        lambda x: x.clamp(-math.inf, math.inf),
        lambda x: (9 * x).long().abs().clamp(min=1) * x,
        lambda x: x * (x < math.inf),
        lambda x: x * (x.long() > 0),
    ],
    ids=["elu", "celu", "no bounds", "whole numbers", "no bound", "compared whole numbers"],
)
def test_what_has_no_kink_is_not_seen(smooth):
    assert watched(smooth, torch.randn(4)) == []


@pytest.mark.parametrize(
    "bent",
    [
        lambda x: x * (x > 0.5),
        lambda x: torch.where(x < x.new_tensor(0.5), 0.0, x),
        lambda x: x.masked_fill(x.le(0.5), 0.0),
        lambda x: torch.where(x.ge(0.5), x, x * x),
        lambda x: x * (x >= torch.full_like(x, 0.5)),
    ],
)
def test_an_activation_that_is_written_with_a_comparison_has_a_kink(bent):
    assert [q.tolist() for q in watched(bent, torch.tensor([-1.0, 0.5, 2.0]))] == [[-1.5, 0.0, 1.5]]


def test_a_bound_may_come_first_but_two_that_are_both_broadcast_have_no_kink():
    x, row, column = torch.tensor([-1.0, 2.0]), torch.ones(1, 2), torch.ones(2, 1)
    (quantity,) = watched(lambda x: torch.maximum(torch.tensor(0.5), x), x)
    assert quantity.tolist() == [1.5, -1.5]
    assert watched(lambda x: torch.maximum(row, x), column) == []


def test_a_comparison_in_a_backward_pass_is_none():
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    with KinkWatch() as watch:
        x.clamp(0.0, 1.0).sum().backward()
    assert len(watch.quantities) == 1
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


# The table.


ARGUMENTS = {
    "elu": (0.5, 2.0, 1.5),
    "leaky_relu": (0.25,),
    "hardtanh": (-0.5, 2.0),
    "_prelu_kernel": (torch.tensor([0.25], dtype=torch.float64),),
    "clamp": (-0.5, 2.0),
    "clamp_min": (0.5,),
    "clamp_max": (0.5,),
    "maximum": (torch.tensor([0.5], dtype=torch.float64),),
    "minimum": (torch.tensor([0.0], dtype=torch.float64),),
}
"""What an operator takes besides its input, where it takes anything."""


@pytest.mark.parametrize("func", COMPARISONS, ids=str)
def test_a_comparison_is_true_on_one_side_of_its_bound(func):
    args = torch.tensor([0.25, 0.75]), 0.5 if "Scalar" in str(func) else torch.tensor(0.5)
    assert quantity_of(func, args).tolist() == [-0.25, 0.25]
    below, above = func(*args).tolist()
    assert above - below == KINKS[func].gain(args)


@pytest.mark.parametrize(
    "func",
    [f for f in KINKS if f not in COMPARISONS and f not in STEPS],
    ids=lambda func: func.overloadpacket.__name__,
)
def test_the_slope_jumps_at_the_points_of_an_operator_by_its_gain(func):
    others = ARGUMENTS.get(func.overloadpacket.__name__.removesuffix("_"), ())

    def slope(at: float) -> float:
        ends = [func(torch.tensor([at + d], dtype=torch.float64), *others) for d in (-1e-7, 1e-7)]
        return float(ends[1] - ends[0]) / 2e-7

    points = kink_of(func, (torch.zeros(1), *others)).points((torch.zeros(1), *others))
    for point in points:
        near = torch.tensor([-1e-4, 1e-4], dtype=torch.float64) + point
        side = quantity_of(func, (near, *others)) > 0.0
        assert side.sum() == 1
        gain = float(slope(float(near[side])) - slope(float(near[~side])))
        told = KINKS[func].gain((near[side], *others))
        assert gain == pytest.approx(float(told), abs=1e-3)
        assert abs(gain) > 0.1


def test_the_judge_knows_the_roundings_by_their_names():
    assert set(map(name_of, STEPS)) == STEPPING


@pytest.mark.parametrize("func", STEPS, ids=str)
def test_the_values_jump_at_the_steps_of_a_rounding_and_nowhere_else(func):
    x = torch.linspace(-3.05, 3.05, 1000, dtype=torch.float64)
    (points,) = kink_of(func, (x,)).points((x,))
    steps = [float(func(points[n] + 1e-9) - func(points[n] - 1e-9)) for n in range(1000)]
    assert set(steps) == {1.0}
    jumps = func(x.clone()).diff().nonzero().flatten()
    assert len(jumps) >= 1
    quantity = quantity_of(func, (x,))
    for jump in jumps.tolist():
        assert abs(quantity[jump]) < 0.01
        assert quantity[jump] <= 0.0 <= quantity[jump + 1]
    assert len(jumps) == int((points.unique().abs() < 3.05).sum())


@pytest.mark.parametrize("func", STEPS, ids=str)
def test_a_step_itself_is_on_the_side_that_the_table_says(func):
    x = torch.linspace(-3.0, 3.0, 64, dtype=torch.float64)
    (points,) = kink_of(func, (x,)).points((x,))
    assert len(points.unique()) >= 6
    for at in points.unique():
        above = kink_of(func, (at,)).is_above(quantity_of(func, (at,)), (at,))
        assert func(at.clone()) == func(at + (1e-9 if above else -1e-9)), at


def test_a_rounding_in_a_backward_pass_is_no_step():
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)

    class Rounded(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return 2 * x

        @staticmethod
        def backward(_, cotangent):
            return cotangent.round()

    with KinkWatch() as watch:
        Rounded.apply(x).sum().backward()
    assert watch.quantities == []


@pytest.mark.parametrize(
    "bent",
    [
        F.relu,
        nn.LeakyReLU(0.25),
        lambda x: F.prelu(x, x.new_tensor([0.25])),
        nn.ELU(0.5),
        nn.Hardtanh(),
        nn.Hardsigmoid(),
        nn.Hardswish(),
        nn.Softshrink(),
        lambda x: x.clamp(-0.5, 2.0),
        lambda x: x.clamp(min=0.5),
        lambda x: x.clamp(max=0.5),
        lambda x: x.clamp(-math.inf, 0.5),
        lambda x: x * (x > 0.5),
        lambda x: x * (x >= 0.5),
        lambda x: x * (x < 0.5),
        lambda x: x * (x <= 0.5),
    ],
)
def test_the_point_itself_has_the_slope_of_the_side_that_the_table_says(bent):
    class Seen(AtKinks):
        def before(self, call):
            super().before(call)
            if self.bend:
                self.points = self.bend.points(call.args)
                self.above = self.bend.is_above(quantity_of(call.function, call.args), call.args)

    def at(x: float) -> tuple[float, bool, tuple]:
        x = torch.tensor([x], dtype=torch.float64, requires_grad=True)
        with Seen() as seen:
            y = bent(x)
        y.sum().backward()
        return float(x.grad), bool(seen.above), seen.points

    _, _, points = at(0.1)
    for point in points:
        slope, above, _ = at(point)
        sides = dict(at(point + step)[1::-1] for step in (-1e-9, 1e-9))
        assert set(sides) == {False, True}
        assert slope == pytest.approx(sides[above], abs=1e-6)
        assert slope != pytest.approx(sides[not above], abs=0.1)
