"""The first operator of a run that gives NaN or an infinity. Imports no framework."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.dtypes import HALVES
from equivalence.scripts.judging import label, tensors
from equivalence.scripts.steps import TrainingRun

States = Callable[[Any], Iterator[tuple[str, bool, bool]]]
"""The tensors of floats in a value: their precision, and whether they have NaN and infinities."""


@dataclass(frozen=True)
class Overflow:
    """Where the numbers of one side stop being finite.

    told: the operator, its precision, and what it gives. line: of the script; "" if not known.
    passing: whether all that is compared is finite in spite of it.
    """

    told: str
    line: str = ""
    passing: bool = False


@dataclass
class OverflowSeen:
    """What is seen of the operators of a step.

    first: the first that overflows; on a side that shows few operators of a backward pass, of the
        forward pass. later: the first of all that follows it, there.
    halves: the layers that compute in float16 or bfloat16, and in which; "" is other code.
    """

    first: Overflow | None = None
    later: Overflow | None = None
    halves: dict[str, str] = field(default_factory=dict)

    def note(self, layer: str, result: Any, states: States) -> None:
        """Note whether a layer computes in half precision."""
        half = next((name for name, _, _ in states(result) if name in HALVES), "")
        if half:
            self.halves.setdefault(layer, half)


def first_step(run: TrainingRun) -> int:
    """The first step of which something is NaN or infinite; 0 where all is finite."""
    begun = _undefined_at_first(run)
    for step in run.steps:
        if any(v.undefined and name not in begun for _, name, v in tensors(run, step)):
            return step.number
    return 0


def _undefined_at_first(run: TrainingRun) -> set[str]:
    """The weights that hold NaN or infinity before the first call, such as a mask."""
    found = set()
    for network in run.networks:
        own, partners = network.initial, network.partners
        for name, values in (partners.restored(own) if partners else own).items():
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                found.add(label(run, f"{network.of}:{name}"))
    return found


def inspect(name: str, arguments: Any, result: Any, states: States) -> str:
    """What an operator gives that none of its arguments has, in words; "" for finite numbers.

    >>> def states(values):
    ...     return iter(values)
    >>> inspect("exp", [("float16", False, False)], [("float16", False, True)], states)
    'exp gives infinity in float16'
    >>> inspect("exp", [("float16", False, True)], [("float16", False, True)], states)
    ''
    """
    made = [each for each in states(result) if each[1] or each[2]]
    if not made:
        return ""
    given = [*states(arguments)]
    for place, what in ((1, "NaN"), (2, "infinity")):
        new = next((each for each in made if each[place]), None)
        if new and not any(each[place] for each in given):
            return f"{name} gives {what} in {new[0]}"
    return ""


def of_gradients(run: TrainingRun, step: int) -> Overflow | None:
    """The first gradient of a step, in the order of the backward pass, that is not finite."""
    found = run.steps[step - 1] if step <= len(run.steps) else None
    if found is None:
        return None
    for name in reversed([*found.gradients]):
        if found.gradients[name].undefined:
            network, _, weight = name.partition(":")
            layer, _, _ = weight.rpartition(".")
            lines = [
                line
                for call in found.calls
                for (path, _, _), (_, line) in call.layers.items()
                if path == layer and str(call.network) == network
            ]
            told = f"the backward pass gives NaN or infinity, first in the gradient of {weight}"
            return Overflow(told, lines[0] if lines else found.lines.get("loss", ""))
    return None
