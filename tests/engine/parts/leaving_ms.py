"""Candidates that leave the test, or let torch compute; each is otherwise the identity."""

import os
import sys

import pytest
import torch
from mindspore import Tensor, nn


class Skips(nn.Cell):
    """Skips the test that runs it."""

    def construct(self, x):
        pytest.skip("no kernel here")
        return x


class Quits(nn.Cell):
    """Ends the process as if all were well."""

    def construct(self, x):
        sys.exit(0)
        return x


class Vanishes(nn.Cell):
    """Ends the process at once, and its exit code is 0."""

    def construct(self, x):
        os._exit(0)
        return x


class Borrows(nn.Cell):
    """Lets torch compute."""

    def construct(self, x):
        return Tensor(torch.abs(torch.from_numpy(x.asnumpy())).numpy())


def skipping():
    """Skips the test where the candidate is built."""
    pytest.skip("no kernel here")
