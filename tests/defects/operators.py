"""Mistakes in single convolutions and interpolations; those in poolings are in `pooling.py`."""

from mindspore import nn

from tests.defects import operator_candidates as wrong
from tests.defects import pooling
from tests.defects.defect import Defect
from tests.defects.edits import convolutions_with, recast
from tests.defects.places import WHOLE, compiled, evaluated, in_half

HERE = "tests.defects.operator_candidates:"

EVEN = {"twin": "conv3x3", "where": {"stride": 2, "groups": 1, "H": 14}}
UNIT = {"twin": "conv3x3", "where": {"stride": 1, "H": 15}}
GROUPED = {"twin": "conv3x3", "where": {"stride": 2, "groups": 4, "dilation": 1, "H": 15}}
DILATED = {"twin": "conv3x3", "where": {"stride": 2, "dilation": 2, "H": 14}}
POINTWISE = {"twin": "conv1x1", "where": {"stride": 1, "H": 15}}
STRIDED_POINTWISE = {"twin": "conv1x1", "where": {"stride": 2, "H": 15}}
STEM = {"twin": "conv7x7", "where": {"stride": 2, "H": 14}}
BIASED = {"twin": "conv2d", "where": {"bias": True}}
PLAIN = {"twin": "conv2d", "where": {"bias": False}}
BLOCK = {"twin": "biased_block", "where": {}}
RECTANGULAR = {"twin": "rectangular_conv", "where": {}}
TRANSPOSED = {"twin": "transposed_conv", "where": {}}
BILINEAR = {"twin": "upsampled", "where": {"mode": "bilinear"}}
NEAREST = {"twin": "upsampled", "where": {"mode": "nearest"}}


def convolution_with(**settings):
    """The convolution itself, built with other settings."""

    def edit(cell):
        held = nn.SequentialCell(cell)
        convolutions_with("0", **settings)(held)
        return held[0]

    return edit


