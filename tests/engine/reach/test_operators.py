"""For each kind of decision: a sample that reaches it, and one that does not."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from equivalence.reach.observer import ReachObserver
from equivalence.reach.words import told

MISSED = 2.0**-15


class Net(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, *inputs):
        return self.call(*inputs)


def reach_of(call, *inputs):
    net = Net(call)
    with ReachObserver(net, MISSED) as observer:
        net(*inputs)
    return observer.reach


def missed(call, kind, *inputs):
    """The texts of the decisions of a kind that a call does not reach."""
    reach = reach_of(call, *inputs)
    assert any(key.kind == kind for key in reach.decisions), [*reach.decisions]
    return [told(each) for each in reach.missed if each.key.kind == kind]


def wide(*shape):
    """Numbers from -100 to 100, in even steps."""
    size = torch.Size(shape).numel()
    return torch.linspace(-100.0, 100.0, size).reshape(shape)


X, SMALL = wide(4, 8), wide(4, 8) / 200.0
LONG, SHORT = torch.randn(1, 2, 9, 9), torch.randn(1, 2, 8, 8)
ROWS = torch.tensor([[0.0, 0.0], [-1e9, 0.0]])
LOGITS = torch.randn(3, 5)

KINDS = {
    "clamp high": (lambda x: x.clamp(max=6.0), X, SMALL),
    "clamp low": (lambda x: x.clamp_min(-6.0), X, SMALL),
    "clamp in place": (lambda x: x.clone().clamp_(-6.0, 6.0), X, SMALL, "clamp high"),
    "relu6": (functional.relu6, X, SMALL, "clamp high"),
    "hardswish": (functional.hardswish, X, SMALL, "clamp low"),
    "clamp by a tensor": (lambda x: x.clamp(max=torch.tensor(6.0)), X, SMALL, "clamp high"),
    "kink": (torch.relu, X, X.abs() + 1.0),
    "leaky relu": (functional.leaky_relu, X, -X.abs() - 1.0, "kink"),
    "softplus": (functional.softplus, X, SMALL, "threshold"),
    "huber": (
        lambda x: functional.huber_loss(x, 0 * x),
        torch.tensor([0.5, 2.0]),
        SMALL,
        "threshold",
    ),
    "softshrink": (functional.softshrink, torch.tensor([0.2, 2.0]), SMALL / 2.0, "threshold"),
    "maximum": (lambda x: torch.maximum(x, x.new_zeros(8)), X, X.abs() + 1.0),
    "minimum": (lambda x: torch.minimum(x, x.new_zeros(8)), X, -X.abs() - 1.0),
    "where": (lambda x: torch.where(x > 6.0, x, 0.0), X, SMALL),
    "comparison": (lambda x: x * (x > 6.0), X, SMALL),
    "mask": (lambda x: x.masked_fill(x > 6.0, 0.0), X, SMALL),
    "chosen by a mask": (lambda x: x[x > 6.0], X, SMALL, "where"),
    "tie": (lambda x: x > 6.0, torch.arange(9.0), SMALL),
    "argmax": (lambda x: x.argmax(-1), torch.tensor([[1.0, 2.0, 2.0]]), X, "tie"),
    "argmin of all": (torch.argmin, torch.tensor([[1.0, 2.0], [3.0, 1.0]]), X, "tie"),
    "max along an axis": (lambda x: x.max(0)[1], torch.ones(2, 2), X, "tie"),
    "step": (torch.round, torch.tensor([0.5, 1.0]), torch.tensor([0.25, 1.0])),
    "floor": (torch.floor, torch.tensor([0.5, 1.0]), torch.tensor([0.25, 1.5]), "step"),
    "sign": (torch.sign, torch.tensor([0.0, 1.0]), torch.tensor([-0.25, 1.0]), "step"),
    "heaviside": (
        lambda x: torch.heaviside(x, x.new_ones(2)),
        torch.tensor([0.0, 1.0]),
        torch.tensor([-0.25, 1.0]),
        "step",
    ),
    "remainder of numbers": (lambda x: x % 10.0, X, SMALL, "threshold"),
    "sign of a remainder": (lambda x: torch.fmod(x, 1.0), X, X.abs() + 1.0, "kink"),
    "atan2": (lambda x: torch.atan2(torch.ones_like(x), x), X, X.abs() + 1.0, "kink"),
    "xlogy": (lambda x: torch.xlogy(x, x), torch.tensor([0.0, 1.0]), X.abs() + 1.0, "zero"),
    "zero of a product": (lambda x: x.cumprod(0), torch.tensor([0.0, 1.0]), X, "zero"),
    "sign of a product": (lambda x: x.cumprod(1), X, X.abs() + 1.0, "kink"),
    "norm": (lambda x: x.norm(dim=1), torch.cat([X, 0.0 * X]), X, "zero"),
    "grid_sample": (
        lambda x: functional.grid_sample(torch.ones(1, 1, 3, 3), x, align_corners=False),
        X.reshape(1, 2, 8, 2) / 10.0,
        SMALL.reshape(1, 2, 8, 2),
        "threshold",
    ),
    "not finite": (torch.nan_to_num, torch.tensor([1.0, torch.nan]), SMALL),
    "overflow": (torch.exp, X, SMALL),
    "softmax": (lambda x: x.softmax(-1), X, SMALL, "overflow"),
    "exponential of an elu": (functional.elu, X, -X.abs(), "overflow"),
    "exponential of a softplus": (functional.softplus, X, SMALL, "overflow"),
    "exponential of a mish": (functional.mish, X, SMALL, "overflow"),
    "exponential of a silu": (functional.silu, X, SMALL, "overflow"),
    "exponential of a gelu": (functional.gelu, X, SMALL, "overflow"),
    "expm1": (torch.expm1, X, SMALL, "overflow"),
    "masked row": (lambda x: x.softmax(-1), torch.cat([ROWS, ROWS - 1e9]), ROWS),
    "ignored label": (
        lambda y: functional.cross_entropy(LOGITS, y),
        torch.tensor([1, -100, 2]),
        torch.tensor([1, 0, 2]),
    ),
    "last index": (
        lambda i: functional.embedding(i, LOGITS),
        torch.tensor([0, 2]),
        torch.tensor([0, 1]),
    ),
    "first index": (
        lambda i: functional.embedding(i, LOGITS),
        torch.tensor([0, 2]),
        torch.tensor([1, 2]),
    ),
    "padding index": (
        lambda i: functional.embedding(i, LOGITS, padding_idx=1),
        torch.tensor([0, 1]),
        torch.tensor([0, 2]),
    ),
    "remainder": (
        lambda x: functional.max_pool2d(x[:, :, :, :8], 3, 2, 1),
        LONG,
        SHORT,
    ),
    "stride of a convolution": (
        lambda x: functional.conv2d(x[:, :, :, :8], torch.ones(2, 2, 3, 3), stride=2),
        LONG,
        SHORT,
        "remainder",
    ),
    "epsilon": (lambda x: 1.0 / (x.abs() + 1e-6), torch.tensor([1e-4, 1.0]), torch.ones(2)),
    "epsilon of a norm": (
        lambda x: functional.layer_norm(x, (8,), eps=1e-6),
        X * 1e-3 / 100.0,
        X,
        "epsilon",
    ),
    "epsilon of a batch norm": (
        lambda x: functional.batch_norm(x, None, None, training=True, eps=1e-6),
        X * 1e-3 / 100.0,
        X,
        "epsilon",
    ),
    "epsilon of statistics": (
        lambda v: functional.batch_norm(X, torch.zeros(8), v, eps=1e-6),
        torch.full((8,), 1e-3),
        torch.ones(8),
        "epsilon",
    ),
    "mask of attention": (
        lambda m: functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 4)] * 3, m),
        torch.tensor([[True, False], [True, True]]),
        torch.ones(2, 2, dtype=torch.bool),
        "mask",
    ),
    "row of attention": (
        lambda m: functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 4)] * 3, m),
        torch.tensor([[False, False], [True, False]]),
        torch.tensor([[True, False], [True, False]]),
        "masked row",
    ),
}
"""What decides -> a call, an input that reaches it, one that does not, and the kind."""


def test_the_difference_of_whole_numbers_has_its_sign():
    lowest = torch.tensor([torch.iinfo(torch.int64).min, -5])
    (told_of,) = missed(lambda x: torch.minimum(x, torch.full_like(x, 3)), "minimum", lowest)
    assert told_of.endswith("minimum: the first is always the smaller (largest -8)")
    (told_of,) = missed(lambda x: torch.minimum(x, torch.full_like(x, 3)), "minimum", lowest[:1])
    assert told_of.endswith("(largest -9.22e+18)")


@pytest.mark.parametrize("name", KINDS)
def test_a_sample_reaches_a_decision_and_another_does_not(name):
    call, reaching, other, *kind = KINDS[name]
    kind = kind[0] if kind else name
    assert missed(call, kind, reaching) == []
    (text,) = missed(call, kind, other)
    assert text.startswith("tests/engine/reach/test_operators.py:")


def test_the_list_says_how_near_the_other_side_is():
    (text,) = missed(lambda x: x.clamp(max=6.0), "clamp high", SMALL)
    assert text.endswith(" clamp high: no element is above 6 (largest 0.5)")


def test_what_is_at_the_bound_of_a_clamp_has_not_left_it():
    assert missed(lambda x: x.clamp(max=6.0), "clamp high", torch.tensor([6.0, 5.0]))


def test_zeros_in_front_of_a_relu_are_on_neither_side():
    assert missed(torch.relu, "kink", torch.tensor([0.0, 1.0]))
    assert missed(torch.relu, "kink", torch.zeros(3))


def test_bounds_of_infinity_bound_nothing():
    assert not reach_of(lambda x: x.clamp(min=-torch.inf), X).decisions


def test_a_largest_number_without_its_index_has_no_tie_nor_has_what_is_smaller():
    assert not reach_of(torch.max, X).decisions
    assert missed(lambda x: x.argmax(-1), "tie", torch.tensor([[1.0, 1.0, 2.0]]))


def test_a_number_that_is_looked_for_is_the_bound_of_its_comparison():
    (decision,) = reach_of(lambda i: i * i.ne(1), torch.tensor([2, 3])).missed
    assert decision.bound == 1.0


def test_a_large_number_that_is_added_is_no_epsilon():
    assert not reach_of(lambda x: x + 0.5, X).decisions


def test_nan_is_on_no_side_and_hides_no_other_number():
    (text,) = missed(lambda x: x.clamp(max=6.0), "clamp high", torch.tensor([torch.nan, 2.0]))
    assert text.endswith("(largest 2)")


def test_an_input_without_elements_reaches_nothing_and_breaks_nothing():
    calls = [call for call, x, *_ in KINDS.values() if torch.is_tensor(x) and x.shape == X.shape]
    for call in calls:
        reach_of(call, torch.zeros(0, 8))
