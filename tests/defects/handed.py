"""Mistakes in what an optimiser gets, which the first update of Adam hides."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin
from tests.defects.makers import candidate
from tests.defects.victim import victim

OURS = "tests.defects.handed_candidates:"

STEP = victim("step_of_adam").at("gradients")


def twins() -> tuple[Twin, ...]:
    """The right twins."""
    theirs, inputs = "tests.defects.handed_reference:Step", [normal(4, 6), normal(4, 3)]
    right = {
        "step_of_adam": "Step",
        "step_of_experimental_adam": "Experimental",
        "step_divided_by_the_optimiser": "DividedByTheOptimiser",
    }
    once = {"steps": 1, "phases": ("train",), "executions": ("pynative",)}
    return tuple(Twin(name, theirs, OURS + ours, inputs, **once) for name, ours in right.items())


# fmt: off
DEFECTS = (
    candidate("adam_gets_the_scale", STEP, OURS + "NotDivided",
        "the loss scale stays in the gradients", cause="times the reference's"),
    candidate("adam_gets_the_scale_divided_twice", STEP, OURS + "DividedTwice",
        "the gradients are divided by the loss scale once more", cause="times the reference's"),
    candidate("adam_gets_no_clip", STEP, OURS + "NotClipped",
        "the clip is missing", cause="times the reference's"),
    candidate("adam_gets_a_clip_of_scaled_gradients", STEP, OURS + "ClippedWhileScaled",
        "clipped before the scale is divided out", cause="times the reference's"),
    candidate("adam_gets_each_clipped_by_itself", STEP, OURS + "EachClipped",
        "every gradient by its own norm"),
    candidate("adam_gets_twice_the_limit", STEP, OURS + "LimitDoubled",
        "another limit of the norm", cause="times the reference's"),
    candidate("adam_gets_the_decay_twice", STEP, OURS + "DecayedTwice",
        "the decay is added by hand, too"),
    candidate("adam_gets_the_sum", STEP, OURS + "OfTheSum",
        "the sum over the samples for their mean", cause="times the reference's"),
)
# fmt: on
