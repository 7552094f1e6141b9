"""Stand-ins for norms, convolutions, poolings, dropout and losses."""

import mindspore as ms
from mindspore import ops

from equivalence.stand_ins.making import per_axis, strides, wide

REDUCTIONS = ("sum", "mean", "none")
"""How a primitive numbers reductions."""

FAR = 20.0
"""Beyond it exp(-x) is small enough for log(1 + exp(-x)) to be exp(-x)."""


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    """As `mint.nn.functional.layer_norm`, with the mean and the inverse deviation."""
    full = wide(x)
    over = tuple(range(x.ndim - len(shape), x.ndim))
    mean = full.mean(over, True)
    off = full - mean
    inverse = ops.rsqrt((off * off).mean(over, True) + eps)
    out = _affine(off * inverse, weight, bias)
    return ops.cast(out, x.dtype), mean, inverse


def _affine(x, weight, bias):
    if weight is not None:
        x = x * wide(weight)
    return x if bias is None else x + wide(bias)


def rms_norm(x, gamma, eps=1e-6):
    """As `ops.rms_norm`: the result, and the inverse of the root."""
    full = wide(x)
    over = tuple(range(x.ndim - gamma.ndim, x.ndim))
    inverse = ops.rsqrt((full * full).mean(over, True) + eps)
    return ops.cast(full * inverse * wide(gamma), x.dtype), inverse


def add_rms_norm(left, right, gamma, eps=1e-6):
    """As `ops.add_rms_norm`: the result, the inverse of the root, and the sum."""
    added = left + right
    out, inverse = rms_norm(added, gamma, eps)
    return out, inverse, added


def batch_norm(x, weight, bias, mean, variance, training=False, momentum=0.1, eps=1e-5):
    """As `mint.nn.functional.batch_norm`; in training it moves the running statistics."""
    full = wide(x)
    over = (0, *range(2, x.ndim))
    shape = (1, x.shape[1], *[1] * (x.ndim - 2))
    if training or mean is None:
        own = full.mean(over)
        off = full - own.reshape(shape)
        spread = (off * off).mean(over)
        if mean is not None:
            count = x.size // x.shape[1]
            unbiased = spread * (count / (count - 1))
            ops.assign(mean, mean + momentum * (ops.stop_gradient(own) - mean))
            ops.assign(variance, variance + momentum * (ops.stop_gradient(unbiased) - variance))
    else:
        own, spread = wide(mean), wide(variance)
        off = full - own.reshape(shape)
    inverse = ops.rsqrt(spread + eps)
    out = off * inverse.reshape(shape)
    if weight is not None:
        out = out * wide(weight).reshape(shape)
    if bias is not None:
        out = out + wide(bias).reshape(shape)
    return ops.cast(out, x.dtype), own, inverse


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `mint.nn.functional.conv2d`, maps without a batch too."""
    mode, around = (padding, 0) if isinstance(padding, str) else ("pad", per_axis(padding, 2))
    alone = input.ndim == 3
    if alone:
        input = ops.expand_dims(input, 0)
    out = ops.conv2d(
        input, weight, bias, per_axis(stride, 2), mode, around, per_axis(dilation, 2), groups
    )
    return ops.squeeze(out, 0) if alone else out


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `mint.nn.functional.conv1d`: a map of one row."""
    flat, kernel = ops.expand_dims(input, -2), ops.expand_dims(weight, 2)
    sizes = (
        (1, *per_axis(stride, 1)),
        padding if isinstance(padding, str) else (0, *per_axis(padding, 1)),
        (1, *per_axis(dilation, 1)),
    )
    return ops.squeeze(conv2d(flat, kernel, bias, *sizes, groups), -2)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """As `mint.nn.functional.conv3d`."""
    mode, around = (padding, 0) if isinstance(padding, str) else ("pad", per_axis(padding, 3))
    return ops.conv3d(input, weight, bias, stride, mode, around, dilation, groups)


