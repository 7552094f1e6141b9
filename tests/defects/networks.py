"""Mistakes in the structure of blocks, stages and whole networks; after those, in training."""

from mindspore import nn, ops

from ms_models import conv
from tests.defects import candidates as wrong
from tests.defects import training
from tests.defects.defect import Defect
from tests.defects.edits import convolutions_with, norms_with, recast, replaced, together

HERE = "tests.defects.candidates:"
WHOLE = ("",)
IDENTITY = {"twin": "basic_block", "where": {"planes": 32, "stride": 1}}
PROJECTED = {"twin": "basic_block", "where": {"planes": 64, "stride": 2}}
BOTTLENECK = {"twin": "bottleneck", "where": {"inplanes": 64, "stride": 2}}
RESNET18 = {"twin": "resnet", "where": {"depth": 18}}
RESNET50 = {"twin": "resnet", "where": {"depth": 50}}


def evaluated(family: dict) -> dict:
    return {**family, "where": {**family["where"], "phase": "eval"}}


def compiled(family: dict) -> dict:
    return {**family, "where": {**family["where"], "execution": "graph"}}


STRUCTURE = (
    Defect(
        "shortcut_forgotten",
        "the block returns its branch alone",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "ForgottenShortcut",
    ),
    Defect(
        "shortcut_added_after_relu",
        "the ReLU is applied to the branch, and the shortcut added to that",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "ShortcutAfterReLU",
    ),
    Defect(
        "last_relu_missing",
        "the sum is returned as it is, as in a pre-activation network",
        **compiled(PROJECTED),
        culprit=WHOLE,
        candidate=HERE + "WithoutLastReLU",
    ),
    Defect(
        "relu_on_the_shortcut",
        "the projection got a ReLU, as the convolutions have",
        **PROJECTED,
        culprit=WHOLE,
        candidate=HERE + "ReLUOnShortcut",
    ),
    Defect(
        "projection_without_its_norm_applied",
        "only the convolution of the projection is called",
        **PROJECTED,
        culprit=WHOLE,
        cause="downsample.1",
        candidate=HERE + "ProjectionWithoutNorm",
    ),
    Defect(
        "shortcut_from_inside_the_branch",
        "the variable that is added was overwritten by the first layer",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "ShortcutFromInside",
    ),
    Defect(
        "relu_before_norm",
        "convolution, ReLU, BatchNorm",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "ReLUBeforeNorm",
    ),
    Defect(
        "pre_activation",
        "the second version of the residual block with the names of the first",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "PreActivation",
    ),
    Defect(
        "first_convolution_called_twice",
        "a line was copied and its second convolution not renamed",
        **IDENTITY,
        culprit=WHOLE,
        cause="conv2.weight",
        candidate=HERE + "FirstConvolutionTwice",
    ),
    Defect(
        "second_relu_missing",
        "the 3x3 convolution is not followed by a ReLU",
        twin="bottleneck",
        where={"inplanes": 128, "stride": 1},
        culprit=WHOLE,
        candidate=HERE + "WithoutSecondReLU",
    ),
    Defect(
        "relu6_for_relu",
        "MobileNet's activation",
        **RESNET18,
        culprit=("layer4.1.relu",),
        cause="ReLU6",
        edit=replaced(lambda _: nn.ReLU6(), "layer4.1.relu"),
    ),
    Defect(
        "leaky_relu",
        "Darknet's activation: a slope of 0.1 below zero",
        **BOTTLENECK,
        culprit=("relu",),
        cause="LeakyReLU",
        edit=replaced(lambda _: nn.LeakyReLU(0.1), "relu"),
    ),
    Defect(
        "stride_on_the_first_convolution",
        "the original bottleneck strides on its 1x1, torchvision's on its 3x3",
        **BOTTLENECK,
        culprit=("conv1", "conv2"),
        cause="stride",
        edit=together(convolutions_with("conv1", stride=2), convolutions_with("conv2", stride=1)),
    ),
    Defect(
        "original_resnet50",
        "all three strided stages stride on the 1x1: the network of 2015, not torchvision's",
        **compiled(RESNET50),
        culprit=tuple(f"layer{i}.0.conv{j}" for i in (2, 3, 4) for j in (1, 2)),
        cause="stride",
        edit=together(
            convolutions_with("layer2.0.conv1", "layer3.0.conv1", "layer4.0.conv1", stride=2),
            convolutions_with("layer2.0.conv2", "layer3.0.conv2", "layer4.0.conv2", stride=1),
        ),
    ),
    Defect(
        "projection_without_stride",
        "the shortcut keeps the size that the branch halves",
        **BOTTLENECK,
        culprit=None,
        edit=convolutions_with("downsample.0", stride=1),
        raises="SideError",
    ),
    Defect(
        "projection_without_norm",
        "the shortcut is a bare convolution",
        **BOTTLENECK,
        culprit=None,
        edit=replaced(lambda layer: nn.SequentialCell(layer[0]), "downsample"),
        raises="WeightError",
    ),
    Defect(
        "projection_padded_into_the_branch",
        "the 3x3 convolution of the block pads by rule, which differs at an even width",
        **PROJECTED,
        culprit=("conv1",),
        cause="pad",
        edit=convolutions_with("conv1", pad_mode="same", padding=0),
    ),
    Defect(
        "last_stage_without_stride",
        "layer4 keeps the size, as in a detector's backbone; the average hides it",
        **RESNET18,
        culprit=("layer4.0.conv1", "layer4.0.downsample.0"),
        cause="stride",
        edit=convolutions_with("layer4.0.conv1", "layer4.0.downsample.0", stride=1),
    ),
    Defect(
        "blocks_shared",
        "[block] * n: the blocks of a stage are one and the same",
        **RESNET50,
        culprit=None,
        edit=replaced(
            lambda stage: nn.SequentialCell(stage[0], *[stage[1]] * (len(stage) - 1)), "layer3"
        ),
        raises="WeightError",
    ),
    Defect(
        "block_skipped",
        "the loop over layer3 leaves out its third block, whose weights load all the same",
        **compiled(RESNET50),
        culprit=("layer3",),
        cause="nothing depends on 2.",
        edit=recast(wrong.WithoutThirdBlock, "layer3"),
    ),
    Defect(
        "depth_of_another_network",
        "built with the blocks of ResNet34",
        **RESNET50,
        culprit=None,
        arguments={"depth": 34},
        raises="WeightError",
    ),
    Defect(
        "expansion_of_two",
        "the last convolution doubles the planes instead of quadrupling them",
        twin="bottleneck",
        where={"inplanes": 128, "stride": 1},
        culprit=None,
        candidate=HERE + "HalfExpansion",
        raises="WeightError",
    ),
    Defect(
        "max_pool_before_norm",
        "the stem pools right after its convolution",
        **RESNET18,
        culprit=WHOLE,
        edit=recast(wrong.PoolBeforeNormInStem, ""),
    ),
    Defect(
        "stem_without_relu",
        "BatchNorm straight into the max pooling",
        **RESNET18,
        culprit=WHOLE,
        edit=recast(wrong.StemWithoutReLU, ""),
    ),
    Defect(
        "stem_pool_padded_by_rule",
        "pad_mode 'same' for padding 1, as the guides have it",
        **compiled(RESNET18),
        culprit=("maxpool",),
        cause="pad",
        edit=replaced(lambda _: nn.MaxPool2d(3, 2, pad_mode="same"), "maxpool"),
    ),
    Defect(
        "stem_without_stride",
        "the stem of CIFAR-10 recipes keeps the size",
        **RESNET18,
        culprit=("conv1",),
        cause="stride",
        edit=convolutions_with("conv1", stride=1),
    ),
    Defect(
        "stem_of_3x3",
        "the stem of CIFAR-10 recipes has another kernel",
        **RESNET18,
        culprit=None,
        edit=replaced(lambda _: conv.conv3x3(3, 64, stride=2), "conv1"),
        raises="WeightError",
    ),
    Defect(
        "maximum_for_mean_over_the_map",
        "ReduceMax instead of ReduceMean before the classifier",
        **RESNET18,
        culprit=WHOLE,
        edit=replaced(lambda _: ops.ReduceMax(keep_dims=True), "avgpool"),
    ),
    Defect(
        "mean_over_channels_last_axes",
        "TensorFlow's axes 1 and 2 of a map in NCHW",
        **RESNET18,
        culprit=None,
        edit=recast(wrong.ChannelsLastMean, ""),
        raises="SideError",
    ),
    Defect(
        "probabilities_for_logits",
        "the network ends in a softmax, and so does the loss",
        **compiled(RESNET18),
        culprit=WHOLE,
        edit=recast(wrong.Probabilities, ""),
    ),
    Defect(
        "colours_reversed",
        "images come as BGR from OpenCV",
        **RESNET18,
        culprit=WHOLE,
        edit=recast(wrong.ReversedColours, ""),
    ),
    Defect(
        "epsilon_of_the_other_guide",
        "1e-5 in the block of the r0.5 guide, which has 1e-4",
        twin="bottleneck_wide",
        where={"stride": 2},
        culprit=("bn1", "bn2", "bn3", "downsample.1"),
        cause="eps",
        edit=norms_with("bn1", "bn2", "bn3", "downsample.1", eps=1e-5),
    ),
    Defect(
        "mean_pool_in_e2",
        "an average pooling where the block of the r1.7 guide takes the maximum",
        twin="bottleneck_pooled",
        where={"stride": 2},
        culprit=WHOLE,
        edit=replaced(lambda _: nn.AvgPool2d(2, 2, pad_mode="same"), "e2.3"),
    ),
    Defect(
        "pool_before_norm_in_e2",
        "the block of the r1.7 guide pools right after its convolution",
        twin="bottleneck_pooled",
        where={"stride": 2},
        culprit=WHOLE,
        candidate=HERE + "PoolBeforeNorm",
    ),
    Defect(
        "stride_for_pool_in_e2",
        "the 3x3 convolution strides instead of being pooled",
        twin="bottleneck_pooled",
        where={"stride": 2, "execution": "graph"},
        culprit=("conv2",),
        cause="stride",
        edit=together(
            convolutions_with("e2.0", stride=2), replaced(lambda _: nn.Identity(), "e2.3")
        ),
    ),
    Defect(
        "dropout_added",
        "the classifier got a dropout that the reference does not have",
        **RESNET18,
        culprit=None,
        edit=replaced(lambda layer: nn.SequentialCell(layer, nn.Dropout(p=0.2)), "flatten"),
        raises="DeclarationError",
    ),
    Defect(
        "dropout_by_function_in_evaluation",
        "ops.dropout drops in every mode",
        **evaluated(IDENTITY),
        culprit=WHOLE,
        candidate=HERE + "DropoutByFunction",
    ),
)

DEFECTS = STRUCTURE + training.DEFECTS
