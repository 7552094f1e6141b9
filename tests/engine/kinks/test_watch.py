"""Kinks: how near a sample is to them, and how far rounding moves it."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from equivalence.kinks.watch import MANY, SAFE, TIES, KinkWatch, few
from tests.engine.parts.small import watched


def test_quantities_come_in_the_order_of_the_forward_pass():
    network = nn.Sequential(nn.ReLU(), nn.MaxPool2d(2), nn.ReLU())
    shapes = [tuple(q.shape) for q in watched(network, torch.randn(1, 1, 4, 4))]
    assert shapes == [(1, 1, 4, 4), (1, 1, 2, 2), (1, 1, 2, 2)]


def test_a_smooth_network_has_no_kinks():
    assert watched(nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Tanh()), torch.randn(2, 3)) == []


def test_watching_changes_nothing():
    x, network = torch.randn(2, 3, 6, 6), nn.Sequential(nn.ReLU(), nn.MaxPool2d(2))
    with KinkWatch():
        assert torch.equal(network(x), network(x.clone()))


def test_a_second_watch_measures_the_spread_of_each_operator():
    x = torch.tensor([[1.0, -2.0, 3.0, 4.0]])
    moved = x + torch.tensor([[0.5, -0.5, 0.5, -0.5]])
    first = KinkWatch()
    with first:
        F.relu(x)
    second = KinkWatch(first)
    with second:
        F.relu(moved)
    assert [spread.tolist() for spread in second.spreads] == [[[0.5] * 4]]
    assert second.quantities == []


def spreads_of(x, *others):
    """The spreads of one ReLU, fed `x` and then each of the others."""
    first = KinkWatch()
    with first:
        F.relu(x)
    second = KinkWatch(first)
    for other in others:
        with second:
            F.relu(other)
    (spread,) = second.spreads
    return spread


def test_a_channel_that_moves_more_than_the_others_has_a_spread_of_its_own():
    x = torch.zeros(2, 3, 4, 5, dtype=torch.float64)
    moved = x.clone()
    moved[:, 1] = 3.0
    # All move by the root of a third of 9, channel 1 by 3.
    assert spreads_of(x, moved).squeeze().tolist() == [math.sqrt(3), 3.0, math.sqrt(3)]


def test_of_several_runs_the_farthest_counts():
    x = torch.zeros(4, dtype=torch.float64)
    assert spreads_of(x, x + 2.0, x - 5.0, x + 1.0).item() == 5.0


def test_a_spread_passes_over_windows_of_a_single_entry():
    x = torch.tensor([[[[1.0, 2.0, 3.0]]]], dtype=torch.float64)
    first = KinkWatch()
    with first:
        F.max_pool2d(x, (1, 2), ceil_mode=True)
    second = KinkWatch(first)
    with second:
        F.max_pool2d(x * 3, (1, 2), ceil_mode=True)
    # Gaps of 1 and infinity, then of 3 and infinity.
    assert [spread.item() for spread in second.spreads] == [
        pytest.approx(math.sqrt(2.0), rel=1e-15)
    ]


def test_near_counts_what_lies_within_safe_spreads():
    spread = 0.5
    edge = SAFE * spread
    watch = KinkWatch()
    with watch:
        F.relu(torch.tensor([0.0, edge, -edge, edge * 1.001, -edge * 1.001]))
        F.relu(torch.tensor([100.0]))
    assert watch.near([spread, spread]) == [3, 0]


def test_a_zero_that_no_rounding_moves_is_not_near():
    first = KinkWatch()
    with first:
        F.relu(F.relu(torch.tensor([-1.0, -1e-9, 2.0])))
    second = KinkWatch(first)
    with second:
        F.relu(F.relu(torch.tensor([-1.1, 1e-9, 2.1])))
    # The first ReLU moves -1e-9 across the kink; behind it -1 is zero and stays so.
    spreads = [1e-9, 1e-9]
    assert first.near(spreads) == [1, 1]
    assert first.quantities[1].tolist() == [math.inf, 0.0, 2.0]


def clamps(first, *others):
    """The watch of clamps between -1 and 127, and one against it that saw these others."""
    watch = KinkWatch()
    for x in first:
        with watch:
            torch.as_tensor(x, dtype=torch.float64).clamp(-1, 127)
    against = KinkWatch(watch)
    for run in others:
        with against:
            for x in run:
                torch.as_tensor(x, dtype=torch.float64).clamp(-1, 127)
    return watch


def test_what_is_exactly_at_a_bound_is_told_besides_and_counts_as_near_to_none():
    above, below = math.nextafter(127.0, 128.0), math.nextafter(-1.0, -2.0)
    watch = clamps([[127.0, above, below, 0.5, 126.9999999]])
    one, tiny = torch.tensor(1.0), torch.tensor(1e-20)
    assert watch.near([one]) == [2]
    assert watch.nearest([tiny]) == [(0, (0,)), (0, (1,)), (0, (2,))]
    assert [watch.is_exact((0, (index,))) for index in range(5)] == [True, True, True, False, False]


def test_a_bound_that_many_are_exactly_at_tells_none():
    tiny = [torch.tensor(1e-20)] * 2
    watch = clamps([[127.0] * TIES, [127.0] * (TIES + 1)])
    assert {place for place, _ in watch.nearest(tiny, most=0)} == {0}
    assert not watch.is_exact((1, (0,)))


def test_what_stays_exactly_at_a_bound_in_every_run_was_copied():
    first, tiny = [127.0, 127.0, 3.0], torch.tensor(1e-20)
    moved = [127.0, math.nextafter(127.0, 0.0), 3.0]
    watch = clamps([first], [first], [first])
    assert watch.has_still()
    assert watch.nearest([tiny]) == [(0, (0,)), (0, (1,))]
    watch.leave_out_still()
    assert watch.nearest([tiny]) == []
    watch = clamps([first], [first], [moved], [first])
    assert watch.has_still()
    watch.leave_out_still()
    assert watch.nearest([tiny]) == [(0, (1,))]
    assert not clamps([first[1:]], [moved[1:]]).has_still()


@pytest.mark.parametrize("bent", [F.relu, F.relu6, F.leaky_relu, torch.abs])
def test_a_zero_is_not_exactly_at_a_kink(bent):
    """It may be behind another ReLU."""
    watch = KinkWatch()
    with watch:
        bent(torch.tensor([0.0, 1.0]))
    assert watch.exact == [None]


def test_few_are_some_but_not_many():
    assert [few(near) for near in (0, 1, MANY - 1, MANY)] == [False, True, True, False]


def quantities_of(*values):
    """A watch that saw a ReLU of each."""
    watch = KinkWatch()
    with watch:
        for each in values:
            F.relu(torch.as_tensor(each, dtype=torch.float64))
    return watch


def test_the_nearest_are_told_by_operator_and_index_in_forward_order():
    watch = quantities_of([[100.0, 2.0], [-1.0, 100.0]], [100.0, 100.0], [0.0, 100.0])
    one = torch.tensor(1.0)
    assert watch.nearest([one] * 3) == [(0, (0, 1)), (0, (1, 0)), (2, (0,))]


def test_each_channel_is_near_by_its_own_spread():
    watch = quantities_of([[15.0, 15.0]])
    assert watch.nearest([torch.tensor([[1.0, 2.0]])]) == [(0, (0, 1))]


def test_an_operator_with_many_near_has_none_to_tell():
    watch = quantities_of([0.0] * MANY, [0.0] * (MANY - 1))
    assert {place for place, _ in watch.nearest([torch.tensor(1.0)] * 2)} == {1}


def test_of_too_many_in_all_those_nearest_in_spreads_are_told():
    values = torch.arange(1.0, MANY) / MANY
    watch = quantities_of(values, values)
    told = watch.nearest([torch.tensor(1.0), torch.tensor(1e3)])
    assert len(told) == MANY
    # Of the first operator just the one that is left: its elements are near by few spreads.
    assert [index for place, index in told if place == 0] == [(0,)]


def test_by_wider_spreads_more_are_near_in_the_operators_that_count():
    many, few_ = [0.0] * MANY, [100.0, 30.0, 1.0]
    watch = quantities_of(many, few_)
    one, ten = torch.tensor(1.0), torch.tensor(2.0)
    assert watch.nearest([one] * 2) == [(1, (2,))]
    assert watch.nearest([one] * 2, wider=[ten] * 2) == [(1, (1,)), (1, (2,))]
    assert watch.nearest([one] * 2, 1, [ten] * 2) == [(1, (2,))]


def test_a_window_that_no_rounding_moves_is_not_near():
    watch = KinkWatch()
    with watch:
        F.max_pool2d(torch.zeros(1, 1, 2, 2), 2)
    assert watch.nearest([torch.tensor(0.0)]) == []


def test_a_single_number_can_be_near_a_kink():
    """Such as the coefficient by which gradients are clipped."""
    watch = KinkWatch()
    with watch:
        torch.tensor(1.0).clamp(max=1.0)
        torch.tensor(3.0).clamp(max=1.0)
    assert watch.nearest([torch.tensor(0.5)] * 2) == [(0, ()), (1, ())]
    assert watch.nearest([torch.tensor(0.01)] * 2) == [(0, ())]


# Steps.


def rounding_watch(*values, against=None):
    """A watch of one rounding of each, against another one or not; and what they gave."""
    with KinkWatch(against) as watch:
        given = [torch.round(torch.tensor(each, dtype=torch.float64)) for each in values]
    return watch, [each.tolist() for each in given]


def test_a_value_between_two_steps_is_as_near_as_the_next_whole_number_is_far():
    watch, _ = rounding_watch([0.0, 0.25, 0.5, 0.75, -1.5, 3.375])
    assert watch.quantities[0].tolist() == [-0.5, -0.25, 0.0, 0.25, 0.0, -0.125]


def test_the_middle_of_a_step_is_near_none_on_either_side():
    first, _ = rounding_watch([1e-9, 2.0, 0.5])
    second, _ = rounding_watch([-1e-9, 2.0, 0.5 + 1e-9], against=first)
    assert float(second.spreads[0]) < 1e-8
    assert first.nearest(second.spreads) == [(0, (2,))]


def test_a_run_against_another_takes_its_steps():
    first, given = rounding_watch([0.5 + 1e-9, 1.25], [2.5])
    assert given == [[1.0, 1.0], [2.0]]
    _, given = rounding_watch([0.5 - 1e-9, 1.25], [2.5 + 1e-9], against=first)
    assert given == [[1.0, 1.0], [2.0]]
    with KinkWatch(first):
        x = torch.tensor([0.5 - 1e-9, 1.25], dtype=torch.float64)
        assert x.round_() is x
        assert x.tolist() == [1.0, 1.0]


def test_with_many_values_near_a_step_it_rounds_many():
    few_, _ = rounding_watch([0.5] * (MANY - 1), [0.25] * MANY)
    many, _ = rounding_watch([0.5] * MANY, [0.25] * MANY)
    spreads = [torch.tensor(1e-9)] * 2
    assert not few_.rounds_many(spreads)
    assert many.rounds_many(spreads)
    with KinkWatch() as bent:
        F.relu(torch.zeros(MANY))
    assert not bent.rounds_many(spreads)
