"""Operators that join, cut and choose parts."""

import itertools
import math

import hypothesis
from hypothesis import strategies as st

from equivalence.declare.difference import Difference
from equivalence.declare.draws import normal, ties
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import REAL, along, axis, shape, values
from tests.twins.operators.spaces_shapes import (
    MOST_PARTS,
    MOVED,
    NOTHING_LEFT,
    UNWRITTEN,
    basic_index,
    filled,
    sections,
    several,
    shaped,
    short,
    side_by_side,
    slice_of,
    split_by,
    stacked,
)


def _cut(draw, sizes):
    dim = axis(draw, len(sizes))
    return {**sections(draw, sizes[dim]), "dim": dim}


def _cut_along(place: int):
    def choose(draw, sizes):
        return sections_of(draw, sizes[place if len(sizes) > 1 else 0])

    return choose


def sections_of(draw, size):
    """As `sections`, in equal parts only."""
    if draw(st.booleans()):
        return {"sections": draw(st.sampled_from([n for n in range(1, 7) if size % n == 0]))}
    told = sections(draw, size)
    return told if "indices" in told else {"indices": (size // 2,)}


def _narrowed(draw, sizes):
    dim = axis(draw, len(sizes))
    return {"dim": dim, **slice_of(draw, sizes[dim])}


def _selected(draw, without):
    sizes = shape(draw, without | {"scalar", "empty"})
    dim = axis(draw, len(sizes))
    index = draw(st.integers(-sizes[dim], sizes[dim] - 1))
    return [values(draw, without, *MOVED)(*sizes)], {"dim": dim, "index": index}


ALL_PAIRED = 70_000
"""Elements of a product of vectors: two long ones."""


def _vectors(number: int | None, *kinds):
    def space(draw, without):
        kind = values(draw, without, *kinds or REAL)
        sizes = [shape(draw, without, 1, 1) for _ in range(number or draw(st.integers(1, 4)))]
        hypothesis.assume(math.prod(itertools.chain(*sizes)) <= ALL_PAIRED)
        return [kind(*each) for each in sizes], {}

    return space


def _few(draw, without):
    count = draw(st.integers(0, 6))
    told = {"r": draw(st.integers(1, 3)), "with_replacement": draw(st.booleans())}
    return [values(draw, without, *MOVED)(count)], told


def _grid(draw, without):
    made, _ = _vectors(None, *MOVED)(draw, without)
    return made[:3], {"indexing": draw(st.sampled_from(["ij", "xy"]))}


def _blocks(draw, without):
    kind = values(draw, without, *REAL)
    return [kind(*shape(draw, without, 1, 2)) for _ in range(draw(st.integers(1, 3)))], {}


def _scattered_slice(draw, without):
    sizes = list(shape(draw, without | {"scalar", "empty"}, 1, 3))
    dim = axis(draw, len(sizes))
    index = draw(st.integers(0, sizes[dim] - 1))
    kind = values(draw, without, *MOVED)
    rest = [side for place, side in enumerate(sizes) if place != dim % len(sizes)]
    return [kind(*sizes), kind(*rest)], {"dim": dim, "index": index}


def _scattered_slices(draw, without):
    sizes = list(shape(draw, without | {"scalar", "empty"}, 1, 3))
    dim = axis(draw, len(sizes))
    start = draw(st.integers(0, sizes[dim] - 1))
    end, step = draw(st.integers(start + 1, sizes[dim])), draw(st.integers(1, 3))
    kind = values(draw, without, *MOVED)
    part = [*sizes]
    part[dim] = len(range(start, end, step))
    return [kind(*sizes), kind(*part)], {"dim": dim, "start": start, "end": end, "step": step}


LIMITS["too_few"] = lambda example: (
    example.inputs[0].shape[0]
    < (1 if example.arguments["with_replacement"] else example.arguments["r"])
)

OWN = "ms_models.indexing:"
UNSLICED = {"empty": "the gradient of a slice of nothing is refused"}
ONE_PART = {
    "chunk(normal(0, 3), dim=0, chunks=2)": Difference(
        "of an axis of size zero comes one part", {"output.1": "the candidate does not have it"}
    ),
}
CUT = {"sections": "indices_or_sections", "indices": "indices_or_sections"}

OPERATORS = (
    Operator(
        "torch.cat",
        several(),
        to("ops.cat", dim="axis"),
        to("ops.concat", dim="axis"),
        to("mint.cat"),
        to("mint.concat"),
        packed=True,
    ),
    Operator("torch.stack", stacked(), to("ops.stack", dim="axis", without=UNWRITTEN), packed=True),
    Operator("torch.hstack", side_by_side(1, 0), to("ops.hstack"), to("mint.hstack"), packed=True),
    Operator("torch.vstack", side_by_side(0), to("ops.vstack"), packed=True),
    Operator("torch.dstack", side_by_side(2), to("ops.dstack"), to("mint.dstack"), packed=True),
    Operator("torch.column_stack", side_by_side(1), to("ops.column_stack"), packed=True),
    Operator(
        "torch.split",
        shaped(split_by, low=1),
        to("ops.split", dim="axis", without={"nothing_left": NOTHING_LEFT, **UNSLICED}),
        to("mint.split", without={"empty": "an axis of size zero is refused"}),
    ),
    Operator(
        "torch.tensor_split",
        shaped(_cut, low=1),
        to("ops.tensor_split", dim="axis", without=UNSLICED, **CUT),
    ),
    Operator(
        "torch.hsplit",
        shaped(_cut_along(1), low=1),
        to(
            "ops.hsplit",
            without={"vector": "wants two axes", **UNWRITTEN},
            **CUT,
        ),
    ),
    Operator(
        "torch.dsplit",
        shaped(_cut_along(2), low=3),
        to("ops.dsplit", without=UNWRITTEN, **CUT),
    ),
    Operator(
        "torch.vsplit",
        shaped(_cut_along(0), low=2),
        to("ops.vsplit", without=UNWRITTEN, **CUT),
    ),
    Operator(
        "torch.chunk",
        along(*MOVED, chunks=st.integers(1, 5)),
        to("ops.chunk", dim="axis", without=UNSLICED, differs=ONE_PART),
        to("mint.chunk"),
    ),
    Operator(
        "torch.unbind",
        short(filled(along(*MOVED)), MOST_PARTS),
        to("ops.unbind"),
        to("ops.unstack", dim="axis"),
    ),
    Operator(
        "torch.narrow",
        shaped(_narrowed, low=1),
        to(
            "ops.narrow",
            dim="axis",
            without={
                "nothing_left": "a length of zero is refused",
                "empty": "the gradient is refused now and then",
            },
        ),
        to("mint.narrow"),
    ),
    Operator("torch.select", _selected, to("ops.gather", through=OWN + "select")),
    Operator(
        "torch.Tensor.__getitem__",
        shaped(basic_index, low=1),
        to(
            "Tensor.__getitem__",
            through=OWN + "getitem",
            without={
                "nothing_left": NOTHING_LEFT,
                "strided_axis": "the gradient of a step beyond the first axis leaves its memory",
            },
        ),
        name="getitem",
    ),
    Operator(
        "torch.meshgrid",
        _grid,
        to("ops.meshgrid", without=UNWRITTEN, defaults={"indexing": ("ij", "xy")}),
        to("mint.meshgrid", without=UNWRITTEN),
    ),
    Operator("torch.outer", filled(_vectors(2, normal, ties)), to("ops.outer")),
    Operator("torch.ger", filled(_vectors(2, normal, ties)), to("ops.ger")),
    Operator("torch.block_diag", _blocks, to("ops.block_diag", without=UNWRITTEN)),
    Operator(
        "torch.cartesian_prod",
        _vectors(None, *MOVED),
        to(
            "ops.cartesian_prod",
            without={"one_input": "a single vector gets a second axis", **UNWRITTEN},
        ),
    ),
    Operator(
        "torch.combinations",
        _few,
        to("ops.combinations", without={"too_few": "have one axis"}),
    ),
    Operator("torch.select_scatter", _scattered_slice, to("ops.select_scatter", dim="axis")),
    Operator(
        "torch.slice_scatter",
        _scattered_slices,
        to("ops.slice_scatter", dim="axis"),
        to("Tensor.__setitem__", through="ms_models.assignment:of_slice"),
    ),
)
