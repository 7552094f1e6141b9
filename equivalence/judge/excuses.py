"""The one ordered table of excuses: every way in which a difference may end other than red.

An excuse costs sharpness: `docs/judging.md` says how much, and which right cases need it. An
excuse that decides a verdict is named in the outcome, in `results.jsonl` and in the text of a
failure, and the summary counts it. `equivalence/twins/excuses.py` applies the excuses that need
further runs.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Excuse:
    """One row of the table.

    name: its name in results and summaries.
    forgives: the difference that does not count against the candidate.
    bound: the limit beyond which it forgives nothing.
    """

    name: str
    forgives: str
    bound: str

    def __str__(self) -> str:
        return self.name


UNDERFLOW = Excuse(
    "underflow",
    "an element below the smallest normal number of float32 that counts as zero",
    "adds 2^-126 to one rounding of each tensor",
)
ROUNDING_OF_RESULTS = Excuse(
    "rounding_of_results",
    "the rounding of terms that cancel, which rounding of inputs and weights does not show",
    "only where the reference's own run needs half of the budget, or an operator is off by at "
    "most 4 budgets",
)
UNDECIDED_UPDATES = Excuse(
    "undecided_updates",
    "an element of an update whose gradient is zero within its rounding",
    "within the range between both signs, and at most half of a tensor",
)
COARSE_MODE = Excuse(
    "coarse_mode",
    "a tensor in which zeros would pass, in a mode that multiplies in fewer bits than the dtype",
    "never all tensors of a case; and a declared difference that does not show in such a mode",
)
CLOSER_SENSITIVITIES = Excuse(
    "closer_sensitivities",
    "an error that the sensitivity of 16 perturbed runs explains, and that of 3 or 8 does not",
    "an error of at most 4 budgets, of 16 in a training",
)
JUMP = Excuse(
    "jump",
    "the gradient of a single operator between two sides of a kink; the example counts for nothing",
    "only gradients that jump within 16 roundings of the inputs, by at least half of the error; "
    "with `chance`, one example in 6 of an exploration",
)
CHANCE = Excuse(
    "chance",
    "a loss of digits that the reference shows for inputs nearby; the example counts for nothing",
    "an error of at most 4 times the reference's own, which is over the budget there, too; "
    "with `jump`, one example in 6 of an exploration",
)
INACCURATE_KERNEL = Excuse(
    "inaccurate_kernel",
    "the error of kernels of MindSpore: with accurate ones in their place, the network is equal",
    "only kernels that are declared for the device, up to their declared error, each named",
)
BRANCH_FLIPS = Excuse(
    "branch_flips",
    "what other branches at activations within rounding of their kinks, or of a step, change",
    "whole flips only, at most 64, each named",
)
ACCUMULATION = Excuse(
    "accumulation",
    "the rounding of long sums, which is another one at every neighbouring sample",
    "at most 4 budgets, 2 √n for n terms, or 4 times the reference's own error",
)
DECLARED_DIFFERENCE = Excuse(
    "declared_difference",
    "a known difference between the frameworks, which the declaration names in `differs`",
    "the tensors that it names, each up to the size that it names; red on the day none differs",
)
DECLARED_SETTING = Excuse(
    "declared_setting",
    "a setting that differs, which the declaration names in `settings`",
    "all tensors must be within the budget; red on the day the setting does not differ any more",
)
LIMIT = Excuse(
    "limit",
    "what a MindSpore call cannot do, which `without` of its counterpart names",
    "no example beyond the limit is drawn; a test shows that the limit still stands",
)

EXCUSES = (
    UNDERFLOW,
    ROUNDING_OF_RESULTS,
    UNDECIDED_UPDATES,
    COARSE_MODE,
    CLOSER_SENSITIVITIES,
    JUMP,
    CHANCE,
    INACCURATE_KERNEL,
    BRANCH_FLIPS,
    ACCUMULATION,
    DECLARED_DIFFERENCE,
    DECLARED_SETTING,
    LIMIT,
)
"""All excuses, in the order in which they apply. The first five apply to every case, the others to
some kinds of cases only."""
