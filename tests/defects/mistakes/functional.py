"""Mistakes in convolutions, poolings, padding, resizing, norms and losses."""

from mindspore import nn, ops

from ms_models.functional import each
from tests.defects.mistakes import mistake

# Convolutions.


@mistake("conv2d", "ops.conv2d", "the default pad mode, which pads nothing")
def conv2d_unpadded(x, weight, bias=None, *, stride, padding, dilation, groups):  # noqa: ARG001
    return ops.conv2d(x, weight, bias, stride, dilation=dilation, groups=groups)


@mistake("conv2d", "ops.conv2d", "the pad mode 'same' for the padding that is asked for")
def conv2d_padded_to_the_same(x, weight, bias=None, *, stride, padding, dilation, groups):  # noqa: ARG001
    return ops.conv2d(x, weight, bias, stride, "same", 0, dilation, groups)


@mistake("conv2d", "ops.conv2d", "paddings of rows and columns exchanged")
def conv2d_with_paddings_exchanged(x, weight, bias=None, *, stride, padding, dilation, groups):
    padding = each(padding, 2)[::-1]
    return ops.conv2d(x, weight, bias, stride, "pad", padding, dilation, groups)


@mistake("conv2d", "ops.conv2d", "strides of rows and columns exchanged")
def conv2d_with_strides_exchanged(x, weight, bias=None, *, stride, padding, dilation, groups):
    stride = each(stride, 2)[::-1]
    return ops.conv2d(x, weight, bias, stride, "pad", each(padding, 2), dilation, groups)


@mistake("conv2d", "ops.conv2d", "the dilation lost")
def conv2d_undilated(x, weight, bias=None, *, stride, padding, dilation, groups):  # noqa: ARG001
    return ops.conv2d(x, weight, bias, stride, "pad", each(padding, 2), 1, groups)


@mistake("conv2d", "ops.conv2d", "kernels turned by half a turn, as for a true convolution")
def conv2d_of_turned_kernels(x, weight, bias=None, *, stride, padding, dilation, groups):
    weight = ops.flip(weight, (2, 3))
    return ops.conv2d(x, weight, bias, stride, "pad", each(padding, 2), dilation, groups)


@mistake("conv1d", "ops.conv1d", "the bias lost, as `has_bias` is False unless told")
def conv1d_unbiased(x, weight, bias=None, *, stride, padding, dilation, groups):  # noqa: ARG001
    return ops.conv1d(x, weight, None, stride, "pad", padding, dilation, groups)


@mistake("conv3d", "ops.conv3d", "the paddings in reversed order")
def conv3d_with_paddings_reversed(x, weight, bias=None, *, stride, padding, dilation, groups):
    padding = each(padding, 3)[::-1]
    return ops.conv3d(x, weight, bias, stride, "pad", padding, dilation, groups)


# Poolings.


@mistake("max_pool2d", "ops.max_pool2d", "a border of zeros for one of minus infinity")
def max_pool2d_of_zeros(x, kernel_size, padding, stride=None, **told):
    widths = (padding,) * 4
    return ops.max_pool2d(ops.pad(x, widths), kernel_size, stride, 0, **told)


@mistake("max_pool2d", "ops.max_pool2d", "ceil_mode lost")
def max_pool2d_rounded_down(x, kernel_size, ceil_mode, **told):  # noqa: ARG001
    return ops.max_pool2d(x, kernel_size, **told)


@mistake("max_pool2d", "ops.max_pool2d", "a stride of one, MindSpore's default, for the kernel's")
def max_pool2d_by_one(x, kernel_size, stride=1, **told):
    return ops.max_pool2d(x, kernel_size, stride, **told)


@mistake("max_pool2d", "ops.max_pool2d", "the dilation lost")
def max_pool2d_undilated(x, kernel_size, dilation, **told):  # noqa: ARG001
    return ops.max_pool2d(x, kernel_size, **told)


@mistake("avg_pool2d", "ops.avg_pool2d", "zeros of the border left out of the mean, or counted")
def avg_pool2d_of_other_border(x, kernel_size, count_include_pad, stride=None, **told):
    told["divisor_override"] = told["divisor_override"] or 0
    counted = not count_include_pad
    return ops.avg_pool2d(x, kernel_size, stride or kernel_size, count_include_pad=counted, **told)


