"""Convolutions, poolings, resizing, norms and losses of MindSpore under PyTorch's arguments."""

import mindspore as ms
from mindspore import Tensor, mint, nn, ops


def each(value: int | tuple[int, ...], rank: int) -> tuple[int, ...]:
    """One number for every axis."""
    return value if isinstance(value, tuple) else (value,) * rank


def twice(padding: int | tuple[int, ...], rank: int) -> tuple[int, ...]:
    """PyTorch's padding, one number for an axis, as one for each of its two ends."""
    widths = ()
    for width in each(padding, rank):
        widths = (*widths, width, width)
    return widths


def conv1d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return ops.conv1d(x, weight, bias, stride, "pad", padding, dilation, groups)


def conv2d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return ops.conv2d(x, weight, bias, stride, "pad", each(padding, 2), dilation, groups)


def conv3d(x, weight, bias=None, *, stride, padding, dilation, groups):
    return ops.conv3d(x, weight, bias, stride, "pad", each(padding, 3), dilation, groups)


def conv_transpose2d(x, weight, bias=None, *, stride, padding, dilation, groups, output_padding):
    """What `nn.Conv2dTranspose` does; the padding of the output lies at the far ends.

    There bias and zeros are padded, here what the kernel reaches: the size asked for is larger.
    """
    batch, _, *sides = x.shape
    kernel = weight.shape[2:]
    stride, dilation, rows = each(stride, 2), each(dilation, 2), each(padding, 2)
    extra = each(output_padding, 2)
    size = [
        (side - 1) * stride[i] - 2 * rows[i] + dilation[i] * (kernel[i] - 1) + extra[i] + 1
        for i, side in enumerate(sides)
    ]
    transpose = ops.Conv2DTranspose(
        out_channel=x.shape[1],
        kernel_size=kernel,
        mode=1,
        pad_mode="pad",
        pad=twice(padding, 2),
        stride=stride,
        dilation=dilation,
        group=groups,
    )
    result = transpose(x, weight, (batch, weight.shape[1] * groups, *size))
    return result if bias is None else ops.bias_add(result, bias)


def conv_transpose1d(x, weight, bias=None, *, stride, padding, dilation, groups, output_padding):
    result = conv_transpose2d(
        x.expand_dims(2),
        weight.expand_dims(2),
        bias,
        stride=(1, stride),
        padding=(0, padding),
        dilation=(1, dilation),
        groups=groups,
        output_padding=(0, output_padding),
    )
    return result.squeeze(2)


def conv_transpose3d(x, weight, bias=None, *, stride, padding, dilation, groups, output_padding):
    result = ops.conv3d_transpose(
        x, weight, "pad", twice(padding, 3), stride, dilation, groups, output_padding
    )
    return result if bias is None else result + bias.reshape((1, -1, 1, 1, 1))


class MaxPool1d(nn.MaxPool1d):
    """Pads by number; moves by the kernel's size unless told."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


class MaxPool2d(nn.MaxPool2d):
    """As `MaxPool1d`."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


class MaxPool3d(nn.MaxPool3d):
    """As `MaxPool1d`."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


class AvgPool1d(nn.AvgPool1d):
    """As `MaxPool1d`."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


class AvgPool2d(nn.AvgPool2d):
    """As `MaxPool1d`."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


class AvgPool3d(nn.AvgPool3d):
    """As `MaxPool1d`."""

    def __init__(self, kernel_size, stride=None, **told):
        super().__init__(kernel_size, stride or kernel_size, pad_mode="pad", **told)


def avg_pool1d(x, kernel_size, stride=None, **told):
    return ops.avg_pool1d(x, kernel_size, stride or kernel_size, **told)


def avg_pool2d(x, kernel_size, stride=None, divisor_override=None, **told):
    return ops.avg_pool2d(
        x, kernel_size, stride or kernel_size, divisor_override=divisor_override or 0, **told
    )


def avg_pool3d(x, kernel_size, stride=None, divisor_override=None, **told):
    return ops.avg_pool3d(
        x, kernel_size, stride or kernel_size, divisor_override=divisor_override or 0, **told
    )


def _named_after_its_mode(cell):
    """The padding cell, built with what `torch.nn.functional.pad` is told."""

    def build(self, pad, mode, value=None):  # noqa: ARG001
        cell.__init__(self, pad, *([] if value is None else [value]))

    return type(cell.__name__, (cell,), {"__init__": build})


ConstantPad1d = _named_after_its_mode(nn.ConstantPad1d)
ConstantPad2d = _named_after_its_mode(nn.ConstantPad2d)
ConstantPad3d = _named_after_its_mode(nn.ConstantPad3d)
ReflectionPad1d = _named_after_its_mode(nn.ReflectionPad1d)
ReflectionPad2d = _named_after_its_mode(nn.ReflectionPad2d)
ReflectionPad3d = _named_after_its_mode(nn.ReflectionPad3d)
ReplicationPad1d = _named_after_its_mode(nn.ReplicationPad1d)
ReplicationPad2d = _named_after_its_mode(nn.ReplicationPad2d)
ReplicationPad3d = _named_after_its_mode(nn.ReplicationPad3d)
ZeroPad2d = _named_after_its_mode(nn.ZeroPad2d)


def fold(x, output_size, **told):
    """MindSpore's size is a tensor."""
    return ops.fold(x, Tensor(output_size, ms.int32), **told)


