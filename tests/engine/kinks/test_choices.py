"""Operators that choose an entry of each window: which, and how nearly another one."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from equivalence.kinks.choices import CHOICES, choice_of, gap_of, two_largest
from tests.engine.parts.small import watched


def gap(window):
    """Largest minus second largest; infinite without a second and where the largest is zero."""
    first, second, *_ = [*sorted(window, reverse=True), -math.inf, -math.inf]
    return first - second if first not in (0, -math.inf) else math.inf


def gaps_by_loop(x, kernel, stride, padding, dilation, ceil_mode):
    """The gap of every window that starts in the input or the padding before it."""
    starts = []
    for size, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation, strict=True):
        room = size + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        starts.append([-p + i * s for i in range(count) if -p + i * s < size])
    rows, columns = (
        [[i + d * j for j in range(k) if 0 <= i + d * j < size] for i in first]
        for first, size, k, d in zip(starts, x.shape, kernel, dilation, strict=True)
    )
    return [
        [gap([x[i, j].item() for i, j in itertools.product(row, column)]) for column in columns]
        for row in rows
    ]


@st.composite
def poolings(draw):
    """An input of whole numbers, which tie often, and the arguments of a max pooling."""
    pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
    kernel, dilation = draw(pairs), draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    padding = tuple(draw(st.integers(0, k // 2)) for k in kernel)
    sizes = [
        draw(st.integers(max(1, d * (k - 1) + 1 - 2 * p), 8))
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    values = draw(
        st.lists(st.integers(-3, 3), min_size=math.prod(sizes), max_size=math.prod(sizes))
    )
    x = torch.tensor(values, dtype=torch.float64).reshape(sizes)
    return x, kernel, draw(pairs), padding, dilation, draw(st.booleans())


@given(poolings())
def test_the_gap_of_a_max_pooling_is_that_of_each_window(pooling):
    x, kernel, stride, padding, dilation, ceil_mode = pooling
    pool = nn.MaxPool2d(kernel, stride, padding, dilation, ceil_mode=ceil_mode)
    expected = torch.tensor(gaps_by_loop(x, kernel, stride, padding, dilation, ceil_mode))
    (found,) = watched(pool, x[None, None])
    rows, columns = pool(x[None, None]).shape[-2:]
    assert expected.shape == (rows, columns)
    # Nothing in a window of padding alone, whose gap is no number, is near a kink either.
    found = torch.where(found.isnan(), math.inf, found)
    assert torch.equal(found[0, 0, :rows, :columns], expected.double())
    # Windows beyond the last one of PyTorch's hold nothing that could tie.
    beyond = found.clone()
    beyond[..., :rows, :columns] = math.inf
    assert not torch.isfinite(beyond).any()


@pytest.mark.parametrize(
    "pool",
    [
        nn.MaxPool2d(2),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.max_pool2d(x, (2, 2), stride=(2, 2)),
        lambda x: F.max_pool2d(x, 2, return_indices=True),
    ],
)
def test_a_max_pooling_is_seen_in_every_form(pool):
    x = torch.tensor([[1.0, 2.0], [5.0, 9.0]])[None, None]
    assert [quantity.tolist() for quantity in watched(pool, x)] == [[[[[4.0]]]]]


aten = torch.ops.aten

CALLS = [
    (aten.max_pool2d_with_indices.default, (2, 3, 5, 6), ([3, 3], [2, 2], [1, 1])),
    (aten.max_pool2d_with_indices.default, (3, 5, 6), ([2],)),
    (aten.max_pool3d_with_indices.default, (1, 2, 4, 5, 4), ([2, 3, 2], [1, 2, 2], [1, 1, 0])),
    (aten.max_pool3d_with_indices.default, (1, 2, 5, 5, 5), ([2], [], [0], [2], True)),
    (aten.adaptive_max_pool2d.default, (2, 3, 5, 7), ([3, 2],)),
    (aten.adaptive_max_pool2d.default, (3, 4, 4), ([1, 1],)),
    (aten.adaptive_max_pool3d.default, (1, 2, 3, 4, 5), ([2, 3, 2],)),
    (aten.max.dim, (3, 4, 5), (1,)),
    (aten.max.dim, (3, 4, 5), (-1, True)),
    (aten.min.dim, (3, 4, 5), (0,)),
    (aten.amax.default, (3, 4, 5), ([-1, 0],)),
    (aten.amax.default, (3, 4, 5), ([1], True)),
    (aten.amax.default, (3, 4), ([],)),
    (aten.amin.default, (3, 4, 5), ([2],)),
]
"""Operator, shape of its input, further arguments."""


def test_every_operator_that_chooses_is_tried():
    assert {func for func, _, _ in CALLS} == set(CHOICES)


def values(func, args):
    result = func(*args)
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize(("func", "shape", "others"), CALLS)
def test_the_second_largest_entry_is_what_is_chosen_without_the_largest(func, shape, others):
    """So are the gap, and where both entries are."""
    x = torch.from_numpy(np.random.default_rng(0).permutation(math.prod(shape)) - 20.5)
    args = (x.reshape(shape), *others)
    choice, chosen = choice_of(func, args), values(func, args)
    gaps = gap_of(choice, args)
    assert gaps.shape == chosen.shape
    for index in np.ndindex(*chosen.shape):
        largest, second = two_largest(choice, args, index)
        assert x[largest] == chosen[index]
        without = x.clone()
        without[largest] = torch.inf if choice.smallest else -torch.inf
        assert x[second] == values(func, (without.reshape(shape), *others))[index]
        assert gaps[index] == abs(x[largest] - x[second])


@pytest.mark.parametrize(("func", "shape", "others"), CALLS)
def test_an_entry_is_told_as_the_operator_tells_it(func, shape, others):
    args = (torch.randn(shape, dtype=torch.float64), *others)
    choice = choice_of(func, args)
    if not choice.tells_indices:
        assert torch.is_tensor(func(*args))
        return
    chosen, indices = func(*args)
    for index in np.ndindex(*chosen.shape):
        largest, _ = two_largest(choice, args, index)
        assert choice.entry(args, largest) == (chosen[index], indices[index])


@pytest.mark.parametrize(
    "reduced",
    [
        lambda x: x.max(1)[0],
        lambda x: torch.max(x, dim=-1, keepdim=True).values,
        lambda x: x.amax(1),
        lambda x: torch.amax(x, dim=(1,), keepdim=True),
        lambda x: -(-x).min(1)[0],
        lambda x: -(-x).amin(1),
        lambda x: F.adaptive_max_pool1d(x, 1),
        lambda x: F.max_pool1d(x, 3),
        nn.AdaptiveMaxPool1d(1),
    ],
)
def test_a_maximum_along_an_axis_is_seen_in_every_form(reduced):
    x = torch.tensor([[3.0, -1.0, 5.5]])
    assert [quantity.reshape(-1).tolist() for quantity in watched(reduced, x)] == [[2.5]]


def test_a_window_of_zeros_or_of_one_entry_has_no_kink():
    zeros, one = (
        gap_of(CHOICES[aten.amax.default], (x, [1])) for x in (torch.zeros(2, 3), X[:, :1])
    )
    assert zeros.tolist() == one.tolist() == [math.inf, math.inf]


X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def test_whole_numbers_and_single_numbers_are_not_chosen():
    assert choice_of(aten.amax.default, (X.long(), [1])) is None
    assert choice_of(aten.amax.default, (X.sum(), [])) is None
    assert choice_of(aten.relu.default, (X,)) is None
