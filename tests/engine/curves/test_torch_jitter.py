"""Noise of one rounding in a run as it stands, in the precision that each result has."""

import pytest
import torch

from equivalence.curves.torch_jitter import Jitter

DTYPES = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


@pytest.mark.parametrize(("dtype", "unit"), DTYPES.items(), ids=str)
def test_results_move_by_a_rounding_of_their_own_precision(dtype, unit):
    x = torch.rand(1000, generator=torch.Generator().manual_seed(0)).add(1.0).to(dtype)
    plain = x.sin()
    with Jitter(1):
        moved = x.sin()
    apart = ((moved.double() - plain.double()) / plain.double()).abs()
    assert apart.max() < 4 * unit
    assert (apart > 0).float().mean() > 0.5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_cast_to_a_shorter_precision_rounds(dtype):
    x = torch.rand(1000, generator=torch.Generator().manual_seed(0))
    plain = x.to(dtype)
    with Jitter(1):
        moved, wider = x.to(dtype), plain.to(torch.float32)
    assert not torch.equal(moved, plain)
    assert torch.equal(wider, plain.float())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_whole_numbers_halves_and_what_is_drawn_stay(dtype):
    x = torch.tensor([0.0, 1.0, 2.0, 0.5, 3.0]).to(dtype)
    with Jitter(1):
        assert torch.equal(x * 2, torch.tensor([0.0, 2.0, 4.0, 1.0, 6.0]).to(dtype))
        torch.manual_seed(0)
        drawn = torch.rand(4)
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.rand(4))


def test_what_a_cast_takes_from_a_number_moves_by_the_smallest_one():
    smallest = 2.0**-24
    x = torch.full((3000,), 0.3 * smallest)
    x[::3] = 0.0
    assert not x.half().any()
    with Jitter(1):
        moved = x.half().double() / smallest
    assert not moved[::3].any()
    assert {*moved.tolist()} == {-1.0, 0.0, 1.0}
    assert abs(moved.mean()) < 0.1


def test_subnormal_numbers_move_by_the_smallest_one():
    smallest = 2.0**-24
    x = (torch.arange(1, 1000) * smallest).half()
    with Jitter(1):
        moved = (x * 0.7).double() / smallest - (x.double() * 0.7) / smallest
    assert moved.abs().max() < 2.0
    assert moved.std() > 0.5
