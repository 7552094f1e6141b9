"""Stand-ins for elementwise functions, sums and products."""

import math

import mindspore as ms
from mindspore import ops

from equivalence.stand_ins.making import dtype_of, wide

ALL = (None, ())
"""How a primitive is told that all axes are meant."""


def axes(x, dim):
    """The axes that are meant, as a tuple of positions."""
    if dim in ALL:
        return tuple(range(x.ndim))
    if isinstance(dim, int):
        return (dim % x.ndim,)
    return tuple([each % x.ndim for each in dim])


def gelu(input, approximate="none"):
    """As `mint.nn.functional.gelu`."""
    return ops.cast(ops.gelu(wide(input), approximate), input.dtype)


def swiglu(x, dim=-1):
    """As `ops.swiglu`: the first half through SiLU, times the second."""
    first, second = ops.chunk(x, 2, dim)
    return ops.silu(first) * second


def cumsum(x, dim, dtype=None):
    """As `mint.cumsum`, which sums whole numbers in int64."""
    whole = x.dtype not in (ms.float16, ms.float32, ms.float64, ms.bfloat16)
    x = ops.cast(x, dtype_of(dtype, ms.int64 if whole else x.dtype))
    return x if x.size == 0 else ops.cumsum(x, dim)


def addmm(added, left, right, beta=1, alpha=1):
    """As `mint.addmm` and `mint.addmv`."""
    return _scaled(added, beta) + _scaled(ops.matmul(left, right), alpha)


def baddbmm(added, left, right, beta=1, alpha=1):
    """As `mint.baddbmm`."""
    return _scaled(added, beta) + _scaled(ops.bmm(left, right), alpha)


def addbmm(added, left, right, beta=1, alpha=1):
    """As `mint.addbmm`."""
    return _scaled(added, beta) + _scaled(ops.bmm(left, right).sum(0), alpha)


def _scaled(x, factor):
    return x if factor == 1 else x * factor


def dot(left, right):
    """As `mint.dot`."""
    return (left * right).sum()


def outer(left, right):
    """As `mint.outer`."""
    return ops.expand_dims(left, 1) * right


def matmul(left, right):
    """As `mint.mm` and `mint.mv`."""
    return ops.matmul(left, right)


def addcmul(x, left, right, value=1):
    """As `mint.addcmul`."""
    return x + _scaled(left * right, value)


def addcdiv(input, tensor1, tensor2, value=1):
    """As `mint.addcdiv`."""
    return input + _scaled(tensor1 / tensor2, value)


def divide(input, other, *, rounding_mode=None):
    """As `mint.div` by a number, rounded."""
    return ops.div(input, other, rounding_mode=rounding_mode)


def rounds_a_quotient(_dtype, other=None, *, rounding_mode=None):
    """Whether it is divided by a number and rounded, where a kernel is not made ready."""
    return rounding_mode is not None and isinstance(other, int | float)


def log(x):
    """As `mint.log` of bfloat16."""
    return ops.cast(ops.log(wide(x)), x.dtype)


def expm1(x):
    """As `mint.expm1` of bfloat16."""
    return ops.cast(ops.expm1(wide(x)), x.dtype)


def is_bfloat16(dtype, *_):
    """Whether it is the dtype of which a CPU has no kernel."""
    return dtype == ms.bfloat16


def log2(x):
    """As `mint.log2`."""
    return ops.log(x) / math.log(2.0)


def log10(x):
    """As `mint.log10`."""
    return ops.log(x) / math.log(10.0)


def exp2(x):
    """As `mint.exp2`."""
    return ops.pow(ops.fill(x.dtype, x.shape, 2), x)


def log_softmax(x, dim=-1, dtype=None):
    """As `mint.nn.functional.log_softmax`, which MindSpore's kernel on a CPU rounds coarsely."""
    x = ops.cast(x, dtype_of(dtype, x.dtype))
    full = wide(x)
    off = full - ops.stop_gradient(ops.amax(full, dim, True))
    return ops.cast(off - ops.log(ops.exp(off).sum(dim, keepdims=True)), x.dtype)


def log_sum_exp(x, dim, keepdim=False):
    """As `mint.logsumexp`."""
    return ops.logsumexp(x, axes(x, dim), keepdim)


def variance(x, dim=None, correction=1, keepdim=False):
    """As `mint.var`."""
    dtype, over = x.dtype, axes(x, dim)
    x, count = wide(x), 1
    for axis in over:
        count *= x.shape[axis]
    off = x - x.mean(over, True)
    spread = (off * off).sum(over, keepdims=keepdim) / (count - correction)
    return ops.cast(spread, dtype)