def batch_norm(x, mean, variance, weight=None, bias=None, *, training, eps):
    """Scales and offsets of one and zero where there are none."""
    weight = ops.ones_like(mean) if weight is None else weight
    bias = ops.zeros_like(mean) if bias is None else bias
    return ops.batch_norm(x, mean, variance, weight, bias, training, eps=eps)


def instance_norm(x, _mean, _variance, weight=None, bias=None, *, eps):
    """A group norm of one channel a group."""
    return ops.group_norm(x, x.shape[1], weight, bias, eps)


def local_response_norm(x, size, alpha, beta, k):
    """MindSpore's radius is to either side, and its alpha is not divided by the size."""
    return ops.lrn(x, depth_radius=size // 2, bias=k, alpha=alpha / size, beta=beta)


def layer_norm(x, weight=None, bias=None, *, normalized_shape, eps):
    """By the operator that `nn.LayerNorm` is made of."""
    weight = ops.ones(normalized_shape, x.dtype) if weight is None else weight
    bias = ops.zeros(normalized_shape, x.dtype) if bias is None else bias
    axis = len(x.shape) - len(normalized_shape)
    return ops.LayerNorm(axis, axis, eps)(x, weight, bias)[0]


def binary_cross_entropy_with_logits(x, target, weight=None, pos_weight=None, *, reduction):
    return mint.nn.functional.binary_cross_entropy_with_logits(
        x, target, weight, reduction, pos_weight
    )


def hinge_embedding_loss(x, target, margin, reduction):
    """Labels are floats, here and in the next."""
    return ops.hinge_embedding_loss(x, target.astype(x.dtype), margin, reduction)


def margin_ranking_loss(x, y, target, margin, reduction):
    return ops.margin_ranking_loss(x, y, target.astype(x.dtype), margin, reduction)


class _FloatLabels(nn.Cell):
    def __init__(self, loss):
        super().__init__()
        self.loss = loss

    def construct(self, *inputs):
        return self.loss(*inputs[:-1], inputs[-1].astype(inputs[0].dtype))


class HingeEmbeddingLoss(_FloatLabels):
    """Labels are floats, here and in the next."""

    def __init__(self, margin, reduction):
        super().__init__(nn.HingeEmbeddingLoss(margin, reduction))


class MarginRankingLoss(_FloatLabels):
    def __init__(self, margin, reduction):
        super().__init__(nn.MarginRankingLoss(margin, reduction))


def _distance(x, y):
    """torch's, which adds an epsilon; MindSpore's own default does not."""
    return ops.norm(x - y + 1e-6, dim=-1)


class TripletMarginWithDistanceLoss(nn.Cell):
    def __init__(self, margin, swap, reduction):
        super().__init__()
        self.loss = nn.TripletMarginWithDistanceLoss(_distance, swap, reduction, margin)

    def construct(self, anchor, positive, negative):
        return self.loss(anchor, positive, negative)


class MultiMarginLoss(nn.Cell):
    """Labels are int64."""

    def __init__(self, p, margin, reduction):
        super().__init__()
        self.loss = nn.MultiMarginLoss(p, float(margin), reduction)

    def construct(self, x, target):
        return self.loss(x, target.astype(ms.int64))


def multi_margin_loss(x, target, p, margin, reduction):
    """Labels are int64."""
    return ops.multi_margin_loss(x, target.astype(ms.int64), p, margin, reduction=reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, **told):
    return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, **told)[0]
