"""Originals of MindCV's networks with a known cause taken out: they must then equal the port.

Each function is named after the port. It changes settings of the original and nothing else, so that
the weights stay where they are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torchvision import models as torchvision


class SamePool(nn.Module):
    """A pooling of 3 x 3 with stride 2 that pads as "same": below and to the right first.

    Its inputs are not negative. What is padded counts neither as a maximum nor in a mean.
    """

    def __init__(self, pool: Callable[..., Tensor]):
        super().__init__()
        self.pool = pool

    def forward(self, x: Tensor) -> Tensor:
        missing = [(-(-size // 2) - 1) * 2 + 3 - size for size in x.shape[:1:-1]]
        padding = [part for each in missing for part in (each // 2, each - each // 2)]
        pooled = self.pool(F.pad(x, padding), 3, 2)
        if self.pool is F.max_pool2d:
            return pooled
        return pooled / self.pool(F.pad(x.new_ones(x.shape[-2:])[None, None], padding), 3, 2)


def pad_as_same(conv: nn.Conv2d) -> None:
    """Let a convolution pad as "same": below and to the right first."""

    def pad(_: nn.Module, given: tuple[Tensor]) -> Tensor:
        x = given[0]
        each = zip(x.shape[:1:-1], conv.kernel_size[::-1], conv.stride[::-1], strict=True)
        missing = [(-(-n // stride) - 1) * stride + kernel - n for n, kernel, stride in each]
        return F.pad(x, [part for n in missing for part in (n // 2, n - n // 2)])

    conv.padding = (0, 0)
    conv.register_forward_pre_hook(pad)


def between_corners(size: int, scaled: int) -> Tensor:
    """The matrix that scales a line by linear interpolation with aligned corners.

    Places are rounded to float32, as in the kernels of both frameworks: 192 roundings.
    """
    places = np.arange(scaled, dtype=np.float32) * np.float32((size - 1) / (scaled - 1))
    left = np.minimum(places.astype(int), size - 2)
    matrix = np.zeros((scaled, size))
    matrix[range(scaled), left] = 1.0 - (places - left)
    matrix[range(scaled), left + 1] = places - left
    return torch.from_numpy(matrix)


class WithoutPadding(TorchFunctionMode):
    """Average poolings do not count what is padded, as MindSpore's do not."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        kwargs = dict(kwargs or {})
        if function is F.avg_pool2d:
            kwargs["count_include_pad"] = False
        return function(*args, **kwargs)


def changed(network: nn.Module, kind: type[nn.Module], **values: Any) -> nn.Module:
    """The network with these attributes set in all modules of a class."""
    for module in network.modules():
        if isinstance(module, kind):
            for name, value in values.items():
                setattr(module, name, value)
    return network


def gelu_by_tanh(network: nn.Module, defaults: tuple[str, ...] = ()) -> nn.Module:
    """The network with the approximation of GELU that is MindSpore's default.

    defaults: ends of the paths of LayerNorms that have MindSpore's default of epsilon, too.
    """
    for parent in [*network.modules()]:
        for name, module in parent.named_children():
            if type(module).__name__ == "GELU":
                setattr(parent, name, nn.GELU("tanh"))
    for path, module in network.named_modules():
        if isinstance(module, nn.LayerNorm) and path.endswith(defaults):
            module.eps = 1e-7
    return network


def mobilenet_v1_100(num_classes: int) -> nn.Module:
    return timm.create_model("mobilenetv1_100", num_classes=num_classes, act_layer="relu")


def mobilenet_v3_small_100(num_classes: int) -> nn.Module:
    network = torchvision.mobilenet_v3_small(num_classes=num_classes)
    return changed(network, nn.BatchNorm2d, eps=1e-5, momentum=0.1)


def mnasnet_050(num_classes: int) -> nn.Module:
    network = torchvision.mnasnet0_5(num_classes=num_classes)
    return changed(network, nn.BatchNorm2d, eps=1e-3, momentum=0.01)


def inception_v3(num_classes: int, aux_logits: bool) -> nn.Module:
    network = torchvision.inception_v3(
        num_classes=num_classes, aux_logits=aux_logits, init_weights=False, dropout=0.2
    )
    forward = network.forward

    def without_padding(x: Tensor) -> Tensor:
        with WithoutPadding():
            return forward(x)

    network.forward = without_padding
    return changed(network, nn.BatchNorm2d, momentum=0.0003)


