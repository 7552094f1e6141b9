"""Where a finding stands, the operator's row has a limit; or a list says why there is none."""

import pytest

from equivalence.findings import scripts
from tests.twins.operators import operators

WITHOUT_ROW = {
    "a layer with weights or states; tests/twins/ compares layers": (
        "attention_masks_mixed",
        "batch_norm_accuracy",
        "batch_norm_eps_set",
        "batch_norm_float16_statistics",
        "batch_norm_gradient_accuracy",
        "conv_transpose_output_padding",
        "embedding_negative_index",
        "embedding_padding_gradient",
        "gradient_sums_accuracy",
        "layer_norm_default_axis",
        "layer_norm_negative_axis",
        "lstm_gradient_float16",
        "product_of_no_rows",
        "rrelu_in_evaluation",
        "sequential_keeps_first_phase",
    ),
    "it draws random numbers; a case replays them": ("bernoulli_probabilities",),
    "an optimiser or a schedule; tests/recipes/ compares updates": (
        "adagrad_epsilon",
        "adam_epsilon",
        "adam_nesterov",
        "adam_weight_decay_bias_correction",
        "adamax_epsilon",
        "experimental_adam_amsgrad",
        "mint_adam_amsgrad",
        "mint_adam_never_updates",
        "mint_sgd_never_updates",
        "momentum_nesterov",
        "optimizer_state_set_data",
        "optimizer_weight_set_data",
        "radam_rectification_accuracy",
        "rms_prop_begins_at_one",
        "warm_up_first_update",
        "weight_decay_of_gamma",
    ),
    "a data pipeline; tests/pipelines/ compares pictures": (
        "center_crop_odd",
        "center_crop_of_smaller",
        "decode_cmyk",
        "native_resize_antialias",
        "order_repeats_with_each_iterator",
        "pil_transforms_split",
        "png_16_bits",
        "rand_augment_black",
        "random_affine_centre",
    ),
    "an initializer; tests/initials/ compares distributions": (
        "normal_argument_order",
        "truncated_normal_is_uniform",
    ),
    "a sparse tensor, which no example draws": (
        "coo_add_unsorted",
        "coo_coalesce_grows",
        "coo_concat_in_graph",
        "coo_int32_indices",
        "coo_to_dense_in_graph",
        "csr_times_scalar",
        "sparse_keywords_in_graph",
    ),
    "no operator, but how gradients and graphs are made": (
        "attribute_kept_in_graph",
        "compile_cache",
        "exception_under_grad",
        "grad_keeps_first_phase",
        "jit_keeps_weights",
        "gradient_of_broadcast_to_nothing",
        "second_gradient_through_a_view",
        "to_float_of_a_cast",
    ),
    "an assignment or an in-place call, of which an example sees the result alone": (
        "augmented_assignment",
        "inplace_add",
    ),
    "PyTorch refuses the arguments, so that there is nothing to equal": (
        "cross_entropy_any_label",
        "embedding_lookup_out_of_range",
        "multinomial_of_nothing",
        "scatter_out_of_range",
        "segments_by_tensor",
        "sparse_cross_entropy_label",
    ),
    "another call than that of the row for the same function": (
        "softmax_cross_entropy_infinite",
        "stepped_slice_gradient",
    ),
    "torchvision's operator; tests/twins/detection.py compares it": (
        "roi_align_end_mode",
        "roi_align_gradient",
    ),
    "PyTorch has no such function": ("numpy_cbrt_of_zero", "numpy_overflows"),
}
"""A reason -> the findings for which no row has MindSpore's call."""

NOT_DRAWN = {
    "numbers at which the row has its bounds": (
        "bessel_y_at_zero",
        "erfinv_accuracy",
        "igamma_accuracy",
        "log1p_accuracy",
    ),
    "it is off by less than the budget": ("log_accuracy", "softsign_gradient_float16"),
    "the row has arguments with which it is right alone": (
        "dropout_everything",
        "full_default_dtype",
        "smooth_l1_loss_beta",
        "topk_of_none",
    ),
    "a stand-in is compared where the CPU has no kernel": (
        "mint_creation",
        "mint_layer_norm",
        "mint_losses",
        "mint_pooling",
        "mint_reductions",
        "mint_trigonometry",
    ),
    "an example calls the method of the tensor": ("unbound_method_gradient_in_graph",),
    "the row assigns to slices, and to no view": (
        "assigned_value_gradient_shape",
        "assignment_to_a_view",
    ),
}
"""A reason -> the findings that none of a row's examples meets, so that it needs no limit."""

NOTHING_RUNS = ("missing", "crash")
"""Kinds of findings in which there is no result to compare."""


def listed(reasons):
    """The names of all reasons."""
    return [name for names in reasons.values() for name in names]


COUNTERPARTS = [each for one in operators() for each in one.counterparts]


def rows(api):
    """The counterparts that are a call of MindSpore."""
    return [each for each in COUNTERPARTS if f"mindspore.{each.api}" == api]


def gaps(found):
    """(findings without a row, findings on rows without any limit)."""
    by_name = {each.name: rows(each.api) for each in found}
    none = {name for name, counterparts in by_name.items() if not counterparts}
    bare = {
        name
        for name, counterparts in by_name.items()
        if counterparts and not any(each.without or each.differs for each in counterparts)
    }
    return none, bare


DECLARED = scripts.read_all(scripts.FOLDER)


def test_a_finding_has_a_row_or_a_list_says_why_not():
    none, _ = gaps(each for each in DECLARED if each.kind not in NOTHING_RUNS)
    assert sorted(none) == sorted(listed(WITHOUT_ROW))


def test_a_row_of_a_finding_has_a_limit_or_a_list_says_why_not():
    _, bare = gaps(DECLARED)
    assert sorted(bare) == sorted(listed(NOT_DRAWN))


@pytest.mark.parametrize("reasons", [WITHOUT_ROW, NOT_DRAWN], ids=["without", "not_drawn"])
def test_a_finding_is_listed_once(reasons):
    assert len(set(listed(reasons))) == len(listed(reasons))


def test_a_row_that_says_nothing_is_seen():
    """A finding on a counterpart without limits, and one on a call that no row has."""
    one = DECLARED[0]
    bare = one._replace(path=one.path.with_name("a.py"), api="mindspore.ops.topk")
    absent = one._replace(path=one.path.with_name("b.py"), api="mindspore.ops.no_such_call")
    told = one._replace(path=one.path.with_name("c.py"), api="mindspore.ops.copysign")
    assert gaps([bare, absent, told]) == ({"b"}, {"a"})
