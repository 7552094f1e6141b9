"""Mistakes in normalisation, activations and dense layers."""

import mindspore as ms
from mindspore import nn

from tests.defects import layer_candidates as wrong
from tests.defects.defect import Defect
from tests.defects.edits import norms_with, recast
from tests.defects.places import WHOLE, compiled, evaluated, in_half

NORM = {"twin": "batch_norm2d", "where": {}}
PLAIN_NORM = {"twin": "plain_batch_norm2d", "where": {}}
LAYER_NORM = {"twin": "layer_norm", "where": {}}
GROUP_NORM = {"twin": "group_norm", "where": {"num_groups": 3}}
INSTANCE_NORM = {"twin": "group_norm", "where": {"num_groups": 12}}
BLOCK = {"twin": "biased_block", "where": {}}

ERF_GELU = {"twin": "gelu", "where": {"approximate": "none"}}
TANH_GELU = {"twin": "gelu", "where": {"approximate": "tanh"}}
LEAKY = {"twin": "leaky_relu", "where": {"negative_slope": 0.01}}
STEEP = {"twin": "leaky_relu", "where": {"negative_slope": 0.1}}
SOFTMAX = {"twin": "softmax", "where": {}}
PRELU = {"twin": "prelu", "where": {"num_parameters": 6}}
SHARED_PRELU = {"twin": "prelu", "where": {"num_parameters": 1}}

DENSE = {"twin": "dense", "where": {"bias": True}}