def deviation(x, dim=None, correction=1, keepdim=False):
    """As `mint.std`."""
    return ops.cast(ops.sqrt(variance(wide(x), dim, correction, keepdim)), x.dtype)


def variance_mean(x, dim=None, correction=1, keepdim=False):
    """As `mint.var_mean`."""
    return variance(x, dim, correction, keepdim), x.mean(axes(x, dim), keepdim)


def deviation_mean(x, dim=None, correction=1, keepdim=False):
    """As `mint.std_mean`."""
    return deviation(x, dim, correction, keepdim), x.mean(axes(x, dim), keepdim)


def vector_norm(x, order=2.0, dim=None, keepdim=False, dtype=None):
    """As `mint.linalg.vector_norm`."""
    x = ops.cast(x, dtype_of(dtype, x.dtype))
    over = axes(x, dim)
    sizes = ops.abs(x)
    if order == math.inf:
        return ops.amax(sizes, over, keepdim)
    if order == -math.inf:
        return ops.amin(sizes, over, keepdim)
    if order == 1:
        return sizes.sum(over, keepdims=keepdim)
    if order == 2:
        return ops.sqrt((x * x).sum(over, keepdims=keepdim))
    return ops.pow(ops.pow(sizes, order).sum(over, keepdims=keepdim), 1.0 / order)


def log_add_exp(left, right):
    """As `mint.logaddexp`."""
    larger = ops.maximum(left, right)
    return larger + ops.log1p(ops.exp(ops.minimum(left, right) - larger))


def log_add_exp2(left, right):
    """As `mint.logaddexp2`."""
    two = math.log(2.0)
    return log_add_exp(left * two, right * two) / two


def frac(x):
    """As `mint.frac`."""
    return x - ops.stop_gradient(ops.trunc(x))


def trace(x):
    """As `mint.trace`."""
    return ops.diagonal(x).sum()


def einsum(equation, *operands):
    """As `mint.einsum`, by products of two operands at a time, from the left."""
    given = operands[0] if isinstance(operands[0], list | tuple) else operands
    terms, out = _letters(equation.replace(" ", ""), [each.ndim for each in given])
    (left, x), rest = (terms[0], given[0]), list(zip(terms[1:], given[1:], strict=True))
    for at, (right, y) in enumerate(rest):
        needed = set(out).union(*terms[at + 2 :])
        left, x = _contracted(left, x, right, y, needed)
    gone = tuple(place for place, letter in enumerate(left) if letter not in out)
    x = x.sum(gone) if gone else x
    kept = [letter for letter in left if letter in out]
    return x.transpose(tuple(kept.index(letter) for letter in out)) if kept else x


def _letters(equation, ranks):
    """The letters of each operand and of the result; those of an ellipsis are capitals of Greek."""
    told, _, out = equation.partition("->")
    terms = told.split(",")
    free = "ΑΒΓΔΕΖΗΘ"
    spread = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    widest = max([n for n, term in zip(spread, terms, strict=True) if "..." in term], default=0)
    full = [
        term.replace("...", free[widest - n : widest])
        for n, term in zip(spread, terms, strict=True)
    ]
    if "->" not in equation:
        every = "".join(full)
        once = sorted(c for c in set(every) if every.count(c) == 1 and c not in free)
        out = free[:widest] + "".join(once)
    if any(len(set(term)) < len(term) for term in full):
        raise NotImplementedError(f"no stand-in for a diagonal in einsum: {equation}")
    return full, out.replace("...", free[:widest])


def _contracted(left, x, right, y, needed):
    """The product of two operands, summed over the letters that nothing else needs."""
    both = [c for c in left if c in right]
    batch = [c for c in both if c in needed]
    summed = [c for c in both if c not in needed]
    rows, columns = [c for c in left if c not in both], [c for c in right if c not in both]
    sizes = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))

    def arranged(letters, tensor, order, groups):
        tensor = tensor.transpose(tuple(letters.index(c) for c in order))
        return tensor.reshape(tuple(math.prod(sizes[c] for c in group) for group in groups))

    first = arranged(left, x, batch + rows + summed, (batch, rows, summed))
    second = arranged(right, y, batch + summed + columns, (batch, summed, columns))
    order = batch + rows + columns
    product = ops.bmm(first, second).reshape(tuple(sizes[c] for c in order))
    return "".join(order), product
