"""Mistakes in single convolutions and interpolations; those in poolings are in `pooling.py`."""

from mindspore import nn

from tests.defects import operator_candidates as wrong
from tests.defects import pooling
from tests.defects.makers import built_with, candidate, convolution, setting, swapped, variant
from tests.defects.victim import victim

HERE = "tests.defects.operator_candidates:"

EVEN = victim("conv3x3", stride=2, groups=1, H=14)
UNIT = victim("conv3x3", stride=1, H=15)
GROUPED = victim("conv3x3", stride=2, groups=4, dilation=1, H=15)
DILATED = victim("conv3x3", stride=2, dilation=2, H=14)
POINTWISE = victim("conv1x1", stride=1, H=15)
STRIDED_POINTWISE = victim("conv1x1", stride=2, H=15)
STEM = victim("conv7x7", stride=2, H=14)
BIASED = victim("conv2d", bias=True)
PLAIN = victim("conv2d", bias=False)
BLOCK = victim("biased_block")
RECTANGULAR = victim("rectangular_conv")
TRANSPOSED = victim("transposed_conv")
BILINEAR = victim("upsampled", mode="bilinear")
NEAREST = victim("upsampled", mode="nearest")

# fmt: off
CONVOLUTIONS = (
    convolution("conv_padded_by_rule", EVEN,
        "pad_mode 'same', MindSpore's default, for padding 1 at stride 2 on an even height",
        pad_mode="same", padding=0, cause="pad"),
    convolution("stem_padded_by_rule", STEM.compiled,
        "pad_mode 'same' for padding 3 in the stem", pad_mode="same", padding=0, cause="pad"),
    convolution("dilated_conv_padded_by_rule", DILATED,
        "pad_mode 'same' for padding 2 under a dilation of 2",
        pad_mode="same", padding=0, cause="pad"),
    convolution("conv_not_padded", UNIT, "pad_mode 'valid' where the reference pads by one",
        pad_mode="valid", padding=0, cause="pad"),
    convolution("padding_without_its_mode", UNIT,
        "padding=1 without pad_mode='pad', which MindSpore refuses to build",
        pad_mode="same", padding=1, raises="SideError"),
    convolution("padded_at_the_far_end", UNIT,
        "all of the padding below and to the right, as a TensorFlow graph was exported",
        padding=(0, 2, 0, 2), cause="pad"),
    variant("padded_before_and_in_the_conv", EVEN, wrong.PaddedTwice,
        "a Pad was migrated, and the convolution still pads by itself"),
    candidate("border_reflected", UNIT.compiled, HERE + "reflected_conv3x3",
        "padding_mode 'reflect' for zeros"),
    convolution("paddings_of_the_axes_exchanged", RECTANGULAR,
        "left and right before top and bottom, the order of torch.nn.functional.pad",
        padding=(2, 2, 1, 1), cause="pad"),
    convolution("strides_of_the_axes_exchanged", RECTANGULAR.compiled,
        "width before height", stride=(1, 2), cause="stride"),
    convolution("kernel_axes_exchanged", RECTANGULAR,
        "a kernel of 5x3 for 3x5", kernel_size=(5, 3), raises="WeightError"),
    convolution("stride_left_at_one", STRIDED_POINTWISE,
        "the stride is not handed on", stride=1, cause="stride"),
    candidate("stride_by_average_pooling", STRIDED_POINTWISE, HERE + "averaged_conv1x1",
        "ResNet-D's shortcut: an average pooling in front of the 1x1 convolution"),
    setting("dilation_left_at_one", DILATED.compiled,
        "neither the dilation nor its padding is handed on, so that the shape is right",
        dilation=1),
    convolution("padding_without_the_dilation", DILATED,
        "padding 1 under a dilation of 2", padding=1, cause="pad"),
    built_with("groups_left_at_one", GROUPED,
        "MindSpore calls the argument group, not groups, and it was dropped",
        groups=1, raises="WeightError"),
    variant("groups_interleaved", GROUPED, wrong.Interleaved,
        "channels are dealt out to the groups in turn instead of in runs"),
    candidate("depthwise_for_full", PLAIN, HERE + "separable_conv",
        "one group for each channel: the kernel has the wrong shape", raises="WeightError"),
    variant("bias_not_added", BIASED, wrong.WithoutBias,
        "the bias is loaded, and an operator without one is called"),
    variant("bias_not_added_in_half", BIASED.in_half, wrong.WithoutBias, "the same in float16"),
    variant("bias_not_added_before_norm", BLOCK.at("0"), wrong.WithoutBias,
        "the BatchNorm takes it out again: only the running mean shows that it was not there"),
    variant("bias_not_added_before_norm_in_evaluation", BLOCK.compiled.evaluated.at("0"),
        wrong.WithoutBias, "in evaluation the output shows it"),
    variant("bias_added_twice", BIASED, wrong.BiasTwice,
        "by the layer and once more by a BiasAdd of the exported graph"),
    variant("bias_along_rows", BIASED, wrong.BiasAlongRows,
        "broadcast along the height, which has as many rows as there are channels"),
    variant("kernel_reshaped_for_transposed", PLAIN, wrong.ReshapedKernel,
        "TensorFlow's HWIO given the shape OIHW: every number is there, in another place"),
    variant("pointwise_as_dense_of_a_map", POINTWISE.compiled, wrong.DenseOfFlatMap,
        "a 1x1 convolution as a matrix product, the channels not moved to the end"),
    swapped("transposed_conv_padded_by_rule", TRANSPOSED,
        lambda _: nn.Conv2dTranspose(6, 8, 3, stride=2, pad_mode="same", has_bias=True),
        "pad_mode 'same' gives the same size, the map one element further on"),
    swapped("output_padding_of_zeros", TRANSPOSED,
        lambda _: nn.Conv2dTranspose(
            6, 8, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True),
        "MindSpore's output_padding appends zeros where PyTorch's computes a row and a column"),
    built_with("transposed_conv_without_output_padding", TRANSPOSED.compiled,
        "output_padding is left at zero", output_padding=0),
    built_with("corners_aligned", BILINEAR,
        "align_corners as in TensorFlow 1 and old Caffe models", align_corners=True),
    built_with("bilinear_for_nearest", NEAREST.compiled,
        "another mode of interpolation", mode="bilinear", align_corners=False),
)

DEFECTS = CONVOLUTIONS + pooling.DEFECTS
