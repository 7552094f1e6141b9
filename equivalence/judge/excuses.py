"""The one ordered table of excuses: every way in which a difference may end other than red.

An excuse costs sharpness: `docs/judging.md` says how much, and which right cases need it. An
excuse that decides a verdict is named in the outcome, in `results.jsonl` and in the text of a
failure, and the summary counts it. `equivalence/comparison/excuses.py` applies the excuses that
need further runs.
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
UNDECIDED_UPDATES = Excuse(
    "undecided_updates",
    "an element of an update whose gradient is zero within its rounding",
    "within the range between both signs, and at most half of a tensor",
)
OVERFLOW = Excuse(
    "overflow",
    "a finite number where the reference's own run overflows in half precision",
    "judged there by the float64 run; only what float32 can hold, and no operator's example",
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
PADDED_ELSEWHERE = Excuse(
    "padded_elsewhere",
    "the padding of a convolution that differs as data, since the port pads in its own code",
    "windows must begin elsewhere, so that all tensors show it; all are within the budget",
)
LIMIT = Excuse(
    "limit",
    "what a MindSpore call, or a port, cannot do, which `without` of its declaration names",
    "nothing is claimed beyond the limit; a test shows that the limit still stands",
)

EXCUSES = (
    UNDERFLOW,
    UNDECIDED_UPDATES,
    OVERFLOW,
    INACCURATE_KERNEL,
    BRANCH_FLIPS,
    DECLARED_DIFFERENCE,
    DECLARED_SETTING,
    PADDED_ELSEWHERE,
    LIMIT,
)
"""All excuses, in the order in which they apply. The first two apply to every case, the others to
some kinds of cases only."""
