"""Stand-ins for the fused operators of transformers."""

import mindspore as ms
from mindspore import ops

from equivalence.stand_ins.making import HALF, repeat_interleave

LAYOUTS = ("BSH", "BNSD", "SBH", "BSND", "TND")
"""How a primitive numbers layouts."""

LEFT_UP, RIGHT_DOWN = 2, 3
"""Sparse modes with a causal mask, from the first or from the last place."""


def rotary(x, cos, sin, mode=0):
    """As `ops.rotary_position_embedding`: mode 0 turns halves, mode 1 neighbours."""
    if mode == 0:
        first, second = ops.chunk(x, 2, -1)
        turned = ops.cat((-second, first), -1)
    else:
        pairs = x.reshape((*x.shape[:-1], x.shape[-1] // 2, 2))
        turned = ops.stack((-pairs[..., 1], pairs[..., 0]), -1).reshape(x.shape)
    return x * cos + turned * sin


def flash_attention(
    query,
    key,
    value,
    real_shift=None,
    drop_mask=None,
    padding_mask=None,
    attn_mask=None,
    prefix=None,
    actual_seq_qlen=None,
    actual_seq_kvlen=None,
    head_num=1,
    keep_prob=1.0,
    scale_value=1.0,
    pre_tokens=2147483647,  # noqa: ARG001
    next_tokens=2147483647,  # noqa: ARG001
    inner_precise=0,  # noqa: ARG001
    input_layout="BSH",
    sparse_mode=0,
):
    """As `ops.flash_attention_score`: of each row the largest and the sum; nothing; the result.

    It has no dropout, no prefix, no packed sequences and no band of tokens.
    """
    layout = LAYOUTS[input_layout] if isinstance(input_layout, int) else input_layout
    lacking = drop_mask is not None or padding_mask is not None or prefix is not None
    packed = actual_seq_qlen is not None or actual_seq_kvlen is not None or layout == "TND"
    if lacking or packed or keep_prob < 1 or sparse_mode > RIGHT_DOWN:
        raise NotImplementedError(
            "no stand-in for flash_attention_score with dropout, a prefix, packed sequences or a "
            "band"
        )
    dtype = query.dtype
    queries = _heads(query, layout, head_num)
    width = queries.shape[-1]
    keys = _heads_of(key, layout, width)
    values = _heads_of(value, layout, width)
    repeats = queries.shape[1] // keys.shape[1]
    if repeats > 1:  # a head of keys serves several queries
        keys, values = repeat_interleave(keys, repeats, 1), repeat_interleave(values, repeats, 1)
    scores = ops.matmul(queries, keys.swapaxes(-1, -2)) * scale_value
    if real_shift is not None:
        scores = scores + real_shift
    scores = ops.cast(scores, ms.float32) if dtype in HALF else scores
    hidden = _hidden(attn_mask, sparse_mode, queries.shape[2], keys.shape[2])
    if hidden is not None:
        scores = ops.masked_fill(scores, hidden, -1e30)
    largest = ops.stop_gradient(ops.amax(scores, -1, True))
    total = ops.stop_gradient(ops.exp(scores - largest).sum(-1, keepdims=True))
    weights = ops.cast(ops.softmax(scores, -1), dtype)
    attended = _joined(ops.matmul(weights, values), layout)
    return _eightfold(largest), _eightfold(total), ops.zeros((1,), dtype), attended


def _eightfold(x):
    """What the operator keeps of a row, as often as it keeps it."""
    return ops.broadcast_to(x, (*x.shape[:-1], 8))


def _hidden(mask, sparse_mode, rows, columns):
    """Where nothing may be read, or None: a causal mask is told once, for all lengths."""
    if sparse_mode in (LEFT_UP, RIGHT_DOWN):
        shift = columns - rows if sparse_mode == RIGHT_DOWN else 0
        places = ops.expand_dims(ops.range(0, rows, 1), 1) + shift
        return places < ops.range(0, columns, 1)
    return None if mask is None else ops.cast(mask, ms.bool_)


def _heads(x, layout, count):
    """A tensor of any layout as (batch, heads, places, width)."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.swapaxes(1, 2)
    if layout == "SBH":
        x = x.swapaxes(0, 1)
    batch, places, width = x.shape
    return x.reshape((batch, places, count, width // count)).swapaxes(1, 2)


def _heads_of(x, layout, width):
    """As `_heads`, where the width of a head is known."""
    return _heads(x, layout, x.shape[-1] // width)


def _joined(x, layout):
    """The result in the layout of the queries."""
    if layout == "BNSD":
        return x
    x = x.swapaxes(1, 2)
    if layout == "BSND":
        return x
    batch, places, heads, width = x.shape
    x = x.reshape((batch, places, heads * width))
    return x.swapaxes(0, 1) if layout == "SBH" else x
