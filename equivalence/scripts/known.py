"""What is known of MindSpore's optimisers that update otherwise. Imports no framework."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from equivalence.scripts.judging import EVALUATED, TRAINED, StepDeparture
from equivalence.scripts.steps import SET, Step, is_reached


class OptimiserFinding(NamedTuple):
    """A finding on the updates of an optimiser.

    optimizers: the names of its classes, within `mindspore`, as the finding has them. finding: its
    name. told: what is otherwise. when: whether it applies, by what its settings are.
    """

    optimizers: tuple[str, ...]
    finding: str
    told: str
    when: Callable[[Mapping[str, Mapping[str, object]]], bool] = lambda _: True


def _is_on(name: str) -> Callable[[Mapping[str, Mapping[str, object]]], bool]:
    return lambda settings: any(settings.get(name, {}).values())


KNOWN = (
    OptimiserFinding(
        ("nn.Momentum",),
        "momentum_nesterov",
        "use_nesterov=True has no effect on a CPU; nn.SGD has it",
        _is_on("nesterov"),
    ),
    OptimiserFinding(
        ("experimental.optim.Adam",),
        "experimental_adam_amsgrad",
        "amsgrad=True computes plain Adam; that of mindspore.experimental.optim.AdamW works",
        _is_on("amsgrad"),
    ),
    OptimiserFinding(
        ("nn.Adam", "nn.LazyAdam", "nn.AdamOffload", "experimental.optim.Adam"),
        "adam_epsilon",
        "epsilon is added before the bias correction; without decay "
        "mindspore.experimental.optim.AdamW(..., weight_decay=0.0) updates as PyTorch does",
    ),
    OptimiserFinding(
        ("nn.AdamWeightDecay",),
        "adam_weight_decay_bias_correction",
        "it has no bias correction; mindspore.experimental.optim.AdamW has",
    ),
    OptimiserFinding(
        ("nn.RMSProp",),
        "rms_prop_begins_at_one",
        "its mean square begins at 1, and epsilon is within the root; "
        "mindspore.experimental.optim.RMSprop updates as PyTorch does",
    ),
    OptimiserFinding(
        ("nn.Adagrad",),
        "adagrad_epsilon",
        "epsilon is added within the square root; mindspore.experimental.optim.Adagrad updates as "
        "PyTorch does",
    ),
    OptimiserFinding(
        ("experimental.optim.RAdam",),
        "radam_rectification_accuracy",
        "its rectification is computed in float32, and is 1e-3 off at first",
    ),
    OptimiserFinding(
        ("mint.optim.Adam",), "mint_adam_never_updates", "no update in PyNative on a CPU"
    ),
    OptimiserFinding(
        ("mint.optim.SGD",), "mint_sgd_never_updates", "no update in PyNative on a CPU"
    ),
)
"""In this order: the first that applies is told."""

GAMMA = (
    "an optimiser of mindspore.nn that gets no groups leaves gamma and beta out of its decay: give "
    "[{'params': weights}] (equivalence findings show weight_decay_of_gamma)"
)


KEPT = (
    "the weight is what it was before the step, whatever its gradient: in PyNative mode an "
    "optimiser that has run once loses its updates after set_data on a weight; write "
    "ops.assign(weight, values) (equivalence findings show optimizer_weight_set_data)"
)

STILL = "a Cell is made in evaluation mode, a Module in training mode: call net.set_train() first"
AGAIN = "call net.set_train() again after the evaluation"
STOP = "call net.set_train(False) before, as the original calls eval()"


def _is_kept(departure: StepDeparture, step: Step, before: Step) -> bool:
    """Whether the weight of a departure has not moved, though a gradient reaches it."""
    return any(
        key.rpartition(":")[2] == departure.name
        and is_reached(step.reached.get(key))
        and key in before.weights
        and np.array_equal(values.values, before.weights[key].values)
        for key, values in step.weights.items()
    )


def known(departure: StepDeparture, steps: Sequence[Step], before: Sequence[Step] = ()) -> str:
    """What is known that may explain a departure, as a line; "" where nothing is.

    steps: the step of the port; before: the one before it, if there is one.
    """
    if not steps:
        return ""
    (step,) = steps
    library = step.kind.startswith("mindspore.")
    undecayed = 0.0 in step.settings.get("weight_decay", {}).values()
    if departure.name == "weight_decay" and step.kind.startswith("mindspore.nn.") and undecayed:
        return GAMMA
    if departure.told.startswith(EVALUATED):
        return STILL if departure.told == EVALUATED else AGAIN
    if departure.told == TRAINED:
        return STOP
    if departure.stage != "update" or not library:
        return ""
    if SET in step.lines:
        return f"{KEPT}: {step.lines[SET]}"
    if any(_is_kept(departure, step, each) for each in before):
        return KEPT
    public = _public(step.kind)
    for each in KNOWN:
        if public in each.optimizers and each.when(step.settings):
            name = public.rpartition(".")[2]
            return f"known of {name}: {each.told} (equivalence findings show {each.finding})"
    return ""


def _public(kind: str) -> str:
    """The name of MindSpore's own optimiser, within `mindspore`, by that of its module.

    >>> _public("mindspore.nn.optim.adam.Adam"), _public("mindspore.mint.optim.adam.Adam")
    ('nn.Adam', 'mint.optim.Adam')
    """
    *packages, _, name = kind.removeprefix("mindspore.").split(".")
    return ".".join((*(["nn"] if packages == ["nn", "optim"] else packages), name))
