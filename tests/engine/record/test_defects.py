"""Defects that a whole tensor shows are shown by its sketch: a few of the kill matrix."""

import pytest

from equivalence.comparison import check, kept
from equivalence.host.isolation import isolated
from equivalence.record import truths
from tests.defects import catalogue
from tests.defects.mutants import right_case, with_defect

# Of borders, of single channels and elements, of small factors, of one tensor among many.
NAMES = (
    "border_reflected",
    "conv_padded_by_rule",
    "border_not_counted",
    "epsilon_off_by_a_tenth",
    "epsilon_of_the_guide_in_evaluation",
    "channels_of_a_kernel_exchanged",
    "running_variance_biased",
    "square_weight_transposed",
    "gelu_by_error_function",
    "leak_detached",
    "decay_of_bias",
    "layer_norm_divisor_detached",
)
DEFECTS = {defect.name: defect for defect in catalogue() if defect.name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_defect_is_refused_by_a_record(name, tmp_path):
    defect = DEFECTS[name]
    case = right_case(defect)
    library = truths.Library(tmp_path / "truth", truths.WRITE, tmp_path / "parts")
    kept.forget()
    with isolated(), truths.using(library):
        right = check.compare(case, 0)
        wrong = check.compare(with_defect(case, defect), 0)
    kept.forget()
    assert right.judgement.equal
    assert not wrong.judgement.equal
    assert wrong.reference.sample is right.reference.sample