@mistake("avg_pool2d", "ops.avg_pool2d", "the divisor that is told lost")
def avg_pool2d_of_own_divisor(x, kernel_size, divisor_override, stride=None, **told):  # noqa: ARG001
    return ops.avg_pool2d(x, kernel_size, stride or kernel_size, **told)


@mistake("avg_pool2d", "ops.avg_pool2d", "a stride of one, MindSpore's default, for the kernel's")
def avg_pool2d_by_one(x, kernel_size, divisor_override, stride=1, **told):
    return ops.avg_pool2d(x, kernel_size, stride, divisor_override=divisor_override or 0, **told)


@mistake("avg_pool2d", "ops.avg_pool2d", "ceil_mode lost")
def avg_pool2d_rounded_down(x, kernel_size, ceil_mode, divisor_override, stride=None, **told):  # noqa: ARG001
    stride = stride or kernel_size
    return ops.avg_pool2d(x, kernel_size, stride, divisor_override=divisor_override or 0, **told)


@mistake("lp_pool2d", "ops.lp_pool2d", "the mean of powers for their sum")
def lp_pool2d_of_means(x, norm_type, kernel_size, stride=None, ceil_mode=False):
    powers = ops.pow(x, norm_type)
    mean = ops.avg_pool2d(powers, kernel_size, stride or kernel_size, ceil_mode=ceil_mode)
    return ops.pow(mean, 1.0 / norm_type)


