"""Mistakes with shapes that depend on sizes or data, and with sparse matrices."""

from tests.defects.defect import Defect
from tests.defects.places import WHOLE, compiled

HERE = "tests.defects.dynamic_candidates:"
SPARSE = "tests.defects.sparse_candidates:"


def defect(name, mistake, twin, candidate, culprit=WHOLE, graph=False, **options) -> Defect:
    """A mistake in the only case of a twin, or in its compiled one."""
    place = {"twin": twin, "where": options.pop("where", {})}
    return Defect(
        name,
        mistake,
        **(compiled(place) if graph else place),
        culprit=culprit,
        candidate=(candidate if ":" in candidate else HERE + candidate),
        **options,
    )


DYNAMIC = (
    defect(
        "bound_from_the_end_clamped",
        "bounds below zero are taken for zero, not counted from the end",
        "slice_by_tensors",
        "BoundFromZero",
        graph=True,
    ),
    defect(
        "count_baked_in",
        "k is the number that the network was exported with",
        "top_k_of_tensor",
        "CountOfFirst",
        graph=True,
    ),
    defect("top_k_ascending", "the largest come last", "top_k_of_tensor", "Ascending"),
    defect("rows_made_distinct", "each row is gathered once", "gather_rows", "DistinctRows"),
    defect(
        "segments_beyond_the_first_count",
        "segments beyond the number that there were first are added to the last of those",
        "segment_reductions",
        "LastSegments",
        graph=True,
    ),
    defect(
        "segments_taken_for_sorted",
        "numbers of segments are sorted, as SegmentSum demands, and the rows are not",
        "segment_reductions",
        "SortedSegments",
    ),
    defect(
        "axis_baked_in",
        "the axis is the one that the network was exported with",
        "reductions_over_tensor_axis",
        "AxisOfFirst",
        graph=True,
    ),
    defect(
        "mean_by_the_first_length",
        "a mean divides by the length that the axis had first",
        "reductions_over_tensor_axis",
        "MeanOfFirst",
    ),
    defect(
        "permutation_inverted",
        "axes are sent to places instead of fetched from them",
        "transpose_by_tensor",
        "InverseOrder",
    ),
    defect(
        "unique_as_they_appear",
        "MindSpore's Unique for PyTorch's, which sorts",
        "unique",
        "FirstAppearance",
        graph=True,
    ),
    defect("mask_inverted", "what the mask leaves out is selected", "masked_select", "NotSelected"),
    defect(
        "selected_in_place",
        "a product with the mask for a selection, to keep the shape fixed",
        "masked_select",
        "SelectedInPlace",
        graph=True,
    ),
    defect("indices_by_column", "NumPy's nonzero: a row per axis", "non_zero", "IndicesByColumn"),
    defect(
        "branches_of_where_exchanged",
        "where takes its second value where the mask is true",
        "sampler",
        "BranchesExchanged",
        graph=True,
    ),
    defect(
        "all_for_any",
        "a branch is taken where all elements ask for it instead of any",
        "branch_of_other_length",
        "AllForAny",
        graph=True,
    ),
    defect(
        "loop_unrolled_by_tracing",
        "a loop runs as often as it did for the first input",
        "loop_until_small",
        "TracedLoop",
    ),
    defect(
        "map_size_in_a_constant",
        "the mean over a map divides by the size that it had first",
        "conv_block_of_any_size",
        "ConstantMap",
        graph=True,
    ),
    defect(
        "map_size_kept_from_the_first_call",
        "the mean over a map divides by the size of the first call",
        "conv_block_of_any_size",
        "KeptMap",
        cause="keeps another size",
    ),
    defect(
        "padding_attended_to",
        "the attention is not masked",
        "encoder_of_any_length",
        "AttendsPadding",
        graph=True,
    ),
    defect(
        "mask_of_the_first_sequence",
        "all sequences are masked as the first one",
        "encoder_of_any_length",
        "LengthOfFirst",
    ),
    defect(
        "attention_scaled_by_length",
        "scores are divided by the root of the sequence's length",
        "encoder_of_any_length",
        "ScaledByLength",
    ),
)

SPARSE_MATRICES = (
    defect(
        "duplicates_not_summed",
        "a compiled COOTensor.to_dense for PyTorch's: the last value of an element wins",
        "summed_duplicates",
        SPARSE + "LastDuplicate",
        graph=True,
    ),
    defect(
        "pattern_sorted_without_its_values",
        "the pattern is sorted by rows, the values are not",
        "coo_operators",
        SPARSE + "SortedPattern",
    ),
    defect(
        "reshaped_for_transposed",
        "a reshape for the transposition of a sparse matrix",
        "coo_operators",
        SPARSE + "ReshapedForTransposed",
        graph=True,
    ),
    defect(
        "sum_over_the_other_axis",
        "sums by columns for sums by rows",
        "coo_operators",
        SPARSE + "SumOfColumns",
    ),
    defect(
        "no_gradient_of_the_dense_factor",
        "the product of a sparse and a dense matrix has no gradient of the latter",
        "coo_operators",
        SPARSE + "PatternOfProduct",
        graph=True,
    ),
    defect(
        "sum_overwrites",
        "where both matrices have an element, that of the second is the sum",
        "coo_sum",
        SPARSE + "Overwritten",
    ),
    defect(
        "row_pointers_shifted",
        "ends of rows are read as their starts",
        "csr_operators",
        SPARSE + "EndsForStarts",
    ),
    defect(
        "factor_by_position",
        "a CSR product takes the factor's rows one after the other",
        "csr_operators",
        SPARSE + "RowsForColumns",
        graph=True,
    ),
    defect(
        "negatives_taken_for_zeros",
        "a matrix is made sparse behind a ReLU",
        "to_sparse",
        SPARSE + "PositiveAlone",
    ),
)

SUBSTITUTIONS = (
    defect(
        "sort_ties_backwards",
        "an ascending Sort by a descending one, turned round: ties come in the opposite order",
        "sort_by_top_k",
        "TurnedSort",
        where={"descending": False},
    ),
    defect(
        "adaptive_windows_of_one_size",
        "the adaptive pooling by one with windows of a fixed size, which do not overlap",
        "adaptive_avg_pool2d",
        "FixedWindows",
        where={"output_size": (3, 2)},
    ),
    defect(
        "unfold_channels_last",
        "the elements of a window before its channels",
        "unfold_by_convolution",
        "WindowsFirst",
        graph=True,
    ),
    defect(
        "border_repeated_in_reflection",
        "a reflection that repeats the border, NumPy's 'symmetric'",
        "padded",
        "Symmetric",
    ),
)

DEFECTS = (*DYNAMIC, *SPARSE_MATRICES, *SUBSTITUTIONS)
