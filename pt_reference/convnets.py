"""Blocks and small networks of torchvision's ConvNeXt, MobileNetV3 and EfficientNet.

Stochastic depth is off, since it draws.
"""

from functools import partial

from torch import nn
from torchvision.models import convnext as _convnext
from torchvision.models import efficientnet as _efficientnet
from torchvision.models import mobilenetv3 as _mobilenetv3


def convnext_block(dim: int, layer_scale: float) -> _convnext.CNBlock:
    """ConvNeXt's block: N,dim,H,W -> N,dim,H,W."""
    return _convnext.CNBlock(dim, layer_scale, stochastic_depth_prob=0.0)


def inverted_residual(**sizes) -> _mobilenetv3.InvertedResidual:
    """MobileNetV3's block, with the BatchNorm that its recipe has."""
    norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
    return _mobilenetv3.InvertedResidual(_inverted(**sizes), norm)


def mbconv(**sizes) -> _efficientnet.MBConv:
    """EfficientNet's block."""
    return _efficientnet.MBConv(_mb(**sizes), 0.0, nn.BatchNorm2d)


def convnext(widths: tuple[int, ...], depths: tuple[int, ...], num_classes: int) -> nn.Module:
    """torchvision's ConvNeXt; its layer scale starts at 1e-6: N,3,H,W -> N,num_classes."""
    following = (*widths[1:], None)
    stages = map(_convnext.CNBlockConfig, widths, following, depths)
    return _convnext.ConvNeXt(list(stages), num_classes=num_classes)


def mobilenetv3(blocks: tuple[tuple, ...], last_channel: int, num_classes: int) -> nn.Module:
    """torchvision's MobileNetV3: N,3,H,W -> N,num_classes."""
    return _mobilenetv3.MobileNetV3(
        [_inverted(*block) for block in blocks], last_channel, num_classes
    )


def efficientnet(
    blocks: tuple[tuple, ...], last_channel: int, num_classes: int, dropout: float
) -> nn.Module:
    """torchvision's EfficientNet, a block a stage: N,3,H,W -> N,num_classes."""
    return _efficientnet.EfficientNet(
        [_mb(*block) for block in blocks],
        dropout,
        stochastic_depth_prob=0.0,
        num_classes=num_classes,
        last_channel=last_channel,
    )


def _inverted(
    in_channels: int,
    kernel: int,
    expanded: int,
    out_channels: int,
    squeeze: bool,
    hard: bool,
    stride: int,
) -> _mobilenetv3.InvertedResidualConfig:
    activation = "HS" if hard else "RE"
    return _mobilenetv3.InvertedResidualConfig(
        in_channels, kernel, expanded, out_channels, squeeze, activation, stride, 1, 1.0
    )


def _mb(
    in_channels: int, kernel: int, expansion: int, out_channels: int, stride: int
) -> _efficientnet.MBConvConfig:
    return _efficientnet.MBConvConfig(expansion, kernel, stride, in_channels, out_channels, 1)
