"""Mistakes in poolings, by window and over the whole map."""

from mindspore import nn

from ms_models.pooling import GlobalMeanPool
from tests.defects import operator_candidates as wrong
from tests.defects.makers import built_with, candidate, setting, swapped
from tests.defects.victim import victim

GROUP = "tests.defects.group_candidates:"
MAX_POOL = victim("max_pool2d")
MAX_POOL_BY_TWO = victim("same_max_pool2d_by_two")
AVG_POOL = victim("avg_pool2d", count_include_pad=True)
AVG_POOL_INSIDE = victim("avg_pool2d", count_include_pad=False)
ADAPTIVE_POOL = victim("adaptive_mean_pool")
TO_ONE = victim("adaptive_avg_pool2d_to_one")
GLOBAL_MEAN = victim("global_mean_pool")
GLOBAL_MAX = victim("global_max_pool")

# fmt: off
DEFECTS = (
    candidate("mean_of_rows", TO_ONE, GROUP + "MeanOfRows", "the mean over one axis alone"),
    candidate("mean_without_axes", TO_ONE.compiled, GROUP + "MeanWithoutAxes",
        "the axes of size one are dropped", cause="shape"),
    candidate("maximum_of_map", TO_ONE, GROUP + "MaximumOfMap", "the maximum for the mean"),
    swapped("max_pool_padded_by_rule", MAX_POOL, lambda _: nn.MaxPool2d(3, 2, pad_mode="same"),
        "pad_mode 'same' for padding 1 on an even height", cause="pad"),
    candidate("max_pool_padded_with_zeros", MAX_POOL.compiled,
        "ms_models.pooling:zero_padded_max_pool2d",
        "a Pad in front of the pooling: zeros win over negative inputs"),
    swapped("max_pool_not_padded", MAX_POOL, lambda _: nn.MaxPool2d(3, 2),
        "pad_mode 'valid', MindSpore's default", cause="pad"),
    swapped("max_pool_of_another_kernel", MAX_POOL, lambda _: nn.MaxPool2d(2, 2, pad_mode="same"),
        "2x2 windows, whose output has the same shape", cause="kernel"),
    swapped("max_pool_stride_left_out", MAX_POOL_BY_TWO, lambda _: nn.MaxPool2d(2, pad_mode="same"),
        "PyTorch's default stride is the kernel's size, MindSpore's is one", cause="stride"),
    swapped("max_pool_without_ceil_mode", MAX_POOL_BY_TWO, lambda _: nn.MaxPool2d(2, 2),
        "the last row of an odd size is dropped"),
    swapped("average_for_max", MAX_POOL, lambda _: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1),
        "AvgPool2d with the same arguments"),
    swapped("max_for_average", AVG_POOL, lambda _: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        "MaxPool2d with the same arguments"),
    setting("border_not_counted", AVG_POOL,
        "count_include_pad=False, as TensorFlow averages", count_include_pad=False),
    setting("border_counted", AVG_POOL_INSIDE.compiled,
        "count_include_pad is left at its default", count_include_pad=True),
    swapped("average_pool_padded_by_rule", AVG_POOL_INSIDE,
        lambda _: nn.AvgPool2d(3, 2, pad_mode="same"),
        "pad_mode 'same', which does not count the border either", cause="pad"),
    setting("average_pool_with_ceil_mode", AVG_POOL_INSIDE,
        "ceil_mode, as in Caffe", ceil_mode=True),
    swapped("adaptive_pool_by_even_windows", ADAPTIVE_POOL, lambda _: nn.AvgPool2d((2, 2), (2, 2)),
        "a fixed kernel of size // output_size: the rest of an uneven division is dropped"),
    built_with("adaptive_pool_axes_exchanged", ADAPTIVE_POOL,
        "width before height", output_size=(2, 3)),
    swapped("global_mean_of_a_fixed_window", GLOBAL_MEAN, lambda _: nn.AvgPool2d(4, 4),
        "a window of the size that maps had while training: a larger map is cut off"),
    swapped("sum_over_the_map", GLOBAL_MEAN, lambda _: wrong.SumOverMap(),
        "ReduceSum for ReduceMean"),
    swapped("mean_over_height_alone", GLOBAL_MEAN, lambda _: wrong.MeanOverHeight(),
        "axis 2 for axes 2 and 3"),
    swapped("mean_over_the_batch_too", GLOBAL_MEAN.compiled, lambda _: wrong.MeanOverBatchToo(),
        "no axis for the batch is left out, and broadcasting hides it"),
    swapped("global_mean_squeezed", GLOBAL_MEAN, lambda _: wrong.SqueezedMean(),
        "keep_dims is left at its default"),
    swapped("mean_and_maximum_averaged", GLOBAL_MEAN, lambda _: wrong.MeanOfMaxima(),
        "timm's 'avgmax' for a plain mean"),
    swapped("global_mean_for_maximum", GLOBAL_MAX, lambda _: GlobalMeanPool(),
        "ReduceMean for ReduceMax"),
    swapped("indices_returned_too", GLOBAL_MAX, lambda _: wrong.MaxWithIndices(),
        "the maxima come with their places, as a second output"),
    swapped("gradient_of_maximum_spread", GLOBAL_MAX.compiled, lambda _: wrong.SpreadGradient(),
        "the right maximum, whose gradient goes to the whole map"),
)
