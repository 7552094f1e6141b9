"""Normalisation, with PyTorch's reading of `momentum`: the share of the new statistics."""

import numpy as np
from mindspore import Tensor, nn


class PlainBatchNorm2d(nn.BatchNorm2d):
    """BatchNorm without scale and shift: N,C,H,W -> N,C,H,W."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1):
        super().__init__(num_features, eps=eps, momentum=1.0 - momentum, affine=False)
        # With affine=False the cell still keeps both as frozen parameters, which would show up in
        # checkpoints and find no partner; constants do not.
        del self.gamma, self.beta
        self.gamma = Tensor(np.ones(num_features, np.float32))
        self.beta = Tensor(np.zeros(num_features, np.float32))


def batch_norm2d(num_features: int, eps: float = 1e-5, momentum: float = 0.1) -> nn.BatchNorm2d:
    """`torch.nn.BatchNorm2d`. MindSpore's momentum is the share of the old statistics."""
    return nn.BatchNorm2d(num_features, eps=eps, momentum=1.0 - momentum)


def plain_batch_norm2d(
    num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False
) -> nn.BatchNorm2d:
    """`torch.nn.BatchNorm2d(affine=False)`."""
    if affine:
        raise ValueError("plain_batch_norm2d has no scale and shift; use batch_norm2d")
    return PlainBatchNorm2d(num_features, eps, momentum)


def layer_norm(normalized_shape: int, eps: float = 1e-5) -> nn.LayerNorm:
    """`torch.nn.LayerNorm` over the last axis. MindSpore's own default epsilon is 1e-7."""
    return nn.LayerNorm((normalized_shape,), epsilon=eps)


def batch_norm2d_eps_1e4(num_features: int) -> nn.BatchNorm2d:
    """The mistake: an epsilon of 1e-4 where PyTorch's default is 1e-5."""
    return nn.BatchNorm2d(num_features, eps=1e-4)


def batch_norm2d_momentum_as_given(num_features: int, momentum: float) -> nn.BatchNorm2d:
    """The mistake: PyTorch's momentum handed on as it is, so that new and old swap roles."""
    return nn.BatchNorm2d(num_features, momentum=momentum)
