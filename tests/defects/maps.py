"""Mistakes in weights: maps that send a weight to the wrong place, and weights wrongly used."""

import mindspore as ms
import numpy as np
from mindspore import nn

from tests.defects import candidates as wrong
from tests.defects.defect import Defect
from tests.defects.edits import convolutions_with, recast, replaced
from tests.defects.places import BOTTLENECK, IDENTITY, RESNET18, RESNET50

STAGE = {"twin": "resnet_stage", "where": {"block": "BasicBlock"}}
DENSE = {"twin": "dense", "where": {"in_features": 8, "out_features": 8}}


def exchanged(one: str, two: str) -> dict[str, str]:
    """A map in which two names have taken each other's place."""
    return {one: two, two: one}


def norm_renamed(path: str, **names: str) -> dict[str, str]:
    """A map of the weights of one BatchNorm."""
    return {f"{path}.{ours}": f"{path}.{theirs}" for ours, theirs in names.items()}


def without_parameter(name: str):
    """Put a constant in place of a parameter of a layer."""

    def edit(layer: nn.Cell) -> nn.Cell:
        shape = getattr(layer, name).shape
        delattr(layer, name)
        setattr(layer, name, ms.Tensor(np.zeros(shape, np.float32)))
        return layer

    return edit


def in_half(layer: nn.Cell) -> nn.Cell:
    """Hold the weight of a layer in float16."""
    layer.weight = ms.Parameter(ms.Tensor(np.zeros(layer.weight.shape, np.float16)))
    return layer


REFUSED = {"culprit": None, "raises": "WeightError"}

MAPS = (
    Defect(
        "gamma_and_beta_exchanged",
        "gamma is taken for the bias in one block",
        **RESNET50,
        culprit=("layer2.0.bn1",),
        cause="weight",
        rename=norm_renamed("layer2.0.bn1", gamma="bias", beta="weight"),
    ),
    Defect(
        "mean_and_variance_exchanged",
        "moving_mean is taken for the running variance",
        twin="batch_norm2d",
        where={"execution": "graph"},
        culprit=("",),
        cause="running_var",
        rename={"moving_mean": "running_var", "moving_variance": "running_mean"},
    ),
    Defect(
        "mean_and_variance_exchanged_in_evaluation",
        "the same, of the shortcut's BatchNorm, where the square root of a mean is taken",
        twin="basic_block",
        where={"planes": 64, "stride": 2, "phase": "eval"},
        culprit=("downsample.1",),
        cause="running_var",
        rename=norm_renamed(
            "downsample.1", moving_mean="running_var", moving_variance="running_mean"
        ),
    ),
    Defect(
        "beta_and_mean_exchanged",
        "two vectors of one shape: one is trained, the other is not",
        **BOTTLENECK,
        **REFUSED,
        rename=norm_renamed("bn1", beta="running_mean", moving_mean="bias"),
    ),
    Defect(
        "blocks_exchanged",
        "layer3.1 and layer3.2 hold each other's weights, all of the same shapes",
        twin="resnet",
        where={"depth": 50, "execution": "graph"},
        culprit=tuple(
            f"layer3.{block}.{kind}{i}"
            for block in (1, 2)
            for kind in ("conv", "bn")
            for i in (1, 2, 3)
        ),
        cause="weight",
        rename=exchanged("layer3.1", "layer3.2"),
    ),
    Defect(
        "convolutions_exchanged",
        "conv1 and conv2 of one block hold each other's weights",
        **STAGE,
        culprit=("1.conv1", "1.conv2"),
        cause="weight",
        rename=exchanged("1.conv1", "1.conv2"),
    ),
    Defect(
        "norms_exchanged",
        "the BatchNorms of a bottleneck, sorted by name, came in another order",
        **BOTTLENECK,
        culprit=("bn1", "bn2"),
        cause="weight",
        rename=exchanged("bn1", "bn2"),
    ),
    Defect(
        "first_and_third_convolution_exchanged",
        "their shapes differ",
        **RESNET50,
        **REFUSED,
        rename=exchanged("layer1.1.conv1", "layer1.1.conv3"),
    ),
    Defect(
        "projection_to_the_wrong_index",
        "the guide's own map: downsample.0.weight goes to downsample.1.weight",
        **BOTTLENECK,
        **REFUSED,
        rename={"downsample.0.weight": "downsample.1.weight"},
    ),
    Defect(
        "two_for_one",
        "the map sends two layers to the same name",
        **BOTTLENECK,
        **REFUSED,
        rename={"bn2": "bn1"},
    ),
    Defect(
        "rename_of_nothing",
        "the map knows the shortcut under a name that this network does not use",
        **BOTTLENECK,
        **REFUSED,
        rename={"down_sample_layer": "downsample"},
    ),
    Defect(
        "map_left_out",
        "the names of the r1.7 guide without a map",
        twin="bottleneck_pooled",
        where={"stride": 2},
        **REFUSED,
        rename={},
    ),
)