def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """As `mint.nn.functional.conv_transpose2d`, maps without a batch too."""
    alone = input.ndim == 3
    if alone:
        input = ops.expand_dims(input, 0)
    stride, padding, dilation = per_axis(stride, 2), per_axis(padding, 2), per_axis(dilation, 2)
    kernel, extra = weight.shape[2:], per_axis(output_padding, 2)
    size = [
        (input.shape[2 + i] - 1) * stride[i]
        - 2 * padding[i]
        + dilation[i] * (kernel[i] - 1)
        + extra[i]
        + 1
        for i in range(2)
    ]
    transpose = ops.Conv2DTranspose(
        out_channel=input.shape[1],
        kernel_size=kernel,
        pad_mode="pad",
        pad=(padding[0], padding[0], padding[1], padding[1]),
        stride=stride,
        dilation=dilation,
        group=groups,
    )
    out = transpose(input, weight, (input.shape[0], weight.shape[1] * groups, *size))
    out = out if bias is None else ops.bias_add(out, bias)
    return ops.squeeze(out, 0) if alone else out


def max_pool2d(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False, _places=False):
    """As `mint.nn.functional.max_pool2d`: the largest values, and where they are."""
    stride = strides(stride, kernel, 2)
    return ops.max_pool2d(
        x, per_axis(kernel, 2), stride, per_axis(padding, 2), per_axis(dilation, 2), True, ceil_mode
    )


def avg_pool2d(x, kernel, stride=None, padding=0, ceil_mode=False, counted=True, divisor=None):
    """As `mint.nn.functional.avg_pool2d`."""
    stride = strides(stride, kernel, 2)
    up, left = per_axis(padding, 2)
    around = (up, up, left, left)
    return ops.avg_pool2d(x, per_axis(kernel, 2), stride, around, ceil_mode, counted, divisor or 0)


def adaptive_avg_pool2d(x, size):
    """As `mint.nn.functional.adaptive_avg_pool2d`."""
    return ops.adaptive_avg_pool2d(x, size if isinstance(size, int) else tuple(size))


def dropout2d(x, p=0.5, training=True, _inplace=False, _seed=None, _offset=None):
    """As `mint.nn.functional.dropout2d`: whole channels."""
    if not training or p == 0:
        return x * 1
    shape = (*x.shape[:2], *[1] * (x.ndim - 2))
    return x * dropout(ops.ones(shape, x.dtype), p)


def dropout(x, p=0.5, training=True, _inplace=False, _seed=None, _offset=None):
    """As `mint.nn.functional.dropout`."""
    if not training or p == 0:
        return x * 1
    stays = ops.cast(ops.rand(x.shape) >= p, x.dtype)
    return x * stays * (1.0 / (1.0 - p)) if p < 1 else x * 0


def elu(x, alpha=1.0):
    """As `mint.nn.functional.elu`, in float64.

    The gradient of `ops.expm1` is its result and 1, of which few digits are left far below zero.
    """
    full = ops.cast(wide(x), ms.float64)
    below = ops.where(full > 0, ops.fill(full.dtype, x.shape, 0), full)
    return ops.cast(ops.where(full > 0, full, alpha * ops.expm1(below)), x.dtype)


def leaky_relu(x, slope=0.01):
    """As `mint.nn.functional.leaky_relu`."""
    return ops.where(x > 0, x, x * slope)


def selu(x):
    """As `mint.nn.functional.selu`."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def log_sigmoid(x):
    """As `mint.nn.functional.logsigmoid`, with the part that its own gradient would use."""
    full = wide(x)
    far = full < -FAR
    low = ops.where(far, full, ops.fill(full.dtype, x.shape, -FAR))
    near = ops.where(far, ops.fill(full.dtype, x.shape, 0), full)
    out = ops.where(far, low - ops.exp(low), -_log1p(ops.exp(-near)))
    return ops.cast(out, x.dtype), ops.exp(-ops.abs(x))


def _log1p(x):
    """log(1 + x) of what is above zero; the CPU's own kernel loses a small x in the sum."""
    small = ops.where(x < 1, x, ops.fill(x.dtype, x.shape, 0))
    return ops.where(x < 1, 2 * ops.atanh(small / (2 + small)), ops.log1p(x))


