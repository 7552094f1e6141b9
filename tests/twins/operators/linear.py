"""Products of vectors and matrices, attention, norms and distances."""

import math

import hypothesis
from hypothesis import strategies as st

from equivalence.declare.difference import Difference, Limit, Raised
from equivalence.declare.draws import normal, ties
from equivalence.declare.operator import LIMITS, Example, Operator, to
from equivalence.declare.spaces import Values, arguments, axis, reduction, shape, unary, values
from tests.twins.operators.elementwise import constant
from tests.twins.operators.spaces_shapes import filled

FACTORS = (normal, ties)
"""Elements of a product: moderate numbers; whole ones, whose products are exact."""

ROWS = 1600
"""Of so many the gradient of a bias, which MindSpore's dense adds one by one, is accurate."""


def _wider_stack(example: Example) -> bool:
    """Whether the operand of fewer axes is widened along one that it has."""
    low, high = sorted((draw.shape for draw in example.inputs), key=len)
    pairs = zip(reversed(low[:-2]), reversed(high[:-2]), strict=False)
    return len(low) < len(high) and any(one == 1 < other for one, other in pairs)


LIMITS["wider_stack"] = _wider_stack
LIMITS["thin_stack"] = lambda example: (
    any(1 in draw.shape[-2:] for draw in example.inputs)
    and any(len(draw.shape) > 2 for draw in example.inputs)
)
LIMITS["one_by_one"] = lambda example: example.inputs[0].shape[-1] == 1
LIMITS["half_cubes"] = lambda example: example.dtype == "float16" and example.arguments["ord"] == 3
LIMITS["half_vectors_of_two"] = lambda example: (
    example.dtype == "float16" and example.inputs[0].shape[example.arguments["dim"]] == 2
)
LIMITS["large_eps"] = lambda example: example.arguments["eps"] > 1e-6


def _side(draw, without):
    """A size of an axis, seldom zero."""
    return draw(st.sampled_from([1, 2, 3, 4, 5, 6, 33, *([] if "empty" in without else [0])]))


def _sized(pattern: str, **given):
    """Inputs of the shapes that letters give, as in "ij,jk"."""

    def space(draw, without):
        kind = values(draw, without, *FACTORS)
        sizes: dict[str, int] = {}
        made = []
        for letters in pattern.split(","):
            for letter in letters:
                if letter not in sizes:
                    sizes[letter] = _side(draw, without)
            made.append(kind(*(sizes[letter] for letter in letters)))
        return made, arguments(draw, given)

    return space


def _thinned(draw, sizes):
    """Some leading axes taken away, some of size one."""
    kept = sizes[draw(st.integers(0, len(sizes))) :]
    return tuple(1 if draw(st.integers(0, 3)) == 3 else side for side in kept)


def _matmul(draw, without):
    kind = values(draw, without, *FACTORS)
    batch = shape(draw, without, 0, 2)
    i, j, k = (_side(draw, without) for _ in range(3))
    one, two = (*_thinned(draw, batch), i, j), (*_thinned(draw, batch), j, k)
    form = draw(st.integers(0, 5))
    one, two = ((j,) if form in (0, 1) else one), ((j,) if form in (1, 2) else two)
    return [kind(*one), kind(*two)], {}


def _added(pattern: str):
    """What a product is added to broadcasts with it; `beta` and `alpha` weigh them."""

    def space(draw, without):
        inputs, told = _sized(pattern, beta=[1, 0.5, -2], alpha=[1, 0.25, 2])(draw, without)
        first = inputs[0]
        kept = _thinned(draw, first.shape)
        return [normal(*kept), *inputs[1:]], told

    return space


EQUATIONS = {
    "ij,jk->ik": "ij,jk",
    "bij,bjk->bik": "bij,bjk",
    "bhid,bhjd->bhij": "bhid,bhjd",
    "nchw,oc->nohw": "nchw,oc",
}


def _einsum(draw, without):
    equation = draw(st.sampled_from(list(EQUATIONS)))
    inputs, _ = _sized(EQUATIONS[equation])(draw, without)
    return inputs, {"equation": equation}


def _tensordot(draw, without):
    kind = values(draw, without, *FACTORS)
    shared = shape(draw, without, 1, 2)
    one, two = shape(draw, without, 0, 2), shape(draw, without, 0, 2)
    if draw(st.booleans()):
        return [kind(*one, *shared), kind(*shared, *two)], {"dims": len(shared)}
    dims = (tuple(range(len(shared))), tuple(range(len(two), len(two) + len(shared))))
    return [kind(*shared, *one), kind(*two, *shared)], {"dims": dims}


def _linear(draw, without):
    kind = values(draw, without, *FACTORS)
    batch = shape(draw, without, 0, 3)
    hypothesis.assume(math.prod(batch) <= ROWS)
    into, out = _side(draw, without), _side(draw, without)
    inputs = [kind(*batch, into), kind(out, into)]
    if draw(st.booleans()):
        inputs.append(kind(out))
    return inputs, {}


