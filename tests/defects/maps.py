"""Mistakes in weights: maps that send a weight to the wrong place, and weights wrongly used."""

import mindspore as ms
import numpy as np
from mindspore import nn

from tests.defects import candidates as wrong
from tests.defects.makers import built_with, convolution, edited, renamed, swapped, variant
from tests.defects.victim import BOTTLENECK, IDENTITY, PROJECTED, RESNET18, RESNET50, victim

STAGE = victim("resnet_stage", block="BasicBlock")
DENSE = victim("dense", in_features=8, out_features=8)


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


LAYERS_OF_BLOCKS = [
    f"layer3.{block}.{kind}{i}" for block in (1, 2) for kind in ("conv", "bn") for i in (1, 2, 3)
]

# fmt: off
MAPS = (
    renamed("gamma_and_beta_exchanged", RESNET50.at("layer2.0.bn1"),
        norm_renamed("layer2.0.bn1", gamma="bias", beta="weight"),
        "gamma is taken for the bias in one block", cause="weight"),
    renamed("mean_and_variance_exchanged", victim("batch_norm2d").compiled,
        {"moving_mean": "running_var", "moving_variance": "running_mean"},
        "moving_mean is taken for the running variance", cause="running_var"),
    renamed("mean_and_variance_exchanged_in_evaluation", PROJECTED.evaluated.at("downsample.1"),
        norm_renamed("downsample.1", moving_mean="running_var", moving_variance="running_mean"),
        "the same, of the shortcut's BatchNorm, where the square root of a mean is taken",
        cause="running_var"),
    renamed("beta_and_mean_exchanged", BOTTLENECK,
        norm_renamed("bn1", beta="running_mean", moving_mean="bias"),
        "two vectors of one shape: one is trained, the other is not", raises="WeightError"),
    renamed("blocks_exchanged", RESNET50.compiled.at(*LAYERS_OF_BLOCKS),
        exchanged("layer3.1", "layer3.2"),
        "layer3.1 and layer3.2 hold each other's weights, all of the same shapes", cause="weight"),
    renamed("convolutions_exchanged", STAGE.at("1.conv1", "1.conv2"),
        exchanged("1.conv1", "1.conv2"),
        "conv1 and conv2 of one block hold each other's weights", cause="weight"),
    renamed("norms_exchanged", BOTTLENECK.at("bn1", "bn2"), exchanged("bn1", "bn2"),
        "the BatchNorms of a bottleneck, sorted by name, came in another order", cause="weight"),
    renamed("first_and_third_convolution_exchanged", RESNET50,
        exchanged("layer1.1.conv1", "layer1.1.conv3"), "their shapes differ", raises="WeightError"),
    renamed("projection_to_the_wrong_index", BOTTLENECK,
        {"downsample.0.weight": "downsample.1.weight"},
        "the guide's own map: downsample.0.weight goes to downsample.1.weight",
        raises="WeightError"),
    renamed("two_for_one", BOTTLENECK, {"bn2": "bn1"},
        "the map sends two layers to the same name", raises="WeightError"),
    renamed("rename_of_nothing", BOTTLENECK, {"down_sample_layer": "downsample"},
        "the map knows the shortcut under a name that this network does not use",
        raises="WeightError"),
    renamed("map_left_out", victim("bottleneck_pooled", stride=2), {},
        "the names of the r1.7 guide without a map", raises="WeightError"),
)

STRUCTURE = (
    swapped("classifier_without_bias", RESNET18.at("fc"),
        lambda _: nn.Dense(512, 10, has_bias=False), "has_bias=False", raises="WeightError"),
    convolution("convolution_with_bias", BOTTLENECK.at("conv2"),
        "has_bias=True in front of a BatchNorm, which takes it out again in training",
        has_bias=True, raises="WeightError"),
    swapped("zero_gamma_is_a_constant", RESNET18.at("layer1.0.bn2"), without_parameter("gamma"),
        "zero_init_residual written as a tensor of zeros instead of an initialiser",
        raises="WeightError"),
    swapped("norm_without_affine", BOTTLENECK.at("bn2"), lambda _: nn.BatchNorm2d(32, affine=False),
        "affine=False freezes gamma and beta: they load, and are never trained",
        raises="WeightError"),
    edited("weight_tied", IDENTITY, lambda cell: setattr(cell.conv2, "weight", cell.conv1.weight),
        "two convolutions of one shape are given the same parameter", raises="WeightError"),
    swapped("weight_in_a_dict", IDENTITY.at("conv2"), wrong.UnregisteredKernel,
        "a parameter that no cell registers does not load", raises="WeightError"),
    built_with("classifier_transposed", victim("dense", in_features=8, out_features=5),
        "a kernel of TensorFlow is C,classes", in_features=5, out_features=8, raises="WeightError"),
    swapped("checkpoint_in_half", IDENTITY.at("conv2"), in_half,
        "one weight is a float16 parameter, and rounds what is loaded", raises="WeightError"),
)

USE = (
    swapped("weight_never_loaded", IDENTITY.compiled.at("conv2"), wrong.StaleKernel,
        "the layer computes with a copy from before the checkpoint",
        cause="nothing depends on weight"),
    variant("square_weight_transposed", DENSE, wrong.TransposedDense,
        "x W for x W^T, which no shape tells of a square weight", cause="transposed"),
    variant("kernel_transposed", BOTTLENECK.at("conv2"), wrong.TransposedKernel,
        "HWIO turned around to OIWH", cause="transposed"),
    variant("kernel_flipped", RESNET18.compiled.at("conv1"), wrong.FlippedKernel,
        "a convolution for a cross-correlation", cause="flipped"),
    variant("channels_of_a_kernel_exchanged", STAGE.at("1.conv2"), wrong.SwappedChannels,
        "IOHW for OIHW, of as many channels in as out", cause="transposed"),
    variant("kernel_scaled", RESNET18.at("layer4.0.conv1"), wrong.ScaledKernel,
        "a gain at run time on weights that were trained with it"),
)

DEFECTS = MAPS + STRUCTURE + USE