def softplus(x, beta=1, threshold=20):
    """As `mint.nn.functional.softplus`, whose gradient has no kernel."""
    full = wide(x)
    near = -log_sigmoid(full * -beta)[0] / beta
    return ops.cast(ops.where(full * beta > threshold, full, near), x.dtype)


def mish(x):
    """As `mint.nn.functional.mish`."""
    full = wide(x)
    return ops.cast(full * ops.tanh(-log_sigmoid(-full)[0]), x.dtype)


def threshold(x, limit, value):
    """As `mint.nn.functional.threshold`."""
    return ops.where(x <= limit, ops.fill(x.dtype, x.shape, value), x)


def hardtanh(x, low=-1.0, high=1.0):
    """As `mint.nn.functional.hardtanh`: at its bounds the gradient is zero."""
    bounded = ops.where(x <= low, ops.fill(x.dtype, x.shape, low), x)
    return ops.where(x >= high, ops.fill(x.dtype, x.shape, high), bounded)


def reduced(loss, reduction):
    """A loss by element, summed or averaged."""
    told = REDUCTIONS[reduction] if isinstance(reduction, int) else reduction
    if told == "none":
        return loss
    return loss.sum() if told == "sum" else loss.mean()


def mse_loss(x, target, reduction="mean"):
    """As `mint.nn.functional.mse_loss`."""
    off = x - target
    return reduced(off * off, reduction)


def l1_loss(x, target, reduction="mean"):
    """As `mint.nn.functional.l1_loss`."""
    return reduced(ops.abs(x - target), reduction)


def nll_loss2d(x, target, weight, reduction="mean", ignored=-100):
    """As `mint.nn.functional.nll_loss` of maps: the loss, and the sum of the weights in it."""
    counts = target != ignored
    places = ops.expand_dims(ops.where(counts, target, target * 0), 1)
    picked = ops.squeeze(ops.gather_elements(x, 1, places), 1)
    weights = ops.gather(weight, ops.squeeze(places, 1), 0) * ops.cast(counts, weight.dtype)
    losses = ops.where(counts, -picked * weights, ops.fill(x.dtype, target.shape, 0))
    total = weights.sum()
    told = REDUCTIONS[reduction] if isinstance(reduction, int) else reduction
    return (losses.sum() / total if told == "mean" else reduced(losses, told)), total


def kl_div(x, target, reduction="mean", log_target=False):
    """As `mint.nn.functional.kl_div`."""
    if log_target:
        return reduced(ops.exp(target) * (target - x), reduction)
    some = target > 0
    safe = ops.where(some, target, ops.fill(target.dtype, target.shape, 1))
    return reduced(ops.where(some, safe * ops.log(safe), target * 0) - target * x, reduction)


def soft_margin_loss(x, target, reduction="mean"):
    """As `mint.nn.functional.soft_margin_loss`."""
    return reduced(-log_sigmoid(x * target)[0], reduction)


def cosine_embedding_loss(left, right, target, margin=0.0, reduction="mean"):
    """As `mint.nn.functional.cosine_embedding_loss`."""
    products = [(a * b).sum(-1) for a, b in ((left, right), (left, left), (right, right))]
    tiny = 1e-12
    cosine = products[0] / ops.sqrt((products[1] + tiny) * (products[2] + tiny))
    zeros = ops.fill(cosine.dtype, cosine.shape, 0)
    apart = ops.where(cosine > margin, cosine - margin, zeros)
    losses = ops.where(target == 1, 1 - cosine, zeros) + ops.where(target == -1, apart, zeros)
    return reduced(losses, reduction)
