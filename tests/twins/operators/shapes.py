"""Operators that move and repeat elements."""

from hypothesis import strategies as st

from equivalence.declare.difference import Limit
from equivalence.declare.draws import normal, ties
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import REAL, axes, axis, binary, shape, unary, values
from tests.twins.operators.spaces_shapes import (
    MOVED,
    NOTHING_LEFT,
    UNWRITTEN,
    reshaped,
    shaped,
    target,
    two_axes,
)


def _two_dims(draw, sizes):
    one, two = axis(draw, len(sizes)), axis(draw, len(sizes))
    return {"dim0": one, "dim1": two}


def _swapped(draw, sizes):
    one, two = axis(draw, len(sizes)), axis(draw, len(sizes))
    return {"axis0": one, "axis1": two}


def _moved(draw, sizes):
    source = axes(draw, len(sizes))
    goal = draw(st.permutations(range(len(sizes))))[: len(source)]
    return {"source": source, "destination": tuple(goal)}


def _permutation(draw, sizes):
    return {"dims": axes(draw, len(sizes), least=len(sizes))}


def _start_end(draw, sizes):
    start, end = sorted(
        (draw(st.integers(0, len(sizes) - 1)), draw(st.integers(0, len(sizes) - 1)))
    )
    return {"start_dim": start, "end_dim": end - len(sizes) if draw(st.booleans()) else end}


