"""A run of the candidate may not use torch, unless the engine lends it."""

import pytest
import torch

from equivalence.errors import BorrowingError
from equivalence.stream.borrowing import lending_torch, without_torch


def test_an_operator_is_refused_and_named():
    with without_torch(), pytest.raises(BorrowingError, match=r"it calls torch \(aten\.ones"):
        torch.ones(2)
    assert torch.ones(2).sum() == 2.0


def test_what_the_engine_lends_runs():
    with without_torch():
        with lending_torch():
            assert torch.ones(2).sum() == 2.0
        with pytest.raises(BorrowingError):
            torch.ones(2)
