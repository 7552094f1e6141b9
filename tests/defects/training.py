"""Mistakes that show in training or in a precision: mode, gradient flow, mixed precision."""

import mindspore as ms

from tests.defects import candidates as wrong
from tests.defects.defect import Defect
from tests.defects.edits import norms_with, recast, replaced
from tests.defects.places import (
    BOTTLENECK,
    IDENTITY,
    PROJECTED,
    RESNET18,
    RESNET50,
    WHOLE,
    compiled,
    evaluated,
)

HERE = "tests.defects.candidates:"


MODE = (
    Defect(
        "norm_frozen_in_training",
        "use_batch_statistics=False, as for fine-tuning",
        **BOTTLENECK,
        culprit=("bn2",),
        cause="batch_statistics",
        edit=norms_with("bn2", use_batch_statistics=False),
    ),
    Defect(
        "batch_statistics_in_evaluation",
        "use_batch_statistics=True",
        **evaluated(BOTTLENECK),
        culprit=("bn1",),
        cause="batch_statistics",
        edit=norms_with("bn1", use_batch_statistics=True),
    ),
    Defect(
        "statistics_updated_twice",
        "a BatchNorm is called once more to look at its output",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "StatisticsTwice",
    ),
    Defect(
        "momentum_unconverted_in_one_block",
        "PyTorch's 0.1 handed on, so that old and new statistics swap roles",
        **compiled(RESNET18),
        culprit=("layer3.1.bn1", "layer3.1.bn2"),
        cause="momentum",
        edit=norms_with("layer3.1.bn1", "layer3.1.bn2", momentum=0.1),
    ),
    Defect(
        "statistics_updated_in_evaluation",
        "the update does not ask for the mode",
        **evaluated(BOTTLENECK),
        culprit=("bn3",),
        edit=recast(wrong.KeepsInEvaluation, "bn3"),
    ),
    Defect(
        "running_variance_not_kept",
        "only the mean is updated",
        **BOTTLENECK,
        culprit=("bn1",),
        edit=recast(wrong.VarianceNotKept, "bn1"),
    ),
    Defect(
        "running_variance_biased",
        "divided by n instead of by n - 1",
        **compiled(PROJECTED),
        culprit=("downsample.1",),
        edit=recast(wrong.BiasedRunningVariance, "downsample.1"),
    ),
    Defect(
        "normalised_by_running_statistics",
        "the batch is let into the running statistics first, and those are used",
        **PROJECTED,
        culprit=("bn2",),
        edit=recast(wrong.NormalisedByRunningStatistics, "bn2"),
    ),
    Defect(
        "statistics_detached",
        "a hand-written BatchNorm passes no gradient through mean and variance",
        **PROJECTED,
        culprit=("bn1",),
        edit=recast(wrong.DetachedStatistics, "bn1"),
    ),
    Defect(
        "gamma_ignored",
        "a BatchNorm without scale, TensorFlow-slim's default",
        **BOTTLENECK,
        culprit=("bn2",),
        cause="weight",
        edit=recast(wrong.GammaIgnored, "bn2"),
    ),
)

GRADIENTS = (
    Defect(
        "shortcut_detached",
        "stop_gradient around the shortcut of one block",
        **RESNET50,
        culprit=("layer2.1",),
        edit=recast(wrong.DetachedShortcut, "layer2.1"),
    ),
    Defect(
        "branch_detached",
        "stop_gradient around the branch",
        **compiled(IDENTITY),
        culprit=WHOLE,
        cause="no gradient reaches",
        candidate=HERE + "DetachedBranch",
    ),
    Defect(
        "stem_frozen",
        "stop_gradient behind layer1 is left over from fine-tuning",
        **compiled(RESNET18),
        culprit=WHOLE,
        cause="no gradient reaches",
        edit=recast(wrong.FrozenStem, ""),
    ),
    Defect(
        "input_detached",
        "no gradient reaches the input, which an adversary or a layer before it needs",
        **IDENTITY,
        culprit=WHOLE,
        cause="no gradient reaches input",
        candidate=HERE + "DetachedInput",
    ),
    Defect(
        "kernel_detached",
        "the weight of one layer gets no gradient and stays trainable by name",
        **RESNET18,
        culprit=("layer2.0.conv2",),
        cause="no gradient reaches weight",
        edit=recast(wrong.DetachedKernel, "layer2.0.conv2"),
    ),
    Defect(
        "bias_detached",
        "the bias of the classifier gets no gradient",
        **compiled(RESNET18),
        culprit=("fc",),
        cause="no gradient reaches bias",
        edit=recast(wrong.DetachedBias, "fc"),
    ),
    Defect(
        "weight_frozen",
        "requires_grad=False on one weight",
        **BOTTLENECK,
        culprit=None,
        edit=lambda cell: setattr(cell.conv2.weight, "requires_grad", False),
        raises="WeightError",
    ),
    Defect(
        "gradient_scaled",
        "a tenth of the learning rate for one layer, by way of its gradient",
        **BOTTLENECK,
        culprit=("conv3",),
        edit=recast(wrong.ScaledGradient, "conv3"),
    ),
    Defect(
        "gradient_clipped",
        "the gradient of the branch is clipped inside of the network",
        **IDENTITY,
        culprit=WHOLE,
        candidate=HERE + "ClippedGradient",
    ),
)

PRECISION = (
    Defect(
        "one_convolution_in_half",
        "cast to float16 and back",
        **RESNET18,
        culprit=("layer4.1.conv1",),
        edit=recast(wrong.HalfConvolution, "layer4.1.conv1"),
    ),
    Defect(
        "one_layer_set_to_float16",
        "to_float(float16) on the last convolution; its BatchNorm computes on in half precision",
        **BOTTLENECK,
        culprit=("conv3",),
        cause="float16",
        edit=replaced(lambda layer: layer.to_float(ms.float16), "conv3"),
    ),
    Defect(
        "one_layer_set_to_float16_before_another",
        "to_float(float16) on the first convolution; the second has no half-precision weight",
        **BOTTLENECK,
        culprit=None,
        edit=replaced(lambda layer: layer.to_float(ms.float16), "conv1"),
        raises="SideError",
    ),
    Defect(
        "norm_in_half",
        "the input of one BatchNorm is cast to float16",
        **compiled(PROJECTED),
        culprit=("bn2",),
        edit=recast(wrong.HalfNorm, "bn2"),
    ),
    Defect(
        "classifier_in_half",
        "the product of the last layer in float16",
        **RESNET18,
        culprit=("fc",),
        edit=recast(wrong.HalfDense, "fc"),
    ),
    Defect(
        "input_rounded",
        "images arrive in bfloat16",
        **evaluated(RESNET18),
        culprit=WHOLE,
        edit=recast(wrong.RoundedInput, ""),
    ),
    Defect(
        "logits_in_half",
        "the output is float16, as amp level O3 leaves it",
        **RESNET18,
        culprit=WHOLE,
        cause="float16",
        edit=recast(wrong.HalfLogits, ""),
    ),
)

DEFECTS = MODE + GRADIENTS + PRECISION
