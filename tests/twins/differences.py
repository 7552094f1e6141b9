"""Known differences: mistakes of a migration that the suite must see in every case."""

from equivalence.declare.difference import Difference
from equivalence.declare.draws import integers, logits, normal
from equivalence.declare.twin import Twin, grid

# A difference is a property of the network; one phase and one execution show it.
ONCE = {"phases": ("train",), "executions": ("pynative",)}
NOT_FINITE = dict.fromkeys(("output.0", "gradient:input[0]"), "not finite where the truth is")
NAIVE = {
    "reference": "pt_reference.reductions:ReduceLogSumExp",
    "candidate": "ms_models.reductions:NaiveReduceLogSumExp",
    **ONCE,
}

TWINS = (
    Twin(
        "conv_padded_by_rule",
        reference="pt_reference.conv:conv_half_padded",
        candidate="ms_models.conv:conv_same",
        configs=grid(in_planes=4, out_planes=6, kernel_size=[3, 7], stride=2),
        inputs=[normal(2, "in_planes", 12, 10)],
        differs=Difference(
            "pad_mode 'same' at stride 2 puts the odd padding of even sizes at the far end",
            {"output.0": 2.0, "gradient:*": 2.0},
        ),
        **ONCE,
    ),
    Twin(
        "max_pool2d_padded_by_rule",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:same_max_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1),
        inputs=[normal(2, 5, 12, 10)],
        differs=Difference(
            "pad_mode 'same' at stride 2 puts the odd padding of even sizes at the far end",
            {"output.0": 0.9, "gradient:input[0]": 2.0},
        ),
        **ONCE,
    ),
    Twin(
        "max_pool2d_padded_with_zeros",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:zero_padded_max_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1),
        inputs=[normal(2, 5, 12, 9, shift=-2.0)],
        differs=Difference(
            "a border of zeros is larger than negative inputs; it must be minus infinity",
            {"output.0": 1.6, "gradient:input[0]": 1.4},
        ),
        **ONCE,
    ),
    Twin(
        "batch_norm2d_of_another_epsilon",
        reference="torch.nn:BatchNorm2d",
        candidate="ms_models.norm:batch_norm2d_eps_1e4",
        configs=grid(num_features=12),
        inputs=[normal(3, "num_features", 7, 5)],
        executions=("pynative",),
        differs=Difference(
            "epsilon 1e-4 for 1e-5",
            {"output.0": 0.008, "gradient:input[0]": 0.016, "gradient:weight": 0.008},
        ),
    ),
    Twin(
        "batch_norm2d_of_unconverted_momentum",
        reference="torch.nn:BatchNorm2d",
        candidate="ms_models.norm:batch_norm2d_momentum_as_given",
        configs=grid(num_features=12, momentum=0.1),
        inputs=[normal(3, "num_features", 7, 5)],
        differs=Difference(
            "MindSpore's momentum is the share of the old statistics, PyTorch's of the new",
            {"buffer:running_mean": 2.0, "buffer:running_var": 0.7},
        ),
        **ONCE,
    ),
    Twin(
        "cross_entropy_smoothed_differently",
        reference="torch.nn:CrossEntropyLoss",
        candidate="ms_models.losses:CrossEntropySmooth",
        configs=grid(label_smoothing=0.1, reduction=["none", "mean"]),
        inputs=[logits(8, 5), integers(8, high=5)],
        differs=Difference(
            "the smoothed-off mass goes to the C - 1 other classes instead of to all C",
            {"output.0": 0.2, "gradient:input[0]": 0.06},
        ),
        **ONCE,
    ),
    Twin(
        "nll_loss_of_logits",
        reference="torch.nn:CrossEntropyLoss",
        candidate="mindspore.nn:NLLLoss",
        configs=grid(reduction="mean"),
        inputs=[logits(8, 5), integers(8, high=5)],
        differs=Difference(
            "the negative log likelihood is taken of logits without a log-softmax",
            {"output.0": 6.0, "gradient:input[0]": 1.8},
        ),
        **ONCE,
    ),
    Twin(
        "naive_reduce_log_sum_exp_overflows",
        configs=grid(axis=[-1, (0, 2)], keep_dims=False),
        inputs=[normal(3, 4, 5, scale=2.0, shift=200.0)],
        differs=Difference(
            "exp overflows in float32 where the maximum is not subtracted first",
            NOT_FINITE,
        ),
        **NAIVE,
    ),
    Twin(
        "naive_reduce_log_sum_exp_underflows",
        configs=grid(axis=-1, keep_dims=True),
        inputs=[normal(3, 4, 5, scale=2.0, shift=-200.0)],
        differs=Difference(
            "every exp underflows to zero where the maximum is not subtracted first",
            NOT_FINITE,
        ),
        **NAIVE,
    ),
)
