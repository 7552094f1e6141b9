"""Mistakes in normalisation, activations and dense layers."""

import mindspore as ms
from mindspore import nn

from tests.defects import layer_candidates as wrong
from tests.defects.makers import built_with, edited, norm, setting, swapped, variant
from tests.defects.victim import victim

NORM = victim("batch_norm2d")
PLAIN_NORM = victim("plain_batch_norm2d")
LAYER_NORM = victim("layer_norm")
GROUP_NORM = victim("group_norm", num_groups=3)
INSTANCE_NORM = victim("group_norm", num_groups=12)
BLOCK = victim("biased_block")

ERF_GELU = victim("gelu", approximate="none")
TANH_GELU = victim("gelu", approximate="tanh")
LEAKY = victim("leaky_relu", negative_slope=0.01)
STEEP = victim("leaky_relu", negative_slope=0.1)
HARD_SWISH = victim("hard_swish")
SOFTMAX = victim("softmax")
PRELU = victim("prelu", num_parameters=6)
SHARED_PRELU = victim("prelu", num_parameters=1)

DENSE = victim("dense", bias=True)

# fmt: off
NORMALISATION = (
    setting("epsilon_of_keras", NORM, "1e-3 for 1e-5", eps=1e-3),
    setting("epsilon_of_keras_in_half", NORM.in_half, "1e-3 for 1e-5, in float16", eps=1e-3),
    setting("epsilon_of_the_guide_in_evaluation", NORM.evaluated,
        "1e-4 for 1e-5, with the statistics of the checkpoint", eps=1e-4),
    setting("epsilon_off_by_a_tenth", NORM.compiled.evaluated, "1.1e-5 for 1e-5", eps=1.1e-5),
    norm("epsilon_lost_in_folding", BLOCK.evaluated.at("1"),
        "the BatchNorm was folded into the convolution without its epsilon",
        eps=1e-12, cause="eps"),
    variant("epsilon_beside_the_root", NORM.evaluated, wrong.EpsilonOutside,
        "divided by sqrt(variance) + eps"),
    setting("momentum_of_pytorch", NORM.compiled,
        "0.1 handed on as it is: the share of the old statistics here, of the new ones there",
        momentum=0.9),
    setting("momentum_of_keras", NORM, "0.99", momentum=0.01),
    setting("momentum_at_its_default", PLAIN_NORM,
        "0.9 where the reference has 0.3 of the new statistics", momentum=0.1),
    swapped("scale_and_shift_that_nobody_has", PLAIN_NORM,
        lambda _: nn.BatchNorm2d(12, eps=1e-3, momentum=0.7, affine=False),
        "affine=False leaves gamma and beta in MindSpore's cell, as frozen parameters",
        raises="WeightError"),
    variant("statistics_of_each_image", NORM, wrong.StatisticsOfEachImage,
        "instance normalisation where the reference normalises over the batch"),
    variant("statistics_of_each_device", NORM, wrong.StatisticsOfEachDevice,
        "without SyncBatchNorm each part of the batch is normalised by itself"),
    swapped("layer_norm_epsilon_at_its_default", LAYER_NORM, lambda _: nn.LayerNorm((16,)),
        "MindSpore's 1e-7 for PyTorch's 1e-5", cause="eps"),
    setting("layer_norm_epsilon_of_vit", LAYER_NORM.compiled, "1e-6 for 1e-5", eps=1e-6),
    variant("layer_norm_by_deviation", LAYER_NORM, wrong.DeviationPlusEpsilon,
        "the annotated Transformer's: divided by n - 1, eps beside the root"),
    variant("layer_norm_not_centred", LAYER_NORM, wrong.RootMeanSquare, "RMSNorm with a shift"),
    variant("layer_norm_over_two_axes", LAYER_NORM.compiled, wrong.OverTwoAxes,
        "tokens are normalised together"),
    variant("layer_norm_gamma_plus_one", LAYER_NORM, wrong.GammaPlusOne,
        "gamma is taken as the distance from one"),
    variant("layer_norm_divisor_detached", LAYER_NORM, wrong.DetachedDivisor,
        "stop_gradient around the deviation: outputs are right, gradients are not"),
    built_with("group_norm_of_more_groups", GROUP_NORM,
        "six groups for three", num_groups=6, cause="groups"),
    built_with("group_norm_for_instance_norm", INSTANCE_NORM,
        "one group for one per channel", num_groups=1, cause="groups"),
    setting("group_norm_epsilon_of_keras", GROUP_NORM, "1e-3 for 1e-5", eps=1e-3),
    setting("group_norm_epsilon_of_diffusion_models", INSTANCE_NORM.compiled,
        "1e-6 for 1e-5", eps=1e-6),
    variant("group_norm_groups_interleaved", GROUP_NORM, wrong.InterleavedGroups,
        "the channels are reshaped to (channels / groups, groups)"),
    built_with("group_norm_without_affine", GROUP_NORM,
        "affine=False: scale and shift become constants that cannot be trained",
        affine=False, raises="WeightError"),
)

