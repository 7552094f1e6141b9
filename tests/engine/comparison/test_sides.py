"""What the forward pass of a network that is built already writes starts equal on both sides."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn as ms_nn
from mindspore import ops
from torch import nn

from equivalence import compare, normal

X = normal(3, 5)


class Theirs(nn.Module):
    """Codes that are normalised in training, a table that is only read, and a count."""

    def __init__(self, table=3.7, count=0.0):
        super().__init__()
        self.proj = nn.Linear(5, 4)
        self.register_buffer("codes", torch.randn(6, 4))
        self.register_buffer("table", torch.full((4,), table))
        self.register_buffer("count", torch.tensor(count))

    def forward(self, x):
        if self.training:
            self.codes.copy_(nn.functional.normalize(self.codes, dim=1))
            self.count += 1
        return (self.proj(x) * self.table) @ self.codes.t()


class Ours(ms_nn.Cell):
    def __init__(self, axis=1, keeps=True, table=3.7, count=0.0):
        super().__init__()
        self.axis, self.keeps = axis, keeps
        self.proj = ms_nn.Dense(5, 4)
        codes = np.random.standard_normal((6, 4)).astype(np.float32)
        values = {"codes": codes, "table": np.full(4, table), "count": np.array(count)}
        for name, made in values.items():
            tensor = ms.Tensor(made, ms.float32)
            setattr(self, name, ms.Parameter(tensor, name=name, requires_grad=False))

    def construct(self, x):
        codes = ops.stop_gradient(self.codes) * 1
        if self.training:
            codes = codes / ops.sqrt((codes * codes).sum(self.axis, keepdims=True))
            if self.keeps:
                ops.assign(self.codes, codes)
            ops.assign(self.count, self.count + 1)
        return ops.matmul(self.proj(x) * self.table, codes.T)


def compared(theirs, ours, **options):
    return compare(theirs, ours, X, execution="pynative", **options)


def wrong(found):
    return {each.name for each in found.tensors if not each.equal}


@pytest.mark.parametrize("phase", [None, "train", "eval"])
def test_state_starts_with_the_values_of_the_reference(phase):
    theirs, ours = Theirs(), Ours()
    before = theirs.codes.tolist(), ours.codes.asnumpy().tolist()
    found = compared(theirs, ours, **({"phase": phase} if phase else {}))
    assert found
    assert before == (theirs.codes.tolist(), ours.codes.asnumpy().tolist())


def test_a_function_that_gives_one_network_each_time_hands_it_over():
    theirs, ours = Theirs(), Ours()
    assert compared(lambda: theirs, lambda: ours, phase="train")


def test_state_is_compared_after_the_run():
    assert "buffer:codes" in wrong(compared(Theirs(), Ours(axis=0), phase="train"))
    assert wrong(compared(Theirs(), Ours(keeps=False), phase="train")) == {"buffer:codes"}


def test_what_is_only_read_and_whole_numbers_start_as_they_are():
    assert "buffer:table" in wrong(compared(Theirs(), Ours(table=3.8), phase="eval"))
    assert wrong(compared(Theirs(), Ours(count=1.0), phase="train")) == {"buffer:count"}
