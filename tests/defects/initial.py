"""Mistakes in how weights are initialised. A culprit is a weight, by the reference's name."""

from tests.defects.defect import Defect

HERE = "tests.defects.initial_candidates:"

KERNEL = ("weight",)
HE = {"twin": "convolution", "where": {"init": "he_normal"}, "culprit": KERNEL}
RESNET18 = {"twin": "resnet_of_basic_blocks", "where": {"zero_init_residual": True}}

BLOCKS = tuple(f"layer{stage}.{block}" for stage in (1, 2, 3, 4) for block in (0, 1))
LAST_SCALES = tuple(f"{block}.bn2.weight" for block in BLOCKS)


def bottleneck_scales() -> tuple[str, ...]:
    """The scales of the second and of the last BatchNorm of every block of ResNet50."""
    blocks = [f"layer{s}.{b}" for s, n in enumerate((3, 4, 6, 3), 1) for b in range(n)]
    return tuple(f"{block}.bn{norm}.weight" for block in blocks for norm in (2, 3))


DEFECTS = (
    Defect(
        "he_over_fan_in",
        "HeNormal is left at its default mode",
        **HE,
        cause="fan_in for fan_out",
        candidate=HERE + "he_over_fan_in",
    ),
    Defect(
        "he_without_gain",
        "HeNormal with the gain of another nonlinearity",
        **HE,
        cause="gain 1 for gain sqrt(2)",
        candidate=HERE + "he_without_gain",
    ),
    Defect(
        "he_uniform_for_normal",
        "kaiming_normal_ became HeUniform; its standard deviation is right",
        **HE,
        cause="uniform for normal",
        candidate=HERE + "he_uniform_for_normal",
    ),
    Defect(
        "xavier_for_he",
        "kaiming_normal_ became XavierNormal",
        **HE,
        cause="gain 1 for gain sqrt(2), mean fan for fan_out",
        candidate=HERE + "xavier_for_he",
    ),
    Defect(
        "variance_for_deviation",
        "Normal is given the variance 2 / fan_out",
        **HE,
        candidate=HERE + "he_variance_for_deviation",
    ),
    Defect(
        "default_slope",
        "HeUniform is left at negative_slope 0 where torch has sqrt(5)",
        twin="convolution",
        where={"init": "he_uniform"},
        culprit=KERNEL,
        cause="gain sqrt(2) for gain sqrt(1/3)",
        candidate=HERE + "default_slope",
    ),
    Defect(
        "deviation_for_bound",
        "Uniform is given the standard deviation of Xavier's formula",
        twin="convolution",
        where={"init": "xavier_uniform"},
        culprit=KERNEL,
        cause="the std taken for the bound",
        candidate=HERE + "deviation_for_bound",
    ),
    Defect(
        "truncated_without_rescaling",
        "cutting off at two standard deviations is not made up for",
        twin="convolution",
        where={"init": "lecun_normal"},
        culprit=KERNEL,
        cause="cut off at 2 std without being rescaled",
        candidate=HERE + "truncated_without_rescaling",
    ),
    Defect(
        "bounds_in_sigmas",
        "the bounds of TruncatedNormal are read as multiples of sigma, so that nothing is cut off",
        twin="convolution",
        where={"init": "truncated_normal"},
        culprit=KERNEL,
        cause="normal for truncated normal",
        candidate=HERE + "bounds_in_sigmas",
    ),
    Defect(
        "swapped_arguments",
        "normal_(mean, std) became Normal(mean, std), whose arguments are sigma and mean",
        twin="convolution",
        where={"init": "normal"},
        culprit=KERNEL,
        cause="constant 0.01 for random",
        candidate=HERE + "swapped_arguments",
    ),
    Defect(
        "constant_for_ones",
        "Constant(0.01) for ones",
        twin="convolution",
        where={"init": "ones"},
        culprit=KERNEL,
        candidate=HERE + "constant",
    ),
    Defect(
        "filters_alike",
        "one filter is drawn and repeated for every output channel",
        **HE,
        cause="the same seed",
        candidate=HERE + "filters_alike",
    ),
    Defect(
        "seeded_within",
        "the constructor fixes the seed",
        twin="convolution",
        where={"init": "he_normal"},
        culprit=("bias", "weight"),
        cause="seed is fixed",
        candidate=HERE + "seeded_within",
    ),
    Defect(
        "transposed_dense",
        "a dense kernel is drawn in its transposed shape",
        twin="dense",
        where={"init": "he_uniform"},
        culprit=KERNEL,
        cause="fan_out for fan_in",
        candidate=HERE + "transposed_dense",
    ),
    Defect(
        "bias_of_zeros",
        "the bias of a dense layer is zeroed, as the guide to CIFAR-10 has it",
        twin="dense",
        where={"init": "he_uniform"},
        culprit=("bias",),
        cause="constant 0 for random",
        candidate=HERE + "dense_without_bias_values",
    ),
    Defect(
        "one_sided_bias",
        "the bias is drawn between 0 and its bound",
        twin="dense",
        where={"init": "he_uniform"},
        culprit=("bias",),
        candidate=HERE + "one_sided_bias",
    ),
    Defect(
        "residual_kept",
        "zero_init_residual is not handed on",
        **RESNET18,
        culprit=LAST_SCALES,
        cause="zero_init_residual",
        candidate=HERE + "residual_kept",
    ),
    Defect(
        "residual_renamed",
        "the name of the initialiser is changed after the scale has been made",
        **RESNET18,
        culprit=LAST_SCALES,
        cause="zero_init_residual",
        candidate=HERE + "residual_renamed",
    ),
    Defect(
        "residual_by_a_string",
        "a string is assigned to the scale, as the guide to CIFAR-10 has it",
        **RESNET18,
        culprit=None,
        raises="SideError",
        candidate=HERE + "residual_by_a_string",
    ),
    Defect(
        "residual_of_second_norm",
        "the second BatchNorm of a Bottleneck is zeroed for its last",
        twin="resnet_of_bottlenecks",
        where={"zero_init_residual": True},
        culprit=bottleneck_scales(),
        cause="zero_init_residual",
        candidate=HERE + "residual_of_second_norm",
    ),
    Defect(
        "not_initialised",
        "the convolutions keep MindSpore's default",
        **RESNET18,
        culprit=(
            "conv1.weight",
            *(f"{block}.conv{n}.weight" for block in BLOCKS for n in (1, 2)),
            *(f"layer{stage}.0.downsample.0.weight" for stage in (2, 3, 4)),
        ),
        cause="uniform for normal",
        candidate=HERE + "not_initialised",
    ),
    Defect(
        "random_scales",
        "the scale of a BatchNorm is drawn around 1",
        **RESNET18,
        culprit=("bn1.weight",),
        cause="random for constant 1",
        candidate=HERE + "random_scales",
    ),
    Defect(
        "blocks_copied",
        "a block is a deep copy of another, and starts with its weights",
        **RESNET18,
        culprit=("layer1.1.conv1.weight", "layer1.1.conv2.weight"),
        cause="drawn again from the same seed",
        candidate=HERE + "blocks_copied",
    ),
)
