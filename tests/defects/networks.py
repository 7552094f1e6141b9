"""Mistakes in the structure of blocks, stages and whole networks."""

from mindspore import nn, ops

from ms_models import conv
from tests.defects import candidates as wrong
from tests.defects.edits import convolutions_with, replaced, together
from tests.defects.makers import built_with, candidate, convolution, edited, norm, swapped, variant
from tests.defects.victim import BOTTLENECK, IDENTITY, PROJECTED, RESNET18, RESNET50, victim

HERE = "tests.defects.candidates:"

BOTTLENECK_OF_128 = victim("bottleneck", inplanes=128, stride=1)
WIDE = victim("bottleneck_wide", stride=2)
POOLED = victim("bottleneck_pooled", stride=2)

STRIDED = [f"layer{i}.0.conv{j}" for i in (2, 3, 4) for j in (1, 2)]
FIRSTS, SECONDS = STRIDED[::2], STRIDED[1::2]
NORMS = ("bn1", "bn2", "bn3", "downsample.1")

# fmt: off
DEFECTS = (
    candidate("shortcut_forgotten", IDENTITY, HERE + "ForgottenShortcut",
        "the block returns its branch alone"),
    candidate("shortcut_added_after_relu", IDENTITY, HERE + "ShortcutAfterReLU",
        "the ReLU is applied to the branch, and the shortcut added to that"),
    candidate("last_relu_missing", PROJECTED.compiled, HERE + "WithoutLastReLU",
        "the sum is returned as it is, as in a pre-activation network"),
    candidate("relu_on_the_shortcut", PROJECTED, HERE + "ReLUOnShortcut",
        "the projection got a ReLU, as the convolutions have"),
    candidate("projection_without_its_norm_applied", PROJECTED, HERE + "ProjectionWithoutNorm",
        "only the convolution of the projection is called", cause="downsample.1"),
    candidate("shortcut_from_inside_the_branch", IDENTITY, HERE + "ShortcutFromInside",
        "the variable that is added was overwritten by the first layer"),
    candidate("relu_before_norm", IDENTITY, HERE + "ReLUBeforeNorm",
        "convolution, ReLU, BatchNorm"),
    candidate("pre_activation", IDENTITY, HERE + "PreActivation",
        "the second version of the residual block with the names of the first"),
    candidate("first_convolution_called_twice", IDENTITY, HERE + "FirstConvolutionTwice",
        "a line was copied and its second convolution not renamed", cause="conv2.weight"),
    candidate("second_relu_missing", BOTTLENECK_OF_128, HERE + "WithoutSecondReLU",
        "the 3x3 convolution is not followed by a ReLU"),
    swapped("relu6_for_relu", RESNET18.at("layer4.1.relu"), lambda _: nn.ReLU6(),
        "MobileNet's activation", cause="ReLU6"),
    swapped("leaky_relu", BOTTLENECK.at("relu"), lambda _: nn.LeakyReLU(0.1),
        "Darknet's activation: a slope of 0.1 below zero", cause="LeakyReLU"),
    edited("stride_on_the_first_convolution", BOTTLENECK.at("conv1", "conv2"),
        together(convolutions_with("conv1", stride=2), convolutions_with("conv2", stride=1)),
        "the original bottleneck strides on its 1x1, torchvision's on its 3x3", cause="stride"),
    edited("original_resnet50", RESNET50.compiled.at(*STRIDED),
        together(convolutions_with(*FIRSTS, stride=2), convolutions_with(*SECONDS, stride=1)),
        "all three strided stages stride on the 1x1: the network of 2015, not torchvision's",
        cause="stride"),
    convolution("projection_without_stride", BOTTLENECK.at("downsample.0"),
        "the shortcut keeps the size that the branch halves", stride=1, raises="SideError"),
    swapped("projection_without_norm", BOTTLENECK.at("downsample"),
        lambda layer: nn.SequentialCell(layer[0]),
        "the shortcut is a bare convolution", raises="WeightError"),
    convolution("projection_padded_into_the_branch", PROJECTED.at("conv1"),
        "the 3x3 convolution of the block pads by rule, which differs at an even width",
        pad_mode="same", padding=0, cause="pad"),
    convolution("last_stage_without_stride", RESNET18.at("layer4.0.conv1", "layer4.0.downsample.0"),
        "layer4 keeps the size, as in a detector's backbone; the average hides it",
        stride=1, cause="stride"),
    swapped("blocks_shared", RESNET50.at("layer3"),
        lambda stage: nn.SequentialCell(stage[0], *[stage[1]] * (len(stage) - 1)),
        "[block] * n: the blocks of a stage are one and the same", raises="WeightError"),
    variant("block_skipped", RESNET50.compiled.at("layer3"), wrong.WithoutThirdBlock,
        "the loop over layer3 leaves out its third block, whose weights load all the same",
        cause="nothing depends on 2."),
    built_with("depth_of_another_network", RESNET50,
        "built with the blocks of ResNet34", depth=34, raises="WeightError"),
    candidate("expansion_of_two", BOTTLENECK_OF_128, HERE + "HalfExpansion",
        "the last convolution doubles the planes instead of quadrupling them",
        raises="WeightError"),
    variant("max_pool_before_norm", RESNET18, wrong.PoolBeforeNormInStem,
        "the stem pools right after its convolution"),
    variant("stem_without_relu", RESNET18, wrong.StemWithoutReLU,
        "BatchNorm straight into the max pooling"),
    swapped("stem_pool_padded_by_rule", RESNET18.compiled.at("maxpool"),
        lambda _: nn.MaxPool2d(3, 2, pad_mode="same"),
        "pad_mode 'same' for padding 1, as the guides have it", cause="pad"),
    convolution("stem_without_stride", RESNET18.at("conv1"),
        "the stem of CIFAR-10 recipes keeps the size", stride=1, cause="stride"),
    swapped("stem_of_3x3", RESNET18.at("conv1"), lambda _: conv.conv3x3(3, 64, stride=2),
        "the stem of CIFAR-10 recipes has another kernel", raises="WeightError"),
    edited("maximum_for_mean_over_the_map", RESNET18,
        replaced(lambda _: ops.ReduceMax(keep_dims=True), "avgpool"),
        "ReduceMax instead of ReduceMean before the classifier"),
    variant("mean_over_channels_last_axes", RESNET18, wrong.ChannelsLastMean,
        "TensorFlow's axes 1 and 2 of a map in NCHW", raises="SideError"),
    variant("probabilities_for_logits", RESNET18.compiled, wrong.Probabilities,
        "the network ends in a softmax, and so does the loss"),
    variant("colours_reversed", RESNET18, wrong.ReversedColours, "images come as BGR from OpenCV"),
    norm("epsilon_of_the_other_guide", WIDE.at(*NORMS),
        "1e-5 in the block of the r0.5 guide, which has 1e-4", eps=1e-5, cause="eps"),
    edited("mean_pool_in_e2", POOLED,
        replaced(lambda _: nn.AvgPool2d(2, 2, pad_mode="same"), "e2.3"),
        "an average pooling where the block of the r1.7 guide takes the maximum"),
    candidate("pool_before_norm_in_e2", POOLED, HERE + "PoolBeforeNorm",
        "the block of the r1.7 guide pools right after its convolution"),
    edited("stride_for_pool_in_e2", POOLED.compiled.at("conv2"),
        together(convolutions_with("e2.0", stride=2), replaced(lambda _: nn.Identity(), "e2.3")),
        "the 3x3 convolution strides instead of being pooled", cause="stride"),
    swapped("dropout_added", RESNET18.at("flatten"),
        lambda layer: nn.SequentialCell(layer, nn.Dropout(p=0.2)),
        "the classifier got a dropout that the reference does not have", raises="FreeDrawsError"),
    candidate("dropout_by_function_in_evaluation", IDENTITY.evaluated, HERE + "DropoutByFunction",
        "ops.dropout drops in every mode", raises="FreeDrawsError"),
)
