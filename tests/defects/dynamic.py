"""Mistakes with shapes that depend on sizes or data, and with sparse matrices."""

from tests.defects.makers import candidate
from tests.defects.victim import victim

HERE = "tests.defects.dynamic_candidates:"
SPARSE = "tests.defects.sparse_candidates:"

# fmt: off
DYNAMIC = (
    candidate("bound_from_the_end_clamped", victim("slice_by_tensors").compiled,
        HERE + "BoundFromZero", "bounds below zero are taken for zero, not counted from the end"),
    candidate("count_baked_in", victim("top_k_of_tensor").compiled, HERE + "CountOfFirst",
        "k is the number that the network was exported with"),
    candidate("top_k_ascending", victim("top_k_of_tensor"), HERE + "Ascending",
        "the largest come last"),
    candidate("rows_made_distinct", victim("gather_rows"), HERE + "DistinctRows",
        "each row is gathered once"),
    candidate("segments_beyond_the_first_count", victim("segment_reductions").compiled,
        HERE + "LastSegments",
        "segments beyond the number that there were first are added to the last of those"),
    candidate("segments_taken_for_sorted", victim("segment_reductions"), HERE + "SortedSegments",
        "numbers of segments are sorted, as SegmentSum demands, and the rows are not"),
    candidate("axis_baked_in", victim("reductions_over_tensor_axis").compiled, HERE + "AxisOfFirst",
        "the axis is the one that the network was exported with"),
    candidate("mean_by_the_first_length", victim("reductions_over_tensor_axis"),
        HERE + "MeanOfFirst", "a mean divides by the length that the axis had first"),
    candidate("permutation_inverted", victim("transpose_by_tensor"), HERE + "InverseOrder",
        "axes are sent to places instead of fetched from them"),
    candidate("unique_as_they_appear", victim("unique").compiled, HERE + "FirstAppearance",
        "MindSpore's Unique for PyTorch's, which sorts"),
    candidate("mask_inverted", victim("masked_select"), HERE + "NotSelected",
        "what the mask leaves out is selected"),
    candidate("selected_in_place", victim("masked_select").compiled, HERE + "SelectedInPlace",
        "a product with the mask for a selection, to keep the shape fixed"),
    candidate("indices_by_column", victim("non_zero"), HERE + "IndicesByColumn",
        "NumPy's nonzero: a row per axis"),
    candidate("branches_of_where_exchanged", victim("sampler").compiled, HERE + "BranchesExchanged",
        "where takes its second value where the mask is true"),
    candidate("all_for_any", victim("branch_of_other_length").compiled, HERE + "AllForAny",
        "a branch is taken where all elements ask for it instead of any"),
    candidate("loop_unrolled_by_tracing", victim("loop_until_small"), HERE + "TracedLoop",
        "a loop runs as often as it did for the first input"),
    candidate("map_size_in_a_constant", victim("conv_block_of_any_size").compiled,
        HERE + "ConstantMap", "the mean over a map divides by the size that it had first"),
    candidate("map_size_kept_from_the_first_call", victim("conv_block_of_any_size"),
        HERE + "KeptMap",
        "the mean over a map divides by the size of the first call", cause="keeps another size"),
    candidate("padding_attended_to", victim("encoder_of_any_length").compiled,
        HERE + "AttendsPadding", "the attention is not masked"),
    candidate("mask_of_the_first_sequence", victim("encoder_of_any_length"), HERE + "LengthOfFirst",
        "all sequences are masked as the first one"),
    candidate("attention_scaled_by_length", victim("encoder_of_any_length"),
        HERE + "ScaledByLength", "scores are divided by the root of the sequence's length"),
)

SPARSE_MATRICES = (
    candidate("duplicates_not_summed", victim("summed_duplicates").compiled,
        SPARSE + "LastDuplicate",
        "a compiled COOTensor.to_dense for PyTorch's: the last value of an element wins"),
    candidate("pattern_sorted_without_its_values", victim("coo_operators"),
        SPARSE + "SortedPattern", "the pattern is sorted by rows, the values are not"),
    candidate("reshaped_for_transposed", victim("coo_operators").compiled,
        SPARSE + "ReshapedForTransposed", "a reshape for the transposition of a sparse matrix"),
    candidate("sum_over_the_other_axis", victim("coo_operators"), SPARSE + "SumOfColumns",
        "sums by columns for sums by rows"),
    candidate("no_gradient_of_the_dense_factor", victim("coo_operators").compiled,
        SPARSE + "PatternOfProduct",
        "the product of a sparse and a dense matrix has no gradient of the latter"),
    candidate("sum_overwrites", victim("coo_sum"), SPARSE + "Overwritten",
        "where both matrices have an element, that of the second is the sum"),
    candidate("row_pointers_shifted", victim("csr_operators"), SPARSE + "EndsForStarts",
        "ends of rows are read as their starts"),
    candidate("factor_by_position", victim("csr_operators").compiled, SPARSE + "RowsForColumns",
        "a CSR product takes the factor's rows one after the other"),
    candidate("negatives_taken_for_zeros", victim("to_sparse"), SPARSE + "PositiveAlone",
        "a matrix is made sparse behind a ReLU"),
)

SUBSTITUTIONS = (
    candidate("sort_ties_backwards", victim("sort_by_top_k", descending=False), HERE + "TurnedSort",
        "an ascending Sort by a descending one, turned round: ties come in the opposite order"),
    candidate("adaptive_windows_of_one_size", victim("adaptive_avg_pool2d", output_size=(3, 2)),
        HERE + "FixedWindows",
        "the adaptive pooling by one with windows of a fixed size, which do not overlap"),
    candidate("unfold_channels_last", victim("unfold_by_convolution").compiled,
        HERE + "WindowsFirst", "the elements of a window before its channels"),
    candidate("border_repeated_in_reflection", victim("padded"), HERE + "Symmetric",
        "a reflection that repeats the border, NumPy's 'symmetric'"),
)

DEFECTS = (*DYNAMIC, *SPARSE_MATRICES, *SUBSTITUTIONS)