NORMALISATION = (
    Defect(
        "epsilon_of_keras",
        "1e-3 for 1e-5",
        **NORM,
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-3},
    ),
    Defect(
        "epsilon_of_keras_in_half",
        "1e-3 for 1e-5, in float16",
        **in_half(NORM),
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-3},
    ),
    Defect(
        "epsilon_of_the_guide_in_evaluation",
        "1e-4 for 1e-5, with the statistics of the checkpoint",
        **evaluated(NORM),
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-4},
    ),
    Defect(
        "epsilon_off_by_a_tenth",
        "1.1e-5 for 1e-5",
        **evaluated(compiled(NORM)),
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1.1e-5},
    ),
    Defect(
        "epsilon_lost_in_folding",
        "the BatchNorm was folded into the convolution without its epsilon",
        **evaluated(BLOCK),
        culprit=("1",),
        cause="eps",
        edit=norms_with("1", eps=1e-12),
    ),
    Defect(
        "epsilon_beside_the_root",
        "divided by sqrt(variance) + eps",
        **evaluated(NORM),
        culprit=WHOLE,
        edit=recast(wrong.EpsilonOutside, ""),
    ),
    Defect(
        "momentum_of_pytorch",
        "0.1 handed on as it is: the share of the old statistics here, of the new ones there",
        **compiled(NORM),
        culprit=WHOLE,
        cause="momentum",
        arguments={"momentum": 0.9},
    ),
    Defect(
        "momentum_of_keras",
        "0.99",
        **NORM,
        culprit=WHOLE,
        cause="momentum",
        arguments={"momentum": 0.01},
    ),
    Defect(
        "momentum_at_its_default",
        "0.9 where the reference has 0.3 of the new statistics",
        **PLAIN_NORM,
        culprit=WHOLE,
        cause="momentum",
        arguments={"momentum": 0.1},
    ),
    Defect(
        "scale_and_shift_that_nobody_has",
        "affine=False leaves gamma and beta in MindSpore's cell, as frozen parameters",
        **PLAIN_NORM,
        culprit=None,
        edit=lambda _: nn.BatchNorm2d(12, eps=1e-3, momentum=0.7, affine=False),
        raises="WeightError",
    ),
    Defect(
        "statistics_of_each_image",
        "instance normalisation where the reference normalises over the batch",
        **NORM,
        culprit=WHOLE,
        edit=recast(wrong.StatisticsOfEachImage, ""),
    ),
    Defect(
        "statistics_of_each_device",
        "without SyncBatchNorm each part of the batch is normalised by itself",
        **NORM,
        culprit=WHOLE,
        edit=recast(wrong.StatisticsOfEachDevice, ""),
    ),
    Defect(
        "layer_norm_epsilon_at_its_default",
        "MindSpore's 1e-7 for PyTorch's 1e-5",
        **LAYER_NORM,
        culprit=WHOLE,
        cause="eps",
        edit=lambda _: nn.LayerNorm((16,)),
    ),
    Defect(
        "layer_norm_epsilon_of_vit",
        "1e-6 for 1e-5",
        **compiled(LAYER_NORM),
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-6},
    ),
    Defect(
        "layer_norm_by_deviation",
        "the annotated Transformer's: divided by n - 1, eps beside the root",
        **LAYER_NORM,
        culprit=WHOLE,
        edit=recast(wrong.DeviationPlusEpsilon, ""),
    ),
    Defect(
        "layer_norm_not_centred",
        "RMSNorm with a shift",
        **LAYER_NORM,
        culprit=WHOLE,
        edit=recast(wrong.RootMeanSquare, ""),
    ),
    Defect(
        "layer_norm_over_two_axes",
        "tokens are normalised together",
        **compiled(LAYER_NORM),
        culprit=WHOLE,
        edit=recast(wrong.OverTwoAxes, ""),
    ),
    Defect(
        "layer_norm_gamma_plus_one",
        "gamma is taken as the distance from one",
        **LAYER_NORM,
        culprit=WHOLE,
        edit=recast(wrong.GammaPlusOne, ""),
    ),
    Defect(
        "layer_norm_divisor_detached",
        "stop_gradient around the deviation: outputs are right, gradients are not",
        **LAYER_NORM,
        culprit=WHOLE,
        edit=recast(wrong.DetachedDivisor, ""),
    ),
    Defect(
        "group_norm_of_more_groups",
        "six groups for three",
        **GROUP_NORM,
        culprit=WHOLE,
        cause="groups",
        arguments={"num_groups": 6},
    ),
    Defect(
        "group_norm_for_instance_norm",
        "one group for one per channel",
        **INSTANCE_NORM,
        culprit=WHOLE,
        cause="groups",
        arguments={"num_groups": 1},
    ),
    Defect(
        "group_norm_epsilon_of_keras",
        "1e-3 for 1e-5",
        **GROUP_NORM,
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-3},
    ),
    Defect(
        "group_norm_epsilon_of_diffusion_models",
        "1e-6 for 1e-5",
        **compiled(INSTANCE_NORM),
        culprit=WHOLE,
        cause="eps",
        arguments={"eps": 1e-6},
    ),
    Defect(
        "group_norm_groups_interleaved",
        "the channels are reshaped to (channels / groups, groups)",
        **GROUP_NORM,
        culprit=WHOLE,
        edit=recast(wrong.InterleavedGroups, ""),
    ),
    Defect(
        "group_norm_without_affine",
        "affine=False: scale and shift become constants that cannot be trained",
        **GROUP_NORM,
        culprit=None,
        arguments={"affine": False},
        raises="WeightError",
    ),
)

