"""The functions of torchvision's Swin transformers, which `torch.fx` does not look into."""

# ruff: noqa: ARG001 (the signatures are PyTorch's)

import math

from mindspore import ops


def pad(x, right, below):
    """batch, height, width, channels with zeros to the right and below."""
    if right + below == 0:
        return x
    return ops.pad(x, (0, 0, 0, right, 0, below))


def _patch_merging_pad(x):
    """Four neighbours side by side, the rows of a column first; without slices of every second
    one, whose gradient the CPU refuses in a large network."""
    x = pad(x, x.shape[2] % 2, x.shape[1] % 2)
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height // 2, 2, width // 2, 2, channels)
    return ops.permute(x, (0, 1, 3, 4, 2, 5)).reshape(batch, height // 2, width // 2, 4 * channels)


def _get_relative_position_bias(table, index, window_size):
    tokens = window_size[0] * window_size[1]
    bias = ops.gather(table, index, 0).reshape(tokens, tokens, -1)
    return ops.permute(bias, (2, 0, 1)).expand_dims(0)


def split(x, window_size):
    """batch, height, width, channels -> windows of all images, tokens of a window, channels."""
    batch, height, width, channels = x.shape
    rows, columns = height // window_size[0], width // window_size[1]
    x = x.reshape(batch, rows, window_size[0], columns, window_size[1], channels)
    return ops.permute(x, (0, 1, 3, 2, 4, 5)).reshape(
        batch * rows * columns, window_size[0] * window_size[1], channels
    )


def join(x, window_size, shape):
    """The inverse of `split`, for an image of that shape."""
    batch, height, width, channels = shape
    rows, columns = height // window_size[0], width // window_size[1]
    x = x.reshape(batch, rows, columns, window_size[0], window_size[1], channels)
    return ops.permute(x, (0, 1, 3, 2, 4, 5)).reshape(shape)


def roll(x, down, along):
    """The cyclic shift up and to the left; `roll` has no kernel on the CPU."""
    if 0 < down < x.shape[1]:
        x = ops.cat((x[:, down:], x[:, :down]), 1)
    if 0 < along < x.shape[2]:
        x = ops.cat((x[:, :, along:], x[:, :, :along]), 2)
    return x


def apart(height, width, window_size, shift_size):
    """-100 for two tokens of a window that the cyclic shift brought together, else 0."""
    rows, columns = ops.arange(height), ops.arange(width)
    row = (rows >= height - window_size[0]).int() + (rows >= height - shift_size[0]).int()
    column = (columns >= width - window_size[1]).int() + (columns >= width - shift_size[1]).int()
    # A shift of nothing has no third part.
    row, column = (row if shift_size[0] else row * 0), (column if shift_size[1] else column * 0)
    part = (3 * row.expand_dims(1) + column).reshape(1, height, width, 1)
    part = split(part, window_size).squeeze(-1)
    return -100.0 * (part.expand_dims(1) != part.expand_dims(2)).float()


def shifted_window_attention(
    x,
    qkv_weight,
    proj_weight,
    relative_position_bias,
    window_size,
    num_heads,
    shift_size,
    attention_dropout=0.0,
    dropout=0.0,
    qkv_bias=None,
    proj_bias=None,
    logit_scale=None,
    training=True,
):
    """Without dropout, which the networks of torchvision set to zero here."""
    batch, height, width, channels = x.shape
    right = (window_size[1] - width % window_size[1]) % window_size[1]
    below = (window_size[0] - height % window_size[0]) % window_size[0]
    x = pad(x, right, below)
    padded = (batch, height + below, width + right, channels)
    down = 0 if window_size[0] >= padded[1] else shift_size[0]
    along = 0 if window_size[1] >= padded[2] else shift_size[1]
    if down + along > 0:
        x = roll(x, down, along)
    x = split(x, window_size)
    windows, tokens, _ = x.shape

    if logit_scale is not None:
        third = qkv_bias.shape[0] // 3
        zeros = ops.zeros(third, qkv_bias.dtype)
        qkv_bias = ops.cat((qkv_bias[:third], zeros, qkv_bias[2 * third :]))
    qkv = ops.dense(x, qkv_weight, qkv_bias)
    qkv = qkv.reshape(windows, tokens, 3, num_heads, channels // num_heads)
    qkv = ops.permute(qkv, (2, 0, 3, 1, 4))
    query, key, value = qkv[0], qkv[1], qkv[2]
    if logit_scale is None:
        query = query * (channels // num_heads) ** -0.5
        scores = ops.matmul(query, key.swapaxes(-2, -1))
    else:
        scores = ops.matmul(normalized(query), normalized(key).swapaxes(-2, -1))
        scores = scores * ops.exp(ops.clamp(logit_scale, max=math.log(100.0)))
    scores = scores + relative_position_bias
    if down + along > 0:
        mask = apart(padded[1], padded[2], window_size, (down, along))
        scores = scores.reshape(-1, mask.shape[0], num_heads, tokens, tokens)
        scores = (scores + mask.expand_dims(1)).reshape(windows, num_heads, tokens, tokens)
    mixed = ops.matmul(ops.softmax(scores, -1), value)
    mixed = mixed.swapaxes(1, 2).reshape(windows, tokens, channels)
    x = join(ops.dense(mixed, proj_weight, proj_bias), window_size, padded)
    if down + along > 0:
        x = roll(x, padded[1] - down, padded[2] - along)
    return x[:, :height, :width, :]


def normalized(x):
    """Vectors of length one; a vector of zeros, as of padding, stays so, with a gradient."""
    return x / ops.sqrt(ops.clamp((x * x).sum(-1, keepdims=True), min=1e-24))