STRUCTURE = (
    Defect(
        "classifier_without_bias",
        "has_bias=False",
        **RESNET18,
        **REFUSED,
        edit=replaced(lambda _: nn.Dense(512, 10, has_bias=False), "fc"),
    ),
    Defect(
        "convolution_with_bias",
        "has_bias=True in front of a BatchNorm, which takes it out again in training",
        **BOTTLENECK,
        **REFUSED,
        edit=convolutions_with("conv2", has_bias=True),
    ),
    Defect(
        "zero_gamma_is_a_constant",
        "zero_init_residual written as a tensor of zeros instead of an initialiser",
        **RESNET18,
        **REFUSED,
        edit=replaced(without_parameter("gamma"), "layer1.0.bn2"),
    ),
    Defect(
        "norm_without_affine",
        "affine=False freezes gamma and beta: they load, and are never trained",
        **BOTTLENECK,
        **REFUSED,
        edit=replaced(lambda _: nn.BatchNorm2d(32, affine=False), "bn2"),
    ),
    Defect(
        "weight_tied",
        "two convolutions of one shape are given the same parameter",
        **IDENTITY,
        **REFUSED,
        edit=lambda cell: setattr(cell.conv2, "weight", cell.conv1.weight),
    ),
    Defect(
        "weight_in_a_dict",
        "a parameter that no cell registers does not load",
        **IDENTITY,
        **REFUSED,
        edit=replaced(wrong.UnregisteredKernel, "conv2"),
    ),
    Defect(
        "classifier_transposed",
        "a kernel of TensorFlow is C,classes",
        twin="dense",
        where={"in_features": 8, "out_features": 5},
        **REFUSED,
        arguments={"in_features": 5, "out_features": 8},
    ),
    Defect(
        "checkpoint_in_half",
        "one weight is a float16 parameter, and rounds what is loaded",
        **IDENTITY,
        **REFUSED,
        edit=replaced(in_half, "conv2"),
    ),
)

USE = (
    Defect(
        "weight_never_loaded",
        "the layer computes with a copy from before the checkpoint",
        twin="basic_block",
        where={"planes": 32, "stride": 1, "execution": "graph"},
        culprit=("conv2",),
        cause="nothing depends on weight",
        edit=replaced(wrong.StaleKernel, "conv2"),
    ),
    Defect(
        "square_weight_transposed",
        "x W for x W^T, which no shape tells of a square weight",
        **DENSE,
        culprit=("",),
        cause="transposed",
        edit=recast(wrong.TransposedDense, ""),
    ),
    Defect(
        "kernel_transposed",
        "HWIO turned around to OIWH",
        **BOTTLENECK,
        culprit=("conv2",),
        cause="transposed",
        edit=recast(wrong.TransposedKernel, "conv2"),
    ),
    Defect(
        "kernel_flipped",
        "a convolution for a cross-correlation",
        twin="resnet",
        where={"depth": 18, "execution": "graph"},
        culprit=("conv1",),
        cause="flipped",
        edit=recast(wrong.FlippedKernel, "conv1"),
    ),
    Defect(
        "channels_of_a_kernel_exchanged",
        "IOHW for OIHW, of as many channels in as out",
        **STAGE,
        culprit=("1.conv2",),
        cause="transposed",
        edit=recast(wrong.SwappedChannels, "1.conv2"),
    ),
    Defect(
        "kernel_scaled",
        "a gain at run time on weights that were trained with it",
        **RESNET18,
        culprit=("layer4.0.conv1",),
        edit=recast(wrong.ScaledKernel, "layer4.0.conv1"),
    ),
)

DEFECTS = MAPS + STRUCTURE + USE
