"""The candidate of `on_cuda_pt`."""

from mindspore import nn, ops


class Halved(nn.Cell):
    """N,C -> N,C."""

    def construct(self, x):
        return ops.relu(x) * 0.5
