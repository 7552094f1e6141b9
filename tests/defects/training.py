"""Mistakes that show in training or in a precision: mode, gradient flow, mixed precision."""

import mindspore as ms

from tests.defects import candidates as wrong
from tests.defects import layer_candidates as layers
from tests.defects.makers import candidate, edited, norm, swapped, variant
from tests.defects.victim import BOTTLENECK, IDENTITY, PROJECTED, RESNET18, RESNET50

HERE = "tests.defects.candidates:"

# fmt: off
MODE = (
    norm("norm_frozen_in_training", BOTTLENECK.at("bn2"),
        "use_batch_statistics=False, as for fine-tuning",
        use_batch_statistics=False, cause="batch_statistics"),
    norm("batch_statistics_in_evaluation", BOTTLENECK.evaluated.at("bn1"),
        "use_batch_statistics=True", use_batch_statistics=True, cause="batch_statistics"),
    candidate("statistics_updated_twice", IDENTITY, HERE + "StatisticsTwice",
        "a BatchNorm is called once more to look at its output"),
    norm("momentum_unconverted_in_one_block", RESNET18.compiled.at("layer3.1.bn1", "layer3.1.bn2"),
        "PyTorch's 0.1 handed on, so that old and new statistics swap roles",
        momentum=0.1, cause="momentum"),
    variant("norm_in_evaluation_mode", BOTTLENECK.at("bn2"), layers.InEvaluation,
        "set_train does not reach one layer", cause="as in evaluation mode"),
    variant("statistics_updated_in_evaluation", BOTTLENECK.evaluated.at("bn3"),
        wrong.KeepsInEvaluation, "the update does not ask for the mode"),
    variant("running_variance_not_kept", BOTTLENECK.at("bn1"), wrong.VarianceNotKept,
        "only the mean is updated"),
    variant("running_variance_biased", PROJECTED.compiled.at("downsample.1"),
        wrong.BiasedRunningVariance, "divided by n instead of by n - 1"),
    variant("normalised_by_running_statistics", PROJECTED.at("bn2"),
        wrong.NormalisedByRunningStatistics,
        "the batch is let into the running statistics first, and those are used"),
    variant("statistics_detached", PROJECTED.at("bn1"), wrong.DetachedStatistics,
        "a hand-written BatchNorm passes no gradient through mean and variance"),
    variant("gamma_ignored", BOTTLENECK.at("bn2"), wrong.GammaIgnored,
        "a BatchNorm without scale, TensorFlow-slim's default", cause="weight"),
)

GRADIENTS = (
    variant("shortcut_detached", RESNET50.at("layer2.1"), wrong.DetachedShortcut,
        "stop_gradient around the shortcut of one block"),
    candidate("branch_detached", IDENTITY.compiled, HERE + "DetachedBranch",
        "stop_gradient around the branch", cause="no gradient reaches"),
    variant("stem_frozen", RESNET18.compiled, wrong.FrozenStem,
        "stop_gradient behind layer1 is left over from fine-tuning", cause="no gradient reaches"),
    candidate("input_detached", IDENTITY, HERE + "DetachedInput",
        "no gradient reaches the input, which an adversary or a layer before it needs",
        cause="no gradient reaches input"),
    variant("kernel_detached", RESNET18.at("layer2.0.conv2"), wrong.DetachedKernel,
        "the weight of one layer gets no gradient and stays trainable by name",
        cause="no gradient reaches weight"),
    variant("bias_detached", RESNET18.compiled.at("fc"), wrong.DetachedBias,
        "the bias of the classifier gets no gradient", cause="no gradient reaches bias"),
    edited("weight_frozen", BOTTLENECK,
        lambda cell: setattr(cell.conv2.weight, "requires_grad", False),
        "requires_grad=False on one weight", raises="WeightError"),
    variant("gradients_of_gamma_and_beta_exchanged", BOTTLENECK.at("bn2"),
        layers.GradientsExchanged, "a backward pass of its own in another order",
        cause="are exchanged"),
    variant("gradient_scaled", BOTTLENECK.at("conv3"), wrong.ScaledGradient,
        "a tenth of the learning rate for one layer, by way of its gradient"),
    candidate("gradient_clipped", IDENTITY, HERE + "ClippedGradient",
        "the gradient of the branch is clipped inside of the network"),
)

PRECISION = (
    variant("one_convolution_in_half", RESNET18.at("layer4.1.conv1"), wrong.HalfConvolution,
        "cast to float16 and back"),
    swapped("one_layer_set_to_float16", BOTTLENECK.at("conv3"),
        lambda layer: layer.to_float(ms.float16),
        "to_float(float16) on the last convolution; its BatchNorm computes on in half precision",
        cause="float16"),
    swapped("one_layer_set_to_float16_before_another", BOTTLENECK.at("conv1"),
        lambda layer: layer.to_float(ms.float16),
        "to_float(float16) on the first convolution; the second has no half-precision weight",
        raises="SideError"),
    variant("norm_in_half", PROJECTED.compiled.at("bn2"), wrong.HalfNorm,
        "the input of one BatchNorm is cast to float16"),
    variant("classifier_in_half", RESNET18.at("fc"), wrong.HalfDense,
        "the product of the last layer in float16"),
    variant("input_rounded", RESNET18.evaluated, wrong.RoundedInput, "images arrive in bfloat16"),
    variant("logits_in_half", RESNET18, wrong.HalfLogits,
        "the output is float16, as amp level O3 leaves it", cause="float16"),
)

DEFECTS = MODE + GRADIENTS + PRECISION
