"""Norms of activations, and dropout that draws nothing."""

import functools
import math

from hypothesis import strategies as st

from equivalence.declare.difference import Limit
from equivalence.declare.draws import normal, ties, uniform
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import SIDE, arguments, shape, values
from tests.twins.operators.spaces_functional import affine, batch

LIMITS["one_number"] = lambda example: math.prod(example.inputs[0].shape[1:]) == 1

SHIFTED = functools.partial(normal, shift=0.5)
SINGLE = ("float32",)
"""Where PyTorch's CPU kernels have no half precision."""

OF_MS = "ms_models.functional:"
F = "torch.nn.functional."

RESPONSE = {"alpha": (1e-4, 1.0), "beta": (0.75, 0.5)}
VOLUMES = {"volumes": "maps of three axes are refused"}
EPSILONS = [1e-5, 1e-3, 0.1]


def _normed(trained: bool | None):
    """Maps, statistics, perhaps scales and offsets; trained: whether the maps' own count."""

    def space(draw, without):
        rank = draw(st.sampled_from([2, 1, 3, 0]))
        if trained is None:
            rank = max(rank, 1)
        rows, planes = draw(st.integers(2, 4)), draw(st.integers(1, 9))
        sides = [draw(st.integers(3, SIDE)) for _ in range(rank)]
        made = [values(draw, without, SHIFTED, normal)(rows, planes, *sides)]
        made.append(normal(planes).constant())
        made.append(uniform(planes, low=0.01, high=1.5).constant())
        affine(draw, made, (planes,), both=True)
        told = {"eps": draw(st.sampled_from(EPSILONS))}
        if trained is not None:
            told["training"] = trained
        return made, told

    return space


def _layer_norm(biased: bool):
    def space(draw, without):
        sizes = (*shape(draw, without | {"empty"}, low=0, high=3), draw(st.integers(3, SIDE)))
        start = draw(st.integers(0, len(sizes) - 1))
        made = [SHIFTED(*sizes)]
        if biased:
            affine(draw, made, sizes[start:])
        elif draw(st.booleans()):
            made.append(normal(*sizes[start:]))
        return made, {"normalized_shape": sizes[start:], "eps": draw(st.sampled_from(EPSILONS))}

    return space


def _group_norm(draw, without):
    groups = draw(st.integers(1, 3))
    planes = groups * draw(st.integers(1, 4))
    sides = [draw(st.integers(3, SIDE)) for _ in range(draw(st.integers(1, 3)))]
    made = [values(draw, without, SHIFTED, normal)(draw(st.integers(1, 3)), planes, *sides)]
    affine(draw, made, (planes,))
    return made, {"num_groups": groups, "eps": draw(st.sampled_from(EPSILONS))}


def _local_response(draw, _):
    sides = [draw(st.integers(1, SIDE)) for _ in range(2)]
    made = normal(draw(st.integers(1, 2)), draw(st.integers(1, 8)), *sides, scale=2.0)
    told = {"size": [1, 3, 5], "alpha": [1e-4, 0.5], "beta": [0.75, 0.5], "k": [1.0, 2.0]}
    return [made], arguments(draw, told)


def _unchanged(draw, without):
    made = values(draw, without, normal, ties)(*shape(draw, without))
    return [made], {"p": draw(st.sampled_from([0.0, 0.3, 0.5])), "training": False}


def _unchanged_maps(rank: int):
    def space(draw, without):
        sizes = (batch(draw, without), *(draw(st.integers(1, SIDE)) for _ in range(rank + 1)))
        return [normal(*sizes)], {"p": draw(st.sampled_from([0.0, 0.3])), "training": False}

    return space


OPERATORS = (
    Operator(
        F + "batch_norm",
        _normed(False),
        to("ops.batch_norm", through=OF_MS + "batch_norm", without=VOLUMES),
    ),
    Operator(
        F + "batch_norm",
        _normed(True),
        to("ops.batch_norm", through=OF_MS + "batch_norm", without=VOLUMES),
        name="batch_norm_training",
    ),
    Operator(
        F + "instance_norm",
        _normed(None),
        to("ops.group_norm", through=OF_MS + "instance_norm"),
    ),
    Operator(
        F + "layer_norm",
        _layer_norm(True),
        to("ops.LayerNorm", through=OF_MS + "layer_norm"),
    ),
    Operator(
        F + "group_norm",
        _group_norm,
        to("ops.group_norm"),
        to("mint.nn.functional.group_norm"),
    ),
    Operator(
        F + "local_response_norm",
        _local_response,
        to(
            "ops.lrn",
            through=OF_MS + "local_response_norm",
            without={"one_number": Limit("is refused", "<2.9")},
            defaults=RESPONSE,
        ),
        dtypes=SINGLE,
    ),
    Operator(
        F + "dropout",
        _unchanged,
        to("ops.dropout"),
        to("mint.nn.functional.dropout"),
    ),
    *(
        Operator(F + f"dropout{rank}d", _unchanged_maps(rank), to(f"ops.dropout{rank}d"))
        for rank in (1, 2, 3)
    ),
)
