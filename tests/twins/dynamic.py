"""Dynamic shapes: each cell is compiled once, for dimensions that it does not know."""

from equivalence.declare.draws import given, integers, normal, uniform
from equivalence.declare.twin import Twin, grid

OPERATOR = {"phases": ("train",)}


def twin(name, reference, candidate, inputs, sizes, **options) -> Twin:
    """One whose two sides are in the modules for dynamic shapes."""
    return Twin(
        name,
        reference=f"pt_reference.dynamic:{reference}",
        candidate=f"ms_models.dynamic:{candidate}",
        inputs=inputs,
        sizes=sizes,
        **OPERATOR | options,
    )


SEGMENTS = [
    {"N": 7, "SEGMENTS": (0, 2, 2, 1, 0, 2, 3), "COUNT": 4},
    {"N": 9, "SEGMENTS": (4, 1, 0, 2, 0, 5, 3, 1, 0), "COUNT": 6},
    {"N": 3, "SEGMENTS": (1, 0, 1), "COUNT": 2},
]

TWINS = (
    twin(
        "slice_by_tensors",
        "row_slice",
        "Slice",
        [normal("N", 5), given(values="START"), given(values="STOP")],
        # Within, up to the end, from the end, and beyond it.
        [
            {"N": 12, "START": 2, "STOP": 7},
            {"N": 9, "START": 1, "STOP": 9},
            {"N": 7, "START": -5, "STOP": -1},
            {"N": 6, "START": 4, "STOP": 20},
        ],
    ),
    twin(
        "top_k_of_tensor",
        "top_k",
        "TopK",
        [normal(4, "N"), given(values="K")],
        [{"N": 12, "K": 3}, {"N": 9, "K": 5}, {"N": 4, "K": 4}],
    ),
    twin(
        "gather_rows",
        "gather",
        "Gather",
        [normal("N", 5), integers("M", high=4)],
        [{"N": 7, "M": 4}, {"N": 4, "M": 9}, {"N": 9, "M": 1}],
    ),
    twin(
        "segment_reductions",
        "segment_reductions",
        "SegmentReductions",
        # Away from zero, since a product's gradient divides by its factors.
        [uniform("N", 5, low=0.5, high=2.0), given("N", values="SEGMENTS"), given(values="COUNT")],
        SEGMENTS,
    ),
    twin(
        "reductions_over_tensor_axis",
        "reductions",
        "Reductions",
        [normal("A", 4, "C"), given(values="AXIS")],
        [{"A": 3, "C": 5, "AXIS": 0}, {"A": 2, "C": 7, "AXIS": 2}, {"A": 4, "C": 4, "AXIS": -2}],
    ),
    twin(
        "reductions_over_tensor_axes",
        "reductions",
        "Reductions",
        [normal("A", 4, "C"), given(2, values="AXES")],
        [{"A": 3, "C": 5, "AXES": (0, 2)}, {"A": 2, "C": 7, "AXES": (2, 1)}],
    ),
    twin(
        "transpose_by_tensor",
        "transpose",
        "Transpose",
        [normal("A", 4, "C"), given(3, values="ORDER")],
        [{"A": 3, "C": 5, "ORDER": (2, 0, 1)}, {"A": 2, "C": 6, "ORDER": (1, 2, 0)}],
        releases={"graph": ">=2.8"},
    ),
    twin(
        "unique",
        "unique",
        "Unique",
        [integers("N", low=-3, high=6)],
        [{"N": 12}, {"N": 5}, {"N": 1}],
    ),
    twin("masked_select", "masked_select", "MaskedSelect", [normal("N", 5)], [{"N": 7}, {"N": 4}]),
    twin("non_zero", "non_zero", "NonZero", [normal("N", 5)], [{"N": 7}, {"N": 4}, {"N": 1}]),
    twin(
        "sampler",
        "sampler",
        "Sampler",
        [normal("N", 5), normal("N").constant()],
        [{"N": 8}, {"N": 13}],
    ),
    twin(
        "branch_of_other_length",
        "branch",
        "Branch",
        [uniform("N", high=3.0), given(values="LIMIT")],
        [{"N": 9, "LIMIT": 1}, {"N": 6, "LIMIT": 3}, {"N": 14, "LIMIT": 2}],
    ),
    twin("loop_until_small", "halved", "Halved", [normal("N")], [{"N": 3}, {"N": 40}, {"N": 200}]),
    twin(
        "conv_block_of_any_size",
        "ConvBlock",
        "ConvBlock",
        [normal("N", 3, "H", "W")],
        [{"N": 3, "H": 8, "W": 6}, {"N": 2, "H": 11, "W": 9}, {"N": 4, "H": 5, "W": 12}],
        configs=grid(planes=8, classes=5),
    ),
    twin(
        "encoder_of_any_length",
        "Encoder",
        "Encoder",
        [normal("N", "L", "width"), given("N", values="LENGTHS")],
        [
            {"N": 3, "L": 6, "LENGTHS": (6, 3, 1)},
            {"N": 2, "L": 9, "LENGTHS": (4, 9)},
        ],
        configs=grid(width=8, heads=2),
    ),
)