CONVOLUTIONS = (
    Defect(
        "conv_padded_by_rule",
        "pad_mode 'same', MindSpore's default, for padding 1 at stride 2 on an even height",
        **EVEN,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(pad_mode="same", padding=0),
    ),
    Defect(
        "stem_padded_by_rule",
        "pad_mode 'same' for padding 3 in the stem",
        **compiled(STEM),
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(pad_mode="same", padding=0),
    ),
    Defect(
        "dilated_conv_padded_by_rule",
        "pad_mode 'same' for padding 2 under a dilation of 2",
        **DILATED,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(pad_mode="same", padding=0),
    ),
    Defect(
        "conv_not_padded",
        "pad_mode 'valid' where the reference pads by one",
        **UNIT,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(pad_mode="valid", padding=0),
    ),
    Defect(
        "padding_without_its_mode",
        "padding=1 without pad_mode='pad', which MindSpore refuses to build",
        **UNIT,
        culprit=None,
        edit=convolution_with(pad_mode="same", padding=1),
        raises="SideError",
    ),
    Defect(
        "padded_at_the_far_end",
        "all of the padding below and to the right, as a TensorFlow graph was exported",
        **UNIT,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(padding=(0, 2, 0, 2)),
    ),
    Defect(
        "padded_before_and_in_the_conv",
        "a Pad was migrated, and the convolution still pads by itself",
        **EVEN,
        culprit=WHOLE,
        edit=recast(wrong.PaddedTwice, ""),
    ),
    Defect(
        "border_reflected",
        "padding_mode 'reflect' for zeros",
        **compiled(UNIT),
        culprit=WHOLE,
        candidate=HERE + "reflected_conv3x3",
    ),
    Defect(
        "paddings_of_the_axes_exchanged",
        "left and right before top and bottom, the order of torch.nn.functional.pad",
        **RECTANGULAR,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(padding=(2, 2, 1, 1)),
    ),
    Defect(
        "strides_of_the_axes_exchanged",
        "width before height",
        **compiled(RECTANGULAR),
        culprit=WHOLE,
        cause="stride",
        edit=convolution_with(stride=(1, 2)),
    ),
    Defect(
        "kernel_axes_exchanged",
        "a kernel of 5x3 for 3x5",
        **RECTANGULAR,
        culprit=None,
        edit=convolution_with(kernel_size=(5, 3)),
        raises="WeightError",
    ),
    Defect(
        "stride_left_at_one",
        "the stride is not handed on",
        **STRIDED_POINTWISE,
        culprit=WHOLE,
        cause="stride",
        edit=convolution_with(stride=1),
    ),
    Defect(
        "stride_by_average_pooling",
        "ResNet-D's shortcut: an average pooling in front of the 1x1 convolution",
        **STRIDED_POINTWISE,
        culprit=WHOLE,
        candidate=HERE + "averaged_conv1x1",
    ),
    Defect(
        "dilation_left_at_one",
        "neither the dilation nor its padding is handed on, so that the shape is right",
        **compiled(DILATED),
        culprit=WHOLE,
        cause="dilation",
        arguments={"dilation": 1},
    ),
    Defect(
        "padding_without_the_dilation",
        "padding 1 under a dilation of 2",
        **DILATED,
        culprit=WHOLE,
        cause="pad",
        edit=convolution_with(padding=1),
    ),
    Defect(
        "groups_left_at_one",
        "MindSpore calls the argument group, not groups, and it was dropped",
        **GROUPED,
        culprit=None,
        arguments={"groups": 1},
        raises="WeightError",
    ),
    Defect(
        "groups_interleaved",
        "channels are dealt out to the groups in turn instead of in runs",
        **GROUPED,
        culprit=WHOLE,
        edit=recast(wrong.Interleaved, ""),
    ),
    Defect(
        "depthwise_for_full",
        "one group for each channel: the kernel has the wrong shape",
        **PLAIN,
        culprit=None,
        candidate=HERE + "separable_conv",
        raises="WeightError",
    ),
    Defect(
        "bias_not_added",
        "the bias is loaded, and an operator without one is called",
        **BIASED,
        culprit=WHOLE,
        edit=recast(wrong.WithoutBias, ""),
    ),
    Defect(
        "bias_not_added_in_half",
        "the same in float16",
        **in_half(BIASED),
        culprit=WHOLE,
        edit=recast(wrong.WithoutBias, ""),
    ),
    Defect(
        "bias_not_added_before_norm",
        "the BatchNorm takes it out again: only the running mean shows that it was not there",
        **BLOCK,
        culprit=("0",),
        edit=recast(wrong.WithoutBias, "0"),
    ),
    Defect(
        "bias_not_added_before_norm_in_evaluation",
        "in evaluation the output shows it",
        **evaluated(compiled(BLOCK)),
        culprit=("0",),
        edit=recast(wrong.WithoutBias, "0"),
    ),
    Defect(
        "bias_added_twice",
        "by the layer and once more by a BiasAdd of the exported graph",
        **BIASED,
        culprit=WHOLE,
        edit=recast(wrong.BiasTwice, ""),
    ),
    Defect(
        "bias_along_rows",
        "broadcast along the height, which has as many rows as there are channels",
        **BIASED,
        culprit=WHOLE,
        edit=recast(wrong.BiasAlongRows, ""),
    ),
    Defect(
        "kernel_reshaped_for_transposed",
        "TensorFlow's HWIO given the shape OIHW: every number is there, in another place",
        **PLAIN,
        culprit=WHOLE,
        edit=recast(wrong.ReshapedKernel, ""),
    ),
    Defect(
        "pointwise_as_dense_of_a_map",
        "a 1x1 convolution as a matrix product, the channels not moved to the end",
        **compiled(POINTWISE),
        culprit=WHOLE,
        edit=recast(wrong.DenseOfFlatMap, ""),
    ),
    Defect(
        "transposed_conv_padded_by_rule",
        "pad_mode 'same' gives the same size, the map one element further on",
        **TRANSPOSED,
        culprit=WHOLE,
        edit=lambda _: nn.Conv2dTranspose(6, 8, 3, stride=2, pad_mode="same", has_bias=True),
    ),
    Defect(
        "output_padding_of_zeros",
        "MindSpore's output_padding appends zeros where PyTorch's computes a row and a column",
        **TRANSPOSED,
        culprit=WHOLE,
        edit=lambda _: nn.Conv2dTranspose(
            6, 8, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True
        ),
    ),
    Defect(
        "transposed_conv_without_output_padding",
        "output_padding is left at zero",
        **compiled(TRANSPOSED),
        culprit=WHOLE,
        arguments={"output_padding": 0},
    ),
    Defect(
        "corners_aligned",
        "align_corners as in TensorFlow 1 and old Caffe models",
        **BILINEAR,
        culprit=WHOLE,
        arguments={"align_corners": True},
    ),
    Defect(
        "bilinear_for_nearest",
        "another mode of interpolation",
        **compiled(NEAREST),
        culprit=WHOLE,
        arguments={"mode": "bilinear", "align_corners": False},
    ),
)

DEFECTS = CONVOLUTIONS + pooling.DEFECTS