@mistake("adaptive_avg_pool2d", "ops.adaptive_avg_pool2d", "windows of one size, moved evenly")
def adaptive_avg_pool2d_of_equal_windows(x, output_size):
    sides = x.shape[2:]
    sizes = [new or side for new, side in zip(each(output_size, 2), sides, strict=True)]
    strides = tuple(max(side // new, 1) for side, new in zip(sides, sizes, strict=True))
    kernels = tuple(
        max(side - (new - 1) * stride, 1)
        for side, new, stride in zip(sides, sizes, strides, strict=True)
    )
    return ops.avg_pool2d(x, kernels, strides)


@mistake("adaptive_max_pool2d", "ops.adaptive_max_pool2d", "rows and columns exchanged")
def adaptive_max_pool2d_of_columns(x, output_size, return_indices):
    return ops.adaptive_max_pool2d(x, each(output_size, 2)[::-1], return_indices)


# Padding and resizing.


@mistake("pad_constant2d", "ops.pad", "the widths read as first axis first")
def pad_from_the_first_axis(x, pad, mode, value):
    return ops.pad(x, pad[2:] + pad[:2], mode, value)


@mistake("pad_constant2d", "ops.pad", "zeros for the value that is told")
def pad_with_zeros(x, pad, mode, value):  # noqa: ARG001
    return ops.pad(x, pad, mode)


@mistake("pad_reflect2d", "ops.pad", "the border's entry repeated, as SYMMETRIC does")
def pad_of_the_border_itself(x, pad, mode):  # noqa: ARG001
    return ops.pad(x, pad, "replicate")


@mistake("interpolate_bilinear", "ops.interpolate", "corners aligned, or not, the other way round")
def interpolate_by_other_corners(x, align_corners, **told):
    return ops.interpolate(x, align_corners=not align_corners, **told)


@mistake("interpolate_nearest", "ops.interpolate", "the pixel whose centre is nearest")
def interpolate_from_centres(x, mode, **told):
    return ops.interpolate(x, mode=mode if len(x.shape) == 5 else "nearest-exact", **told)


@mistake("pixel_shuffle", "ops.pixel_shuffle", "depth to space with the block's axes first")
def pixel_shuffle_of_depth(x, upscale_factor):
    n, c, h, w = x.shape
    r = upscale_factor
    x = x.reshape((n, r, r, c // r**2, h, w)).transpose((0, 3, 4, 1, 5, 2))
    return x.reshape((n, c // r**2, h * r, w * r))


@mistake("grid_sample", "ops.grid_sample", "corners aligned, or not, the other way round")
def grid_sample_by_other_corners(x, grid, align_corners, **told):
    return ops.grid_sample(x, grid, align_corners=not align_corners, **told)


@mistake("grid_sample", "ops.grid_sample", "the edge repeated, where it reflects")
def grid_sample_by_border(x, grid, padding_mode, **told):
    repeated = {"reflection": "border"}.get(padding_mode, padding_mode)
    return ops.grid_sample(x, grid, padding_mode=repeated, **told)


@mistake("grid_sample3d", "ops.grid_sample", "the edge repeated, where it reflects")
def grid_sample3d_by_border(x, grid, **told):
    return grid_sample_by_border(x, grid, **told)


@mistake("grid_sample", "ops.grid_sample", "rows before columns in the grid")
def grid_sample_of_rows_first(x, grid, **told):
    return ops.grid_sample(x, ops.flip(grid, (3,)), **told)


# Norms.


@mistake("batch_norm", "ops.batch_norm", "MindSpore's usual epsilon of 1e-3 for the one told")
def batch_norm_of_usual_epsilon(x, mean, variance, weight=None, bias=None, *, training, eps):  # noqa: ARG001
    weight = ops.ones_like(mean) if weight is None else weight
    bias = ops.zeros_like(mean) if bias is None else bias
    return ops.batch_norm(x, mean, variance, weight, bias, training, eps=1e-3)


@mistake("batch_norm", "ops.batch_norm", "scale and offset exchanged")
def batch_norm_of_exchanged_weights(x, mean, variance, weight=None, bias=None, *, training, eps):
    weight = ops.ones_like(mean) if weight is None else weight
    bias = ops.zeros_like(mean) if bias is None else bias
    return ops.batch_norm(x, mean, variance, bias, weight, training, eps=eps)


@mistake("batch_norm_training", "ops.batch_norm", "the moving statistics, as in evaluation")
def batch_norm_in_evaluation(x, mean, variance, weight=None, bias=None, *, training, eps):  # noqa: ARG001
    weight = ops.ones_like(mean) if weight is None else weight
    bias = ops.zeros_like(mean) if bias is None else bias
    return ops.batch_norm(x, mean, variance, weight, bias, False, eps=eps)


@mistake("layer_norm", "ops.LayerNorm", "the variance divided by one less than the count")
def layer_norm_of_unbiased_variance(x, weight=None, bias=None, *, normalized_shape, eps):
    axes = tuple(range(len(x.shape) - len(normalized_shape), len(x.shape)))
    count = max(int(ops.ones(normalized_shape).size), 2)
    centred = x - x.mean(axes, True)
    spread = (centred * centred).sum(axes, keepdims=True) / (count - 1)
    result = centred / ops.sqrt(spread + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


@mistake("layer_norm", "ops.LayerNorm", "the last axis alone")
def layer_norm_of_the_last_axis(x, weight=None, bias=None, *, normalized_shape, eps):
    size = normalized_shape[-1:]
    result = ops.LayerNorm(-1, -1, eps)(x, ops.ones(size, x.dtype), ops.zeros(size, x.dtype))[0]
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


@mistake("group_norm", "ops.group_norm", "channels of a group taken in strides")
def group_norm_of_strided_groups(x, weight=None, bias=None, *, num_groups, eps):
    n, c, *sides = x.shape
    mixed = x.reshape((n, c // num_groups, num_groups, *sides)).swapaxes(1, 2).reshape(x.shape)
    result = ops.group_norm(mixed, num_groups, None, None, eps)
    result = result.reshape((n, num_groups, c // num_groups, *sides)).swapaxes(1, 2)
    result = result.reshape(x.shape)
    row = (1, c, *[1] * len(sides))
    result = result if weight is None else result * weight.reshape(row)
    return result if bias is None else result + bias.reshape(row)


@mistake("local_response_norm", "ops.lrn", "alpha not divided by the number of channels summed")
def local_response_norm_of_the_sum(x, size, alpha, beta, k):
    return ops.lrn(x, depth_radius=size // 2, bias=k, alpha=alpha, beta=beta)


@mistake("local_response_norm", "ops.lrn", "the size for the radius")
def local_response_norm_of_wide_windows(x, size, alpha, beta, k):
    return ops.lrn(x, depth_radius=size, bias=k, alpha=alpha / size, beta=beta)


@mistake("dropout", "ops.dropout", "left in training")
def dropout_in_training(x, p, training):  # noqa: ARG001
    return ops.dropout(x, p, True, seed=1)


# Losses.


@mistake("mse_loss", "ops.mse_loss", "half the square, as of another framework")
def half_mse_loss(x, target, reduction):
    return 0.5 * ops.mse_loss(x, target, reduction)


@mistake("smooth_l1_loss", "ops.smooth_l1_loss", "the default beta of one")
def smooth_l1_loss_of_default_beta(x, target, reduction, beta):  # noqa: ARG001
    return ops.smooth_l1_loss(x, target, reduction=reduction)


@mistake("smooth_l1_loss", "ops.smooth_l1_loss", "not reduced, as is MindSpore's default")
def smooth_l1_loss_not_reduced(x, target, reduction, beta):  # noqa: ARG001
    return ops.smooth_l1_loss(x, target, beta)


@mistake("huber_loss", "ops.huber_loss", "the smooth L1 loss, which is divided by its bound")
def huber_loss_divided_by_delta(x, target, reduction, delta):
    return ops.smooth_l1_loss(x, target, delta, reduction)


@mistake("binary_cross_entropy_with_logits", "ops.binary_cross_entropy_with_logits", "no sigmoid")
def binary_cross_entropy_of_probabilities(x, target, weight=None, pos_weight=None, *, reduction):  # noqa: ARG001
    return ops.binary_cross_entropy(ops.clamp(x, 0.01, 0.99), target, weight, reduction)


@mistake(
    "binary_cross_entropy_with_logits",
    "ops.binary_cross_entropy_with_logits",
    "the weight of positives given as that of elements",
)
def binary_cross_entropy_weighted_at_large(x, target, weight=None, pos_weight=None, *, reduction):
    if pos_weight is not None:
        weight, pos_weight = pos_weight, weight
    return ops.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)


@mistake("cross_entropy", "ops.cross_entropy", "a weighted mean divided by the number of rows")
def cross_entropy_divided_by_rows(x, target, weight=None, *, reduction, **told):
    if reduction != "mean":
        return ops.cross_entropy(x, target, weight, reduction=reduction, **told)
    return ops.cross_entropy(x, target, weight, reduction="sum", **told) / target.size


@mistake("cross_entropy", "ops.cross_entropy", "an ignored label that counts")
def cross_entropy_that_ignores_none(x, target, weight=None, *, ignore_index, **told):  # noqa: ARG001
    return ops.cross_entropy(x, target, weight, **told)


@mistake("cross_entropy", "ops.cross_entropy", "softmax taken before the loss takes it again")
def cross_entropy_of_softmax(x, target, weight=None, **told):
    return ops.cross_entropy(ops.softmax(x, 1), target, weight, **told)


@mistake("cross_entropy", "ops.cross_entropy", "label smoothing lost")
def cross_entropy_unsmoothed(x, target, weight=None, *, label_smoothing, **told):  # noqa: ARG001
    return ops.cross_entropy(x, target, weight, **told)


@mistake("nll_loss", "ops.nll_loss", "logits taken for log-probabilities, or the other way round")
def nll_loss_of_log_softmax(x, target, weight=None, **told):
    return ops.cross_entropy(x, target, weight, **told)


@mistake("kl_div", "ops.kl_div", "prediction and target exchanged")
def kl_div_of_exchanged(x, target, reduction):
    return ops.kl_div(ops.log(target), ops.exp(x), reduction)


@mistake("kl_div", "ops.kl_div", "the mean over elements for that over the batch")
def kl_div_of_all_elements(x, target, reduction):
    return ops.kl_div(x, target, "mean" if reduction == "batchmean" else reduction)


@mistake("cosine_embedding_loss", "ops.cosine_embedding_loss", "the margin lost")
def cosine_embedding_loss_without_margin(x, y, target, margin, reduction):  # noqa: ARG001
    return ops.cosine_embedding_loss(x, y, target, reduction=reduction)


@mistake("margin_ranking_loss", "ops.margin_ranking_loss", "the order of the two exchanged")
def margin_ranking_loss_of_exchanged(x, y, target, margin, reduction):
    return ops.margin_ranking_loss(y, x, target.astype(x.dtype), margin, reduction)


@mistake(
    "triplet_margin_with_distance_loss",
    "nn.TripletMarginWithDistanceLoss",
    "positives and negatives exchanged",
)
def triplet_margin_loss_of_exchanged(anchor, positive, negative, **told):
    return nn.TripletMarginWithDistanceLoss(**told)(anchor, negative, positive)


@mistake("gaussian_nll_loss", "ops.gaussian_nll_loss", "the deviation for the variance")
def gaussian_nll_loss_of_deviations(x, target, var, full, reduction):
    return ops.gaussian_nll_loss(x, target, ops.sqrt(var), full, reduction=reduction)


@mistake("ctc_loss", "ops.ctc_loss", "the last class for the blank")
def ctc_loss_of_last_blank(log_probs, targets, input_lengths, target_lengths, **told):
    blank = log_probs.shape[2] - 1
    return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, **told)[0]