ACTIVATIONS = (
    Defect(
        "gelu_at_its_default",
        "MindSpore's default is the approximation by tanh",
        **ERF_GELU,
        culprit=WHOLE,
        edit=lambda _: nn.GELU(),
    ),
    Defect(
        "gelu_by_error_function",
        "the exact one where the checkpoint was trained with the approximation",
        **compiled(TANH_GELU),
        culprit=WHOLE,
        arguments={"approximate": "none"},
    ),
    Defect(
        "gelu_by_sigmoid",
        "CLIP's QuickGELU",
        **ERF_GELU,
        culprit=WHOLE,
        edit=lambda _: wrong.QuickGELU(),
    ),
    Defect(
        "leaky_relu_at_its_default",
        "MindSpore's slope of 0.2 for PyTorch's 0.01",
        **LEAKY,
        culprit=WHOLE,
        cause="slope",
        edit=lambda _: nn.LeakyReLU(),
    ),
    Defect(
        "leaky_relu_without_its_leak",
        "a plain ReLU",
        **LEAKY,
        culprit=WHOLE,
        edit=lambda _: nn.ReLU(),
    ),
    Defect(
        "leak_detached",
        "no gradient below zero",
        **STEEP,
        culprit=WHOLE,
        edit=lambda _: wrong.DeadBelowZero(),
    ),
    Defect(
        "relu6_without_its_cap",
        "a plain ReLU",
        twin="relu6",
        where={},
        culprit=WHOLE,
        edit=lambda _: nn.ReLU(),
    ),
    Defect(
        "elu_for_relu",
        "an ELU where the reference has a ReLU",
        twin="relu",
        where={},
        culprit=WHOLE,
        edit=lambda _: nn.ELU(),
    ),
    Defect(
        "swish_for_hard_swish",
        "x sigmoid(x)",
        twin="hard_swish",
        where={},
        culprit=WHOLE,
        edit=lambda _: nn.SiLU(),
    ),
    Defect(
        "hard_sigmoid_for_hard_swish",
        "the factor x is missing",
        twin="hard_swish",
        where={"execution": "graph"},
        culprit=WHOLE,
        edit=lambda _: nn.HSigmoid(),
    ),
    Defect(
        "hard_swish_of_keras",
        "with a hard sigmoid of slope 0.2 for 1/6",
        twin="hard_swish",
        where={},
        culprit=WHOLE,
        edit=lambda _: wrong.KerasHardSwish(),
    ),
    Defect(
        "softmax_over_the_last_axis",
        "MindSpore's default axis, in a map whose classes are axis 1",
        **SOFTMAX,
        culprit=WHOLE,
        cause="dim",
        edit=lambda _: nn.Softmax(),
    ),
    Defect(
        "logarithm_of_softmax",
        "LogSoftmax for Softmax",
        **SOFTMAX,
        culprit=WHOLE,
        edit=lambda _: nn.LogSoftmax(1),
    ),
    Defect(
        "sigmoid_for_softmax",
        "each class by itself",
        **compiled(SOFTMAX),
        culprit=WHOLE,
        edit=lambda _: nn.Sigmoid(),
    ),
    Defect(
        "softmax_not_normalised",
        "the division is missing",
        **SOFTMAX,
        culprit=WHOLE,
        edit=lambda _: wrong.NotNormalised(),
    ),
    Defect(
        "one_slope_for_all_channels",
        "MindSpore's default PReLU has one parameter",
        **PRELU,
        culprit=None,
        edit=lambda _: nn.PReLU(),
        raises="WeightError",
    ),
    Defect(
        "slope_left_at_its_start",
        "the trained slope is loaded, and 0.25 used",
        **PRELU,
        culprit=WHOLE,
        edit=recast(wrong.ConstantSlope, ""),
    ),
    Defect(
        "slope_of_the_wrong_sign",
        "max(x, 0) + slope max(-x, 0), as some write it",
        **compiled(SHARED_PRELU),
        culprit=WHOLE,
        edit=recast(wrong.NegatedPart, ""),
    ),
)

DENSE_LAYERS = (
    Defect(
        "dense_bias_not_added",
        "the bias is loaded, and a bare product computed",
        **DENSE,
        culprit=WHOLE,
        edit=recast(wrong.UnusedBias, ""),
    ),
    Defect(
        "dense_bias_added_twice",
        "by the layer and by the network",
        **compiled(DENSE),
        culprit=WHOLE,
        edit=recast(wrong.BiasTwice, ""),
    ),
    Defect(
        "dense_with_fused_activation",
        "activation='relu' in the layer, as Keras has it",
        **DENSE,
        culprit=WHOLE,
        edit=lambda _: nn.Dense(8, 8, activation="relu"),
    ),
    Defect(
        "dense_bias_gradient_averaged",
        "a backward pass of its own takes the mean over the batch for the sum",
        **DENSE,
        culprit=WHOLE,
        edit=recast(wrong.AveragedBiasGradient, ""),
    ),
    Defect(
        "dense_in_half",
        "to_float(float16) left over from training on Ascend",
        **DENSE,
        culprit=WHOLE,
        edit=lambda cell: cell.to_float(ms.float16) and None,
    ),
)

DEFECTS = NORMALISATION + ACTIVATIONS + DENSE_LAYERS