def _bilinear(draw, without):
    kind = values(draw, without, *FACTORS)
    batch = shape(draw, without, 1, 2)
    one, two, out = (_side(draw, without) for _ in range(3))
    inputs = [kind(*batch, one), kind(*batch, two), kind(out, one, two)]
    if draw(st.booleans()):
        inputs.append(kind(out))
    return inputs, {}


def _inner(draw, without):
    kind = values(draw, without, *FACTORS)
    last = _side(draw, without)
    return [kind(*shape(draw, without, 0, 2), last) for _ in range(2)], {}


def square(*kinds: Values, **given):
    """A matrix, or a batch of them, that is far from singular."""

    def space(draw, without):
        size = draw(st.integers(1, 5))
        kind = values(draw, without, *kinds or (normal,))
        return [kind(*shape(draw, without, 0, 2), size, size)], arguments(draw, given)

    return space


def _pairs(draw, without, low=1):
    kind = values(draw, without, normal, ties)
    sizes = shape(draw, without | {"empty"}, low, 3)
    return [normal(*sizes), kind(*sizes)]


def _similar(draw, without):
    inputs = _pairs(draw, without)
    dim = axis(draw, len(inputs[0].shape))
    hypothesis.assume(inputs[0].shape[dim] != 1)  # the cosine of two numbers is a sign
    return inputs, {"dim": dim, "eps": draw(st.sampled_from([1e-8, 0.5]))}


def _paired(draw, without):
    inputs = _pairs(draw, without)
    told = {"p": draw(st.sampled_from([1.0, 2.0, 3.0])), "keepdim": draw(st.booleans())}
    return inputs, {**told, "eps": draw(st.sampled_from([1e-6, 0.25]))}


def _cdist(draw, without):
    batch = shape(draw, without | {"empty"}, 0, 1)
    p, r, m = (draw(st.integers(1, 5)) for _ in range(3))
    told = {"p": draw(st.sampled_from([1.0, 2.0, 3.0]))}
    return [normal(*batch, p, m), normal(*batch, r, m)], told


def _attention(draw, without):  # noqa: ARG001
    batch, heads, width = (draw(st.integers(1, 4)) for _ in range(3))
    queries, keys = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    inputs = [normal(batch, heads, queries, width)]
    inputs += [normal(batch, heads, keys, width), normal(batch, heads, keys, width)]
    if draw(st.booleans()):
        return inputs, {"is_causal": True}
    if draw(st.booleans()):
        inputs.append(normal(queries, keys))
    return inputs, {"is_causal": False}


def _normalized(draw, without):
    sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
    told = {"p": draw(st.sampled_from([1.0, 2.0, 3.0])), "dim": axis(draw, len(sizes))}
    # One number becomes its sign, whose gradient is rounding alone.
    hypothesis.assume(sizes[told["dim"]] > 1)
    return [normal(*sizes)], {**told, "eps": draw(st.sampled_from([1e-12, 0.5]))}


def _renormed(draw, without):
    sizes = shape(draw, without, 2)
    told = {"p": draw(st.integers(1, 3)), "maxnorm": draw(st.sampled_from([0.5, 3.0]))}
    return [normal(*sizes)], {"dim": axis(draw, len(sizes)), **told}


OWN = "ms_models.indexing:"

NOTHING = {"empty": "unwritten products of nothing"}
NO_NORM = {"empty": "unwritten norms of nothing"}
THIN = {"thin_stack": "the gradient mixes up the axes of a stack and of one row or column"}
WIDER = {"wider_stack": "the gradient of the lower stack is refused"}
OUTER = {
    "matmul(normal(2, 1), normal(1, 1, 3))": Difference(
        "the gradient of an outer product of stacks is refused",
        Raised("RuntimeError", "shape1[-1] must be equal to shape2[-2]"),
    ),
}
NOT_ONE = {"one_by_one": "a matrix of one element is refused"}
VANISHING = {
    "vector_norm[float16](normal(15, 1, scale=0.2), dim=1, keepdim=False, ord=3)": Difference(
        "cubes of small numbers vanish in float16",
        {"gradient:input[0]": "not finite where the truth is"},
    ),
}
SINGLE = ("float32",)

