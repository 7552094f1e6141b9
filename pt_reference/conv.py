"""Convolutions that neither torch nor torchvision offers ready made."""

import torch
import torch.nn.functional as F
from torch import nn


def conv_half_padded(
    in_planes: int, out_planes: int, kernel_size: int, stride: int = 1
) -> nn.Conv2d:
    """Padding kernel_size // 2 on all sides, no bias: every convolution of torchvision's ResNet."""
    return nn.Conv2d(
        in_planes, out_planes, kernel_size, stride, padding=kernel_size // 2, bias=False
    )


def conv7x7(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """The stem convolution."""
    return conv_half_padded(in_planes, out_planes, 7, stride)


def biased_block(in_planes: int, out_planes: int) -> nn.Sequential:
    """VGG's block: a 3x3 convolution with bias, BatchNorm, ReLU."""
    convolution = nn.Conv2d(in_planes, out_planes, 3, padding=1)
    return nn.Sequential(convolution, nn.BatchNorm2d(out_planes), nn.ReLU())


class SameConv2d(nn.Conv2d):
    """N,C,H,W -> N,out,ceil(H/stride),ceil(W/stride): TensorFlow's padding rule.

    Where the padding is odd, the extra row and column go to the bottom and to the right, so that
    at stride 2 on even sizes the windows sit elsewhere than with `padding=kernel_size // 2`.
    """

    def __init__(self, in_planes: int, out_planes: int, kernel_size: int, stride: int = 1):
        super().__init__(in_planes, out_planes, kernel_size, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = (
            max((-(-size // stride) - 1) * stride + kernel - size, 0)
            for size, stride, kernel in zip(
                x.shape[-2:], self.stride, self.kernel_size, strict=True
            )
        )
        x = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
        return super().forward(x)
