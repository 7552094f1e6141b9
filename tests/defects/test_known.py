"""A mistake beside a declared difference is refused: larger than declared, or in another tensor."""

import dataclasses

import pytest

from equivalence import kinds
from equivalence.declare import initial as initials
from equivalence.declare import twin as twins
from tests import initials as declared_initials
from tests import twins as declared_twins
from tests.defects.defect import Defect
from tests.defects.makers import candidate
from tests.defects.victim import victim

HERE = "tests.defects.known_candidates:"

NORM = victim("batch_norm2d_of_another_epsilon")
SMOOTHED = victim("cross_entropy_smoothed_differently", reduction="mean")

# fmt: off
DEFECTS = (
    candidate("shifted_norm", NORM.evaluated, HERE, "100 x - 7 is normalised"),
    candidate("shifted_pool", victim("max_pool2d_padded_with_zeros"), HERE,
        "the maximum of 100 x - 7"),
    candidate("output_scaled", victim("batch_norm2d_of_unconverted_momentum"), HERE,
        "the output is off, of which nothing is declared"),
    candidate("loss_eight_times", SMOOTHED, HERE, "a loss that is 8 times too large"),
    candidate("smoothed_twice", SMOOTHED, HERE, "four times the smoothing"),
    candidate("finite_where_infinite", victim("naive_reduce_log_sum_exp_overflows", axis=-1),
        HERE + "Finite", "a wrong number where an overflow is declared"),
    candidate("decay_left_out", victim("adam_ungrouped"), HERE,
        "no weight decays, where gamma and beta are declared not to"),
    candidate("decay_left_out_of_nesterov", victim("nesterov_ignored"), HERE,
        "no weight decays, where Nesterov's momentum is declared to be ignored"),
    candidate("rate_ten_times", victim("adamw_by_bert_adam"), HERE, "ten times the learning rate"),
    candidate("one_rate_for_all_steps", victim("cosine_by_epoch"), HERE + "FirstRate",
        "the peak in every step"),
    candidate("tiny_embedding", victim("default_embedding"), HERE,
        "an embedding of almost nothing, where 0.01 for 1 is declared"),
)
# fmt: on


def _cases(defect: Defect) -> list[kinds.Case]:
    """The cases of the declaration that the defect is put into."""
    every = (*declared_twins.declared(), *declared_initials.declared())
    declared = next(each for each in every if each.name == defect.twin)
    if isinstance(declared, initials.Initial):
        return list(initials.cases(declared))
    return list(twins.cases(declared, "cpu"))


def right_case(defect: Defect) -> kinds.Case:
    """The case that the defect is put into; it is declared to differ."""
    config = dict(defect.where)
    phase = config.pop("phase", "train")
    return next(
        case
        for case in _cases(defect)
        if config.items() <= dict(case.config).items() and getattr(case, "phase", phase) == phase
    )


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_defect(defect, pytestconfig):
    seed, case = pytestconfig.getoption("seed"), right_case(defect)
    assert case.twin.differs
    assert kinds.check(case, seed).passed
    changed = dataclasses.replace(case.twin, candidate=defect.candidate)
    outcome = kinds.check(dataclasses.replace(case, twin=changed), seed)
    assert outcome.judgement.ill_posed is None
    assert outcome.unexpected
    assert not outcome.passed
