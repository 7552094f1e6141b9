"""MindCV's networks without what keeps them from being built or run with MindSpore 2.10."""

from mindcv.models import rexnet
from mindspore import nn


class ReXNetV1(rexnet.ReXNetV1):
    """Weights are drawn by the comparison; drawing them here reshapes a tensor without values."""

    def _initialize_weights(self) -> None:
        pass


def rexnet_10(num_classes: int) -> nn.Cell:
    return ReXNetV1(num_classes=num_classes)
