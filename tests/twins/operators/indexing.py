"""Operators that look up, scatter, mask, sort, search and count."""

from hypothesis import strategies as st

from equivalence.declare.draws import booleans, distinct, integers, normal, ties, whole
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import arguments, shape, unary, values
from tests.twins.operators.elementwise import TO_NOTHING, widened
from tests.twins.operators.spaces_indexing import (
    added,
    best,
    chosen,
    counted,
    embedded,
    flat,
    gathered,
    gathered_alike,
    in_buckets,
    mask_of,
    masked,
    put,
    ranked,
    scattered,
)
from tests.twins.operators.spaces_shapes import filled


def _hot(draw, without):
    classes = draw(st.integers(1, 9))
    return [integers(*shape(draw, without, 0, 3), high=classes)], {"num_classes": classes}


def _unique(*kinds, **flags):
    def space(draw, without):
        sizes = shape(draw, without, 0, 3)
        return [values(draw, without, *kinds)(*sizes).constant()], arguments(draw, flags)

    return space


def _histogram(draw, without):
    kind = values(draw, without, normal, ties)
    low, high = draw(st.sampled_from([(-4, 4), (0, 2), (-2, 6), (0, 0)]))
    bins = draw(st.sampled_from([1, 2, 4, 8]))
    return [kind(*shape(draw, without, 1, 2)).constant()], {"bins": bins, "min": low, "max": high}


OWN = "ms_models.indexing:"

LIMITS["widened_by_mask"] = lambda example: (
    0 < len(example.inputs[1].shape) < len(example.inputs[0].shape) and widened(example)
)
LIMITS["as_tuple"] = lambda example: bool(example.arguments.get("as_tuple"))
LIMITS["negative_index"] = lambda example: example.inputs[1].options["low"] < 0
LIMITS["rows"] = lambda example: len(example.inputs) - 2 < len(example.inputs[0].shape)
LIMITS["padding"] = lambda example: "padding_idx" in example.arguments

RANKED = {"empty": "is refused"}
WIDENED = {"widened_by_mask": "the gradient is refused", **TO_NOTHING}

NO_WHOLE = {"whole": "int64 is refused"}
NOTHING = {"empty": "no index at all: the gradient is refused"}
NO_AXIS = {"scalar": "a 0-d input is refused"}

OPERATORS = (
    Operator("torch.gather", gathered, to("ops.gather_elements"), to("mint.gather")),
    Operator(
        "torch.take_along_dim",
        gathered_alike,
        to("numpy.take_along_axis", dim="axis"),
        to("ops.gather_d", through=OWN + "gather_d"),
    ),
    Operator(
        "torch.index_select",
        chosen(0),
        to("ops.index_select", dim="axis", without=NOTHING),
        to("ops.gather", dim="axis", without=NOTHING),
    ),
    Operator(
        "torch.take",
        flat,
        to(
            "ops.gather",
            through=OWN + "take",
            without={"negative_index": "gives zeros", **NOTHING},
        ),
    ),
    Operator(
        "torch.masked_select",
        masked(),
        to("ops.masked_select", without=WIDENED),
        to("mint.masked_select", without=WIDENED),
    ),
    Operator("torch.masked_scatter", mask_of(True), to("Tensor.masked_scatter")),
    Operator(
        "torch.nonzero",
        unary(ties, whole, booleans, as_tuple=[False, True]),
        to("ops.nonzero", without=NO_AXIS),
        to("mint.nonzero", without=NO_AXIS),
    ),
    Operator("torch.argwhere", unary(ties, whole, booleans), to("ops.argwhere", without=NO_AXIS)),
    Operator(
        "torch.scatter",
        scattered(False),
        to("ops.tensor_scatter_elements", dim="axis"),
    ),
    Operator(
        "torch.scatter_add",
        scattered(True),
        to("ops.tensor_scatter_elements", through=OWN + "scatter_add"),
    ),
    Operator(
        "torch.index_add",
        added,
        to("ops.index_add", dim="axis", without=NO_WHOLE),
        to("mint.index_add", without={**NO_WHOLE, "graph": "has no kernel"}),
    ),
    Operator("torch.index_fill", chosen(1, value=[0, 2.0, -7]), to("ops.index_fill", dim="axis")),
    Operator(
        "torch.index_put",
        put,
        to(
            "Tensor.index_put",
            through=OWN + "index_put",
            without={"rows": "fewer indices than axes are refused"},
        ),
    ),
    Operator(
        "torch.nn.functional.one_hot",
        _hot,
        to("ops.one_hot", through=OWN + "one_hot", without={"empty": "is refused"}),
    ),
    Operator(
        "torch.nn.functional.embedding",
        embedded,
        to(
            "ops.gather",
            through=OWN + "embedding",
            without={"padding": "every row gets a gradient", **NOTHING},
        ),
    ),
    Operator(
        "torch.sort",
        ranked(normal, ties, descending=[False, True], stable=True),
        to("ops.sort", through=OWN + "sort", integers="int32", without=RANKED),
    ),
    Operator(
        "torch.argsort",
        ranked(normal, ties, descending=[False, True], stable=True),
        to("ops.argsort", through=OWN + "argsort", integers="int32"),
    ),
    Operator(
        "torch.msort",
        unary(distinct, low=1, high=3),
        to("ops.msort", without={"empty": "is refused"}),
    ),
    Operator("torch.topk", best(largest=[False, True]), to("ops.topk", integers="int32")),
    Operator(
        "torch.unique",
        filled(_unique(ties, return_inverse=True)),
        to(
            "ops.unique",
            through=OWN + "unique",
            without={"float16": "keeps both zeros"},
        ),
        to("mint.unique"),
    ),
    Operator(
        "torch.unique_consecutive",
        _unique(ties, whole, return_inverse=[False, True], return_counts=[False, True]),
        to("ops.unique_consecutive"),
        to("mint.unique_consecutive"),
    ),
    Operator("torch.bucketize", in_buckets, to("ops.bucketize", integers="int32")),
    Operator(
        "torch.bincount",
        counted,
        to(
            "ops.bincount",
            through=OWN + "bincount",
            without={"empty": "the counts of nothing are 0-d", "float16": "sums are float32"},
        ),
    ),
    Operator(
        "torch.histc",
        _histogram,
        to(
            "ops.histc",
            without={"float16": "counts are float32", "empty": "unwritten counts of nothing"},
        ),
    ),
)