def _unflattened(draw, sizes):
    dim = axis(draw, len(sizes))
    size = sizes[dim]
    factor = draw(st.sampled_from([f for f in range(1, 7) if size % f == 0]))
    pair = (factor, size // factor)
    if size and draw(st.booleans()):
        pair = (-1, size // factor)
    return {"dim": dim, "sizes": pair}


def _squeezed(draw, without):
    sizes = list(shape(draw, without | {"scalar"}))
    for place in range(len(sizes)):
        if draw(st.booleans()):
            sizes[place] = 1
    told = {"dim": axis(draw, len(sizes))} if draw(st.booleans()) else {}
    return [values(draw, without, *MOVED)(*sizes)], told


def _new_axis(draw, sizes):
    return {"dim": axis(draw, len(sizes) + 1)}


def _expanded(name: str, keep: bool):
    def choose(draw, sizes):
        return {name: target(draw, sizes, keep)}

    return choose


def _with_like(draw, without):
    sizes = shape(draw, without)
    kind = values(draw, without, *MOVED)
    goal = reshaped(draw, sizes)
    if -1 in goal:
        goal = tuple(draw(st.permutations(sizes)))
    return [kind(*sizes), normal(*goal).constant()], {}


def _expanded_like(draw, without):
    sizes = shape(draw, without, high=3)
    return [
        values(draw, without, *MOVED)(*sizes),
        normal(*target(draw, sizes, False)).constant(),
    ], {}


def _times(name: str, fewer: bool):
    """So many copies along each axis, and along new axes; with `fewer` not of every axis."""

    def choose(draw, sizes):
        low = 0 if fewer else len(sizes)
        times = draw(st.lists(st.integers(1, 3), min_size=low, max_size=len(sizes) + 1))
        return {name: tuple(times)}

    return choose


def _interleaved(draw, sizes):
    told = {"repeats": draw(st.integers(1, 3))}
    return {**told, "dim": axis(draw, len(sizes))} if sizes and draw(st.booleans()) else told


def _turned(draw, sizes):
    return {"k": draw(st.integers(-5, 5)), "dims": two_axes(draw, len(sizes))}


def _two_of_them(draw, sizes):
    one, two = two_axes(draw, len(sizes))
    return {"offset": draw(st.integers(-3, 3)), "dim1": one, "dim2": two}


def _scattered_diagonal(draw, without):
    sizes = shape(draw, without | {"empty"}, 2, 2)
    kind = values(draw, without, *MOVED)
    offset = draw(st.integers(1 - sizes[0], sizes[1] - 1))
    length = min(sizes[0] + min(offset, 0), sizes[1] - max(offset, 0))
    return [kind(*sizes), kind(length)], {"offset": offset}


def _differences(draw, sizes):
    return {"n": draw(st.integers(1, 2)), "dim": axis(draw, len(sizes))}


def _embedded(draw, sizes):
    one, two = two_axes(draw, len(sizes) + 1)
    return {"offset": draw(st.integers(-3, 3)), "dim1": one, "dim2": two}


def _crossed(draw, without):
    sizes = list(shape(draw, without | {"scalar"}, 1, 3))
    dim = axis(draw, len(sizes))
    sizes[dim] = 3
    kind = values(draw, without, normal, ties)
    return [kind(*sizes), kind(*sizes)], {"dim": dim}


NO_BOOLEANS = "booleans are refused"
LIMITS["differences_again"] = lambda example: example.arguments["n"] > 1
LIMITS["no_difference"] = lambda example: (
    0 in example.inputs[0].shape
    or example.inputs[0].shape[example.arguments["dim"]] <= example.arguments["n"]
)

UNCOMPILED = {"graph": "has no kernel"}
FLIPPED = {"empty": "crashes now and then: a division by zero"}
TILED = {"empty": "an axis of size zero is refused now and then"}

LIMITS["empty_inferred"] = lambda example: (
    0 in example.inputs[0].shape and -1 in example.arguments["sizes"]
)

OPERATORS = (
    Operator(
        "torch.reshape",
        shaped(lambda draw, sizes: {"shape": reshaped(draw, sizes)}),
        to("ops.reshape"),
        to("mint.reshape"),
    ),
    Operator(
        "torch.Tensor.view",
        shaped(lambda draw, sizes: {"size": reshaped(draw, sizes)}),
        to("Tensor.view"),
    ),
    Operator("torch.Tensor.view_as", _with_like, to("ops.view_as"), to("Tensor.view_as")),
    Operator("torch.Tensor.reshape_as", _with_like, to("Tensor.reshape_as")),
    Operator(
        "torch.permute",
        shaped(_permutation, low=1),
        to("ops.permute", dims="axis"),
        to("ops.transpose"),
        to("mint.permute"),
    ),
    Operator(
        "torch.transpose",
        shaped(_two_dims, low=1),
        to("mint.transpose", without={"graph": Limit("no kernel", "<2.8")}),
        to("ops.swapaxes", dim0="axis0", dim1="axis1"),
        to("ops.swapdims"),
    ),
    Operator("torch.swapaxes", shaped(_swapped, low=1), to("ops.swapaxes"), to("mint.swapaxes")),
    Operator("torch.movedim", shaped(_moved, low=1), to("ops.movedim"), to("ops.moveaxis")),
    Operator("torch.t", unary(*MOVED, high=2), to("ops.t"), to("mint.t", without=UNCOMPILED)),
    Operator(
        "torch.flatten",
        shaped(_start_end, low=1),
        to("ops.flatten", defaults={"start_dim": (0, 1)}),
        to("mint.flatten"),
        to("nn.Flatten", defaults={"start_dim": (0, 1)}),
    ),
    Operator("torch.ravel", unary(*MOVED), to("ops.ravel"), to("mint.ravel")),
    Operator(
        "torch.unflatten",
        shaped(_unflattened, low=1),
        to(
            "nn.Unflatten",
            without={"empty_inferred": "the size is inferred as zero"},
            dim="axis",
            sizes="unflattened_size",
        ),
    ),
    Operator(
        "torch.squeeze",
        _squeezed,
        to("ops.squeeze", dim="axis"),
        to("mint.squeeze", without={"every_axis": "the axis has no default"}),
    ),
    Operator(
        "torch.unsqueeze",
        shaped(_new_axis),
        to("ops.unsqueeze"),
        to("ops.expand_dims", dim="axis"),
        to("mint.unsqueeze"),
    ),
    Operator(
        "torch.Tensor.expand",
        shaped(_expanded("size", True), high=3),
        to("Tensor.expand", without=UNCOMPILED),
        to("ops.broadcast_to", size="shape"),
    ),
    Operator(
        "torch.broadcast_to",
        shaped(_expanded("size", False), high=3),
        to("ops.broadcast_to", size="shape"),
        to("mint.broadcast_to", size="shape"),
    ),
    Operator(
        "torch.Tensor.expand_as",
        _expanded_like,
        to("ops.expand_as", without=UNCOMPILED),
        to("Tensor.expand_as"),
    ),
    Operator(
        "torch.Tensor.repeat",
        shaped(_times("repeats", False), high=3),
        to("ops.tile", repeats="dims", without=TILED),
        to("mint.tile", repeats="dims", without=TILED),
    ),
    Operator(
        "torch.tile",
        shaped(_times("dims", True), high=3),
        to("ops.tile", without=TILED),
        to("mint.tile", without=TILED),
    ),
    Operator(
        "torch.repeat_interleave",
        shaped(_interleaved),
        to(
            "ops.repeat_interleave",
            dim="axis",
            without={"booleans": NO_BOOLEANS, **TILED},
        ),
    ),
    Operator(
        "torch.flip",
        shaped(lambda draw, sizes: {"dims": axes(draw, len(sizes))}, low=1),
        to("ops.flip", without=FLIPPED),
        to("mint.flip", without=FLIPPED),
    ),
    Operator(
        "torch.fliplr",
        unary(*MOVED, low=2),
        to("ops.fliplr", without=FLIPPED),
    ),
    Operator("torch.flipud", unary(*MOVED, low=1), to("ops.flipud", without=FLIPPED)),
    Operator("torch.rot90", shaped(_turned, low=2), to("ops.rot90", without=FLIPPED)),
    Operator(
        "torch.tril",
        unary(*MOVED, low=2, diagonal=st.integers(-4, 4)),
        to("ops.tril", without={"empty": "an empty matrix is refused"}),
    ),
    Operator(
        "torch.triu",
        unary(*MOVED, low=2, diagonal=st.integers(-4, 4)),
        to("ops.triu"),
        to("mint.triu"),
    ),
    Operator(
        "torch.diagonal",
        shaped(_two_of_them, low=2),
        to("ops.diagonal", without={**UNWRITTEN, "off_the_matrix": NOTHING_LEFT}),
    ),
    Operator(
        "torch.diag_embed",
        shaped(_embedded, low=1, high=3),
        to("ops.diag_embed", without={"booleans": NO_BOOLEANS, "empty": "no element is refused"}),
    ),
    Operator(
        "torch.diagflat",
        unary(*MOVED, high=2, offset=st.integers(-3, 3)),
        to("ops.diagflat", without={"booleans": NO_BOOLEANS}),
    ),
    Operator(
        "torch.diag",
        unary(*MOVED, low=1, high=1),
        to("ops.diag", without={"booleans": NO_BOOLEANS}),
    ),
    Operator(
        "torch.diagonal_scatter",
        _scattered_diagonal,
        to("ops.diagonal_scatter", without={"booleans": NO_BOOLEANS}),
    ),
    Operator(
        "torch.diff",
        shaped(_differences, *REAL, low=1),
        to(
            "ops.diff",
            dim="axis",
            without={
                "no_difference": "is refused",
                "differences_again": "differences of differences are refused",
            },
        ),
    ),
    Operator("torch.zeros_like", unary(*MOVED), to("ops.zeros_like")),
    Operator("torch.ones_like", unary(*MOVED), to("ops.ones_like")),
    Operator("torch.full_like", unary(*REAL, fill_value=[0, 1.5, -2.0]), to("ops.full_like")),
    Operator(
        "torch.Tensor.new_zeros", unary(*MOVED, size=[(2, 3), (1,), (4, 0)]), to("Tensor.new_zeros")
    ),
    Operator("torch.cross", _crossed, to("ops.cross"), to("mint.cross")),
    Operator("torch.kron", binary((normal, ties)), to("ops.kron", without=UNWRITTEN)),
    Operator("torch.atleast_1d", unary(*MOVED), to("ops.atleast_1d")),
    Operator("torch.atleast_2d", unary(*MOVED), to("ops.atleast_2d")),
    Operator("torch.atleast_3d", unary(*MOVED), to("ops.atleast_3d")),
)
