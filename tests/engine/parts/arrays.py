"""Arrays and the judgement of one of them, shared by the tests of the norms and of the judge."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import judge

U = UNIT_ROUNDOFF["float32"]

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
FLOATING = st.sampled_from(("float16", "float32", "float64"))

# The squares of what float64 draws must themselves be float64.
WIDEST = {"float16": 65504.0, "float32": float(np.finfo("float32").max), "float64": 1e150}


def finite(dtype):
    """Finite numbers of a dtype, subnormal ones and both zeros included."""
    width = 8 * np.dtype(dtype).itemsize
    numbers = st.floats(-WIDEST[dtype], WIDEST[dtype], width=width)
    return numbers.filter(lambda x: x == 0.0 or abs(x) > 1e-150)


def floats(shape, dtype):
    """Arrays of finite numbers."""
    return hnp.arrays(dtype, shape, elements=finite(dtype))


@st.composite
def pairs(draw):
    """Two arrays of one shape and any strides, equal in some places."""
    shape, one, two = draw(SHAPES), draw(FLOATING), draw(FLOATING)
    a, b = draw(floats(shape, one)), draw(floats(shape, two))
    with np.errstate(over="ignore"):
        rounded = b.astype(one)
    a = np.where(draw(hnp.arrays(bool, shape)) & np.isfinite(rounded), rounded, a)
    return draw(restrided(a)), draw(restrided(b))


@st.composite
def restrided(draw, array):
    """The same values laid out otherwise in memory."""
    layout = draw(st.sampled_from(("C", "F", "reversed", "every other")))
    if layout == "reversed":
        return array[::-1].copy()[::-1] if array.ndim else array
    if layout == "every other":
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    return np.array(array, order=layout)


@st.composite
def whole_numbers(draw, min_size=2):
    """float64 arrays of whole numbers in [-1000, 1000], which float32 holds exactly."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    numbers = hnp.arrays(np.float64, shape, elements=st.integers(-1000, 1000).map(float))
    return draw(numbers.filter(lambda values: values.size >= min_size))


def gaussian(*shape, seed=0):
    """float64 values that float32 holds exactly."""
    rng = np.random.Generator(np.random.SFC64(seed))
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def verdict(truth, candidate, budget=BUDGET, unit_roundoff=U, **known):
    """The judgement of one tensor called `output.0`, expected in float32."""
    expected = {"output.0": Expected(np.asarray(truth), "float32", **known)}
    return judge(expected, {"output.0": candidate}, unit_roundoff, budget)


def single(values):
    return np.asarray(values, np.float32)
