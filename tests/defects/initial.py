"""Mistakes in how weights are initialised. A culprit is a weight, by the reference's name."""

from tests.defects.makers import candidate
from tests.defects.victim import Victim, victim

HERE = "tests.defects.initial_candidates:"


def kernel(init: str) -> Victim:
    """The kernel of a convolution, initialised in this way."""
    return victim("convolution", init=init).at("weight")


HE = kernel("he_normal")
DENSE = victim("dense", init="he_uniform")
ORTHOGONAL = victim("orthogonal_dense", out_features=32).at("weight")
RESNET18 = victim("resnet_of_basic_blocks", zero_init_residual=True)
RESNET50 = victim("resnet_of_bottlenecks", zero_init_residual=True)

BLOCKS = [f"layer{stage}.{block}" for stage in (1, 2, 3, 4) for block in (0, 1)]
KERNELS_OF_BLOCKS = [f"{block}.conv{n}.weight" for block in BLOCKS for n in (1, 2)]
PROJECTIONS = [f"layer{stage}.0.downsample.0.weight" for stage in (2, 3, 4)]
ZEROED = RESNET18.at(*(f"{block}.bn2.weight" for block in BLOCKS))

BOTTLENECKS = [f"layer{s}.{b}" for s, n in enumerate((3, 4, 6, 3), 1) for b in range(n)]
SECOND_AND_LAST_SCALES = [f"{block}.bn{n}.weight" for block in BOTTLENECKS for n in (2, 3)]

# fmt: off
DEFECTS = (
    candidate("he_over_fan_in", HE, HERE,
        "HeNormal is left at its default mode", cause="fan_in for fan_out"),
    candidate("he_without_gain", HE, HERE,
        "HeNormal with the gain of another nonlinearity", cause="gain 1 for gain sqrt(2)"),
    candidate("he_uniform_for_normal", HE, HERE,
        "kaiming_normal_ became HeUniform; its standard deviation is right",
        cause="uniform for normal"),
    candidate("xavier_for_he", HE, HERE, "kaiming_normal_ became XavierNormal",
        cause="gain 1 for gain sqrt(2), mean fan for fan_out"),
    candidate("variance_for_deviation", HE, HERE + "he_variance_for_deviation",
        "Normal is given the variance 2 / fan_out"),
    candidate("default_slope", kernel("he_uniform"), HERE,
        "HeUniform is left at negative_slope 0 where torch has sqrt(5)",
        cause="gain sqrt(2) for gain sqrt(1/3)"),
    candidate("deviation_for_bound", kernel("xavier_uniform"), HERE,
        "Uniform is given the standard deviation of Xavier's formula",
        cause="the std taken for the bound"),
    candidate("truncated_without_rescaling", kernel("lecun_normal"), HERE,
        "cutting off at two standard deviations is not made up for",
        cause="cut off at 2 std without being rescaled"),
    candidate("bounds_in_sigmas", kernel("truncated_normal"), HERE,
        "the bounds of TruncatedNormal are read as multiples of sigma, so that nothing is cut off",
        cause="normal for truncated normal"),
    candidate("swapped_arguments", kernel("normal"), HERE,
        "normal_(mean, std) became Normal(mean, std), whose arguments are sigma and mean",
        cause="constant 0.01 for random"),
    candidate("constant_for_ones", kernel("ones"), HERE + "constant", "Constant(0.01) for ones"),
    candidate("filters_alike", HE, HERE,
        "one filter is drawn and repeated for every output channel", cause="the same seed"),
    candidate("seeded_within", HE.at("bias", "weight"), HERE,
        "the constructor fixes the seed", cause="seed is fixed"),
    candidate("transposed_dense", DENSE.at("weight"), HERE,
        "a dense kernel is drawn in its transposed shape", cause="fan_out for fan_in"),
    candidate("bias_of_zeros", DENSE.at("bias"), HERE + "dense_without_bias_values",
        "the bias of a dense layer is zeroed, as the guide to CIFAR-10 has it",
        cause="constant 0 for random"),
    candidate("one_sided_bias", DENSE.at("bias"), HERE,
        "the bias is drawn between 0 and its bound"),
    candidate("residual_kept", ZEROED, HERE,
        "zero_init_residual is not handed on", cause="zero_init_residual"),
    candidate("residual_renamed", ZEROED, HERE,
        "the name of the initialiser is changed after the scale has been made",
        cause="zero_init_residual"),
    candidate("residual_by_a_string", RESNET18, HERE,
        "a string is assigned to the scale, as the guide to CIFAR-10 has it", raises="SideError"),
    candidate("residual_of_second_norm", RESNET50.at(*SECOND_AND_LAST_SCALES), HERE,
        "the second BatchNorm of a Bottleneck is zeroed for its last", cause="zero_init_residual"),
    candidate("not_initialised", RESNET18.at("conv1.weight", *KERNELS_OF_BLOCKS, *PROJECTIONS),
        HERE, "the convolutions keep MindSpore's default", cause="uniform for normal"),
    candidate("random_scales", RESNET18.at("bn1.weight"), HERE,
        "the scale of a BatchNorm is drawn around 1", cause="random for constant 1"),
    candidate("blocks_copied", RESNET18.at("layer1.1.conv1.weight", "layer1.1.conv2.weight"), HERE,
        "a block is a deep copy of another, and starts with its weights",
        cause="drawn again from the same seed"),
    candidate("orthogonal_by_normal", ORTHOGONAL, HERE,
        "orthogonal_ became normal numbers of the same deviation",
        cause="orthogonal in the reference alone"),
    candidate("orthogonal_without_gain", ORTHOGONAL, HERE, "the gain of orthogonal_ is left out"),
)
