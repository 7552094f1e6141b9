"""Ports of `complex_pt`, of which MindSpore refuses the gradients."""

import mindspore as ms
from mindspore import nn, ops


class Turned(nn.Cell):
    def __init__(self):
        super().__init__()
        self.real = ms.Parameter(ops.zeros(4), name="real")
        self.imaginary = ms.Parameter(ops.zeros(4), name="imaginary")

    def construct(self, x):
        return ops.Complex()(x, -x) * ops.Complex()(self.real, self.imaginary)


class Conjugated(Turned):
    def construct(self, x):
        return ops.Complex()(x, x) * ops.Complex()(self.real, self.imaginary)