def inception_v4(num_classes: int) -> nn.Module:
    network = timm.create_model("inception_v4", num_classes=num_classes, drop_rate=0.2)
    return changed(network, nn.BatchNorm2d, momentum=0.0003)


def squeezenet1_0(num_classes: int) -> nn.Module:
    return changed(
        torchvision.squeezenet1_0(num_classes=num_classes), nn.MaxPool2d, ceil_mode=False
    )


def squeezenet1_1(num_classes: int) -> nn.Module:
    network = torchvision.squeezenet1_1(num_classes=num_classes)
    network.features[0].padding = (1, 1)
    return changed(network, nn.MaxPool2d, ceil_mode=False)


def convnext_tiny(num_classes: int) -> nn.Module:
    return gelu_by_tanh(timm.create_model("convnext_tiny", num_classes=num_classes))


def xception(num_classes: int) -> nn.Module:
    return timm.create_model("legacy_xception", num_classes=num_classes, drop_rate=0.5)


def visformer_tiny(num_classes: int) -> nn.Module:
    return gelu_by_tanh(
        timm.create_model("visformer_tiny", num_classes=num_classes, drop_path_rate=0.03)
    )


def vit_b_32_224(num_classes: int) -> nn.Module:
    return gelu_by_tanh(timm.create_model("vit_base_patch32_224", num_classes=num_classes), ("",))


def pit_ti(num_classes: int) -> nn.Module:
    return gelu_by_tanh(timm.create_model("pit_ti_224", num_classes=num_classes))


def swin_tiny(num_classes: int) -> nn.Module:
    return gelu_by_tanh(
        timm.create_model(
            "swin_tiny_patch4_window7_224", num_classes=num_classes, drop_path_rate=0.2
        ),
        ("downsample.norm",),
    )


def convit_tiny(num_classes: int) -> nn.Module:
    network = timm.create_model("convit_tiny", num_classes=num_classes, drop_path_rate=0.1)
    return gelu_by_tanh(network, ("",))


def crossvit_9(num_classes: int) -> nn.Module:
    network = timm.create_model("crossvit_9_240", num_classes=num_classes)
    scaled, network.img_size_scaled[1] = network.img_size_scaled[1], network.img_size
    embed = network.patch_embed[1]
    scale = between_corners(network.img_size[0], scaled[0])

    def bilinear(_: nn.Module, given: tuple[Tensor]) -> Tensor:
        matrix = scale.to(given[0].dtype)
        return matrix @ given[0] @ matrix.T

    embed.register_forward_pre_hook(bilinear)
    return gelu_by_tanh(network, ("norm1", "norm2"))


def pvt_v2_b0(num_classes: int) -> nn.Module:
    network = timm.create_model("pvt_v2_b0", num_classes=num_classes)
    for module in network.modules():
        if type(module).__name__ == "OverlapPatchEmbed":
            pad_as_same(module.proj)
    return gelu_by_tanh(network, ("embed.norm", "downsample.norm", "attn.norm"))


def convnextv2_atto(num_classes: int) -> nn.Module:
    return gelu_by_tanh(timm.create_model("convnextv2_atto", num_classes=num_classes))


def mixnet_s(num_classes: int) -> nn.Module:
    network = timm.create_model("mixnet_s", num_classes=num_classes, drop_rate=0.2)
    for block in network.blocks.modules():
        if hasattr(block, "conv_reduce"):
            block.act1 = nn.ReLU()
    return network


def resnest14(num_classes: int) -> nn.Module:
    network = timm.create_model("resnest14d", num_classes=num_classes)
    network.maxpool = SamePool(F.max_pool2d)
    for block in network.modules():
        if (pool := getattr(block, "avd_last", None)) is not None:
            pool.count_include_pad = False
            if pool.stride != 1:
                block.avd_last = SamePool(F.avg_pool2d)
    return network


def mlp_mixer_s_p32(num_classes: int) -> nn.Module:
    network = timm.create_model("mixer_s32_224", num_classes=num_classes)
    network.stem.proj.bias = None
    return gelu_by_tanh(network, ("",))