ACTIVATIONS = (
    swapped("gelu_at_its_default", ERF_GELU, lambda _: nn.GELU(),
        "MindSpore's default is the approximation by tanh"),
    built_with("gelu_by_error_function", TANH_GELU.compiled,
        "the exact one where the checkpoint was trained with the approximation",
        approximate="none"),
    swapped("gelu_by_sigmoid", ERF_GELU, lambda _: wrong.QuickGELU(), "CLIP's QuickGELU"),
    swapped("leaky_relu_at_its_default", LEAKY, lambda _: nn.LeakyReLU(),
        "MindSpore's slope of 0.2 for PyTorch's 0.01", cause="slope"),
    swapped("leaky_relu_without_its_leak", LEAKY, lambda _: nn.ReLU(), "a plain ReLU"),
    swapped("leak_detached", STEEP, lambda _: wrong.DeadBelowZero(), "no gradient below zero"),
    swapped("relu6_without_its_cap", victim("relu6"), lambda _: nn.ReLU(), "a plain ReLU"),
    swapped("elu_for_relu", victim("relu"), lambda _: nn.ELU(),
        "an ELU where the reference has a ReLU"),
    swapped("swish_for_hard_swish", HARD_SWISH, lambda _: nn.SiLU(), "x sigmoid(x)"),
    swapped("hard_sigmoid_for_hard_swish", HARD_SWISH.compiled, lambda _: nn.HSigmoid(),
        "the factor x is missing"),
    swapped("hard_swish_of_keras", HARD_SWISH, lambda _: wrong.KerasHardSwish(),
        "with a hard sigmoid of slope 0.2 for 1/6"),
    swapped("softmax_over_the_last_axis", SOFTMAX, lambda _: nn.Softmax(),
        "MindSpore's default axis, in a map whose classes are axis 1", cause="dim"),
    swapped("logarithm_of_softmax", SOFTMAX, lambda _: nn.LogSoftmax(1), "LogSoftmax for Softmax"),
    swapped("sigmoid_for_softmax", SOFTMAX.compiled, lambda _: nn.Sigmoid(),
        "each class by itself"),
    swapped("softmax_not_normalised", SOFTMAX, lambda _: wrong.NotNormalised(),
        "the division is missing"),
    swapped("one_slope_for_all_channels", PRELU, lambda _: nn.PReLU(),
        "MindSpore's default PReLU has one parameter", raises="WeightError"),
    variant("slope_left_at_its_start", PRELU, wrong.ConstantSlope,
        "the trained slope is loaded, and 0.25 used"),
    variant("slope_of_the_wrong_sign", SHARED_PRELU.compiled, wrong.NegatedPart,
        "max(x, 0) + slope max(-x, 0), as some write it"),
)

DENSE_LAYERS = (
    variant("dense_bias_not_added", DENSE, wrong.UnusedBias,
        "the bias is loaded, and a bare product computed"),
    variant("dense_bias_added_twice", DENSE.compiled, wrong.BiasTwice,
        "by the layer and by the network"),
    swapped("dense_with_fused_activation", DENSE, lambda _: nn.Dense(8, 8, activation="relu"),
        "activation='relu' in the layer, as Keras has it"),
    variant("dense_bias_gradient_averaged", DENSE, wrong.AveragedBiasGradient,
        "a backward pass of its own takes the mean over the batch for the sum"),
    edited("dense_in_half", DENSE, lambda cell: cell.to_float(ms.float16) and None,
        "to_float(float16) left over from training on Ascend"),
)

DEFECTS = NORMALISATION + ACTIVATIONS + DENSE_LAYERS
