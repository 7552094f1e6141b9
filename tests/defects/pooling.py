"""Mistakes in poolings, by window and over the whole map."""

from mindspore import nn

from ms_models.pooling import GlobalMeanPool
from tests.defects import operator_candidates as wrong
from tests.defects.defect import Defect
from tests.defects.places import WHOLE, compiled

MAX_POOL = {"twin": "max_pool2d", "where": {}}
MAX_POOL_BY_TWO = {"twin": "same_max_pool2d_by_two", "where": {}}
AVG_POOL = {"twin": "avg_pool2d", "where": {"count_include_pad": True}}
AVG_POOL_INSIDE = {"twin": "avg_pool2d", "where": {"count_include_pad": False}}
ADAPTIVE_POOL = {"twin": "adaptive_mean_pool", "where": {}}
GLOBAL_MEAN = {"twin": "global_mean_pool", "where": {}}
GLOBAL_MAX = {"twin": "global_max_pool", "where": {}}

DEFECTS = (
    Defect(
        "max_pool_padded_by_rule",
        "pad_mode 'same' for padding 1 on an even height",
        **MAX_POOL,
        culprit=WHOLE,
        cause="pad",
        edit=lambda _: nn.MaxPool2d(3, 2, pad_mode="same"),
    ),
    Defect(
        "max_pool_padded_with_zeros",
        "a Pad in front of the pooling: zeros win over negative inputs",
        **compiled(MAX_POOL),
        culprit=WHOLE,
        candidate="ms_models.pooling:zero_padded_max_pool2d",
    ),
    Defect(
        "max_pool_not_padded",
        "pad_mode 'valid', MindSpore's default",
        **MAX_POOL,
        culprit=WHOLE,
        cause="pad",
        edit=lambda _: nn.MaxPool2d(3, 2),
    ),
    Defect(
        "max_pool_of_another_kernel",
        "2x2 windows, whose output has the same shape",
        **MAX_POOL,
        culprit=WHOLE,
        cause="kernel",
        edit=lambda _: nn.MaxPool2d(2, 2, pad_mode="same"),
    ),
    Defect(
        "max_pool_stride_left_out",
        "PyTorch's default stride is the kernel's size, MindSpore's is one",
        **MAX_POOL_BY_TWO,
        culprit=WHOLE,
        cause="stride",
        edit=lambda _: nn.MaxPool2d(2, pad_mode="same"),
    ),
    Defect(
        "max_pool_without_ceil_mode",
        "the last row of an odd size is dropped",
        **MAX_POOL_BY_TWO,
        culprit=WHOLE,
        edit=lambda _: nn.MaxPool2d(2, 2),
    ),
    Defect(
        "average_for_max",
        "AvgPool2d with the same arguments",
        **MAX_POOL,
        culprit=WHOLE,
        edit=lambda _: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1),
    ),
    Defect(
        "max_for_average",
        "MaxPool2d with the same arguments",
        **AVG_POOL,
        culprit=WHOLE,
        edit=lambda _: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
    ),
    Defect(
        "border_not_counted",
        "count_include_pad=False, as TensorFlow averages",
        **AVG_POOL,
        culprit=WHOLE,
        cause="count_include_pad",
        arguments={"count_include_pad": False},
    ),
    Defect(
        "border_counted",
        "count_include_pad is left at its default",
        **compiled(AVG_POOL_INSIDE),
        culprit=WHOLE,
        cause="count_include_pad",
        arguments={"count_include_pad": True},
    ),
    Defect(
        "average_pool_padded_by_rule",
        "pad_mode 'same', which does not count the border either",
        **AVG_POOL_INSIDE,
        culprit=WHOLE,
        cause="pad",
        edit=lambda _: nn.AvgPool2d(3, 2, pad_mode="same"),
    ),
    Defect(
        "average_pool_with_ceil_mode",
        "ceil_mode, as in Caffe",
        **AVG_POOL_INSIDE,
        culprit=WHOLE,
        cause="ceil_mode",
        arguments={"ceil_mode": True},
    ),
    Defect(
        "adaptive_pool_by_even_windows",
        "a fixed kernel of size // output_size: the rest of an uneven division is dropped",
        **ADAPTIVE_POOL,
        culprit=WHOLE,
        edit=lambda _: nn.AvgPool2d((2, 2), (2, 2)),
    ),
    Defect(
        "adaptive_pool_axes_exchanged",
        "width before height",
        **ADAPTIVE_POOL,
        culprit=WHOLE,
        arguments={"output_size": (2, 3)},
    ),
    Defect(
        "global_mean_of_a_fixed_window",
        "a window of the size that maps had while training: a larger map is cut off",
        **GLOBAL_MEAN,
        culprit=WHOLE,
        edit=lambda _: nn.AvgPool2d(4, 4),
    ),
    Defect(
        "sum_over_the_map",
        "ReduceSum for ReduceMean",
        **GLOBAL_MEAN,
        culprit=WHOLE,
        edit=lambda _: wrong.SumOverMap(),
    ),
    Defect(
        "mean_over_height_alone",
        "axis 2 for axes 2 and 3",
        **GLOBAL_MEAN,
        culprit=WHOLE,
        edit=lambda _: wrong.MeanOverHeight(),
    ),
    Defect(
        "mean_over_the_batch_too",
        "no axis for the batch is left out, and broadcasting hides it",
        **compiled(GLOBAL_MEAN),
        culprit=WHOLE,
        edit=lambda _: wrong.MeanOverBatchToo(),
    ),
    Defect(
        "global_mean_squeezed",
        "keep_dims is left at its default",
        **GLOBAL_MEAN,
        culprit=WHOLE,
        edit=lambda _: wrong.SqueezedMean(),
    ),
    Defect(
        "mean_and_maximum_averaged",
        "timm's 'avgmax' for a plain mean",
        **GLOBAL_MEAN,
        culprit=WHOLE,
        edit=lambda _: wrong.MeanOfMaxima(),
    ),
    Defect(
        "global_mean_for_maximum",
        "ReduceMean for ReduceMax",
        **GLOBAL_MAX,
        culprit=WHOLE,
        edit=lambda _: GlobalMeanPool(),
    ),
    Defect(
        "indices_returned_too",
        "the maxima come with their places, as a second output",
        **GLOBAL_MAX,
        culprit=WHOLE,
        edit=lambda _: wrong.MaxWithIndices(),
    ),
    Defect(
        "gradient_of_maximum_spread",
        "the right maximum, whose gradient goes to the whole map",
        **compiled(GLOBAL_MAX),
        culprit=WHOLE,
        edit=lambda _: wrong.SpreadGradient(),
    ),
)