OPERATORS = (
    Operator(
        "torch.matmul",
        _matmul,
        to("ops.matmul", without={**NOTHING, **THIN, **WIDER}, differs=OUTER),
        to("mint.matmul", without={**NOTHING, **THIN, **WIDER}, differs=OUTER),
    ),
    Operator("torch.mm", _sized("ij,jk"), to("ops.mm", without=NOTHING)),
    Operator(
        "torch.bmm",
        _sized("bij,bjk"),
        to("ops.bmm", without=NOTHING),
        to("mint.bmm", without=NOTHING),
        to("ops.BatchMatMul", without=NOTHING),
    ),
    Operator("torch.addmm", _added("ik,ij,jk"), to("ops.addmm", without=NOTHING)),
    Operator("torch.baddbmm", _added("bik,bij,bjk"), to("ops.baddbmm", without=NOTHING)),
    Operator("torch.addbmm", _added("ik,bij,bjk"), to("ops.addbmm", without=NOTHING)),
    Operator("torch.addmv", _added("i,ij,j"), to("ops.addmv", without=NOTHING)),
    Operator("torch.addr", _added("ij,i,j"), to("ops.addr", without=NOTHING)),
    Operator("torch.mv", _sized("ij,j"), to("ops.mv", without=NOTHING)),
    Operator("torch.dot", filled(_sized("i,i")), to("ops.tensor_dot", through=OWN + "dot")),
    Operator(
        "torch.linalg.vecdot",
        _sized("bij,bij", dim=[-1, 0, 1]),
        to("ops.vecdot", dim="axis", without=NOTHING),
    ),
    Operator(
        "torch.einsum",
        _einsum,
        to("ops.matmul", through=OWN + "einsum_by_matmul", without={**NOTHING, **THIN}),
    ),
    Operator("torch.tensordot", _tensordot, to("ops.tensor_dot", dims="axes", without=NOTHING)),
    Operator("torch.inner", _inner, to("ops.inner", without=NOTHING)),
    Operator(
        "torch.nn.functional.linear",
        _linear,
        to("ops.dense", without=NOTHING),
        to("mint.nn.functional.linear", without=NOTHING),
    ),
    Operator("torch.nn.functional.bilinear", _bilinear, to("ops.bidense", without=NOTHING)),
    Operator(
        "torch.nn.functional.scaled_dot_product_attention",
        _attention,
        to("ops.softmax", through=OWN + "attention", without=THIN),
        name="attention",
    ),
    Operator("torch.trace", unary(*FACTORS, low=2, high=2), to("ops.trace")),
    Operator("torch.linalg.inv", square(), to("ops.inverse", without=NOT_ONE), dtypes=SINGLE),
    Operator(
        "torch.linalg.det",
        square(normal, constant(normal)),
        to("ops.det", without={**NOT_ONE, "gradient": "loses digits near a singular matrix"}),
        dtypes=SINGLE,
    ),
    Operator("torch.linalg.slogdet", square(), to("ops.slogdet", without=NOT_ONE), dtypes=SINGLE),
    Operator(
        "torch.linalg.matrix_power",
        square(n=[0, 1, 2, 3, -1]),
        to("ops.matrix_power"),
        dtypes=SINGLE,
    ),
    Operator(
        "torch.linalg.norm",
        reduction(normal, several=False, ord=[None, 1, 2, 3]),
        to("ops.norm", without=NO_NORM),
    ),
    Operator(
        "torch.linalg.vector_norm",
        reduction(normal, ord=[1, 2, 3]),
        to(
            "ops.vector_norm",
            dim="axis",
            keepdim="keepdims",
            without={"half_cubes": "cubes are float16", **NO_NORM},
            differs=VANISHING,
        ),
    ),
    Operator(
        "torch.linalg.matrix_norm",
        unary(normal, low=2, high=3, ord=["fro", 1, -1], keepdim=[False, True]),
        to("ops.matrix_norm", keepdim="keepdims", without={"empty": "gives NaN"}),
        dtypes=SINGLE,
    ),
    Operator("torch.cdist", _cdist, to("ops.cdist"), to("mint.cdist"), dtypes=SINGLE),
    Operator(
        "torch.pdist",
        filled(unary(normal, low=2, high=2, p=[1.0, 2.0, 3.0])),  # torch crashes without rows
        to("ops.pdist"),
        dtypes=SINGLE,
    ),
    Operator("torch.renorm", _renormed, to("ops.renorm", dim="axis", without={"empty": "crashes"})),
    Operator(
        "torch.nn.functional.cosine_similarity",
        _similar,
        to(
            "ops.cosine_similarity",
            without={
                "large_eps": "holds up the product of the norms, not each",
                "ties": "a vector of zeros has a gradient of NaN",
                "half_vectors_of_two": "a gradient is infinite where a vector is short",
            },
            differs={
                (
                    "cosine_similarity[float16]"
                    "(normal(2, 100_000), normal(2, 100_000), dim=0, eps=1e-08)"
                ): Difference(
                    "the gradient of short vectors is infinite in float16",
                    {"gradient:input[*]": "not finite where the truth is"},
                ),
            },
        ),
    ),
    Operator(
        "torch.nn.functional.pairwise_distance",
        _paired,
        to("ops.norm", through=OWN + "pairwise_distance"),
    ),
    Operator(
        "torch.nn.functional.normalize",
        _normalized,
        to("ops.norm", through=OWN + "normalize", defaults={"dim": (1, None)}),
    ),
    Operator(
        "torch.cov",
        unary(normal, low=1, high=2, correction=[0, 1]),
        to("ops.cov", without={"empty": Limit("is refused", "<2.9")}),
        dtypes=SINGLE,
    ),
)
