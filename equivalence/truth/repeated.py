"""Whether the reference gives the same once more, so that what moves it is rounding alone.

What it keeps from one call to the next, such as a count of its calls, would be taken for its
sensitivity, and any candidate would be within that.
"""

from collections.abc import Mapping

from torch import nn

from equivalence.errors import IllPosedError
from equivalence.judge import attributes
from equivalence.judge.expected import NOISE
from equivalence.judge.tensors import attribute, of_attribute
from equivalence.judge.truth import Truth
from equivalence.truth.measurement import Measurement
from equivalence.written import PER_CALL

CONSPICUOUS = 64
"""Roundings by which one moves a tensor. Only where one is moved farther is the reference run once
more: what keeps state moves it by more than that, or hides no more than rounding does."""


def demand(measurement: Measurement, expected: Truth) -> Truth:
    """The truth without the attributes that a run writes from what earlier ones have written.

    Raises IllPosedError where the reference's float64 run gives other values once more. A training
    is built anew for each run, and an operator keeps nothing.
    """
    network = measurement.network
    if measurement.trains or measurement.replaceable:
        return expected.among([name for name in expected if not name.endswith(PER_CALL)])
    _demand_same(measurement, expected)
    if not any(map(of_attribute, expected)):
        return expected
    network.leave = [n.removeprefix(attribute("")) for n in expected if of_attribute(n)]
    again = measurement.run()
    network.leave = ()
    kept, carried = attributes.settled(expected, again, measurement.unit_roundoff)
    expected.carried = frozenset(carried)
    return expected.among(kept)


def _demand_same(measurement: Measurement, expected: Truth) -> None:
    network, unit = measurement.network, measurement.unit_roundoff
    floats = {
        name: each
        for name, each in expected.items()
        if each.truth.dtype.kind == "f" and not of_attribute(name)
    }
    moved = [n for n, each in floats.items() if each.share(each.norms, unit) > CONSPICUOUS * unit]
    if not moved:
        return
    before = _numbers(network.module)
    again = measurement.run()
    peak = max(each.norms.peak for each in floats.values())
    for name in moved:
        change = floats[name].distance(again[name])
        if change.largest > max(unit * change.peak, NOISE * peak):
            after = _numbers(network.module)
            counts = [
                f"its {key} is {number} before a call and {after[key]} after it"
                for key, number in before.items()
                if after.get(key, number) != number
            ]
            why = counts[0] if counts else "it keeps something, or draws what torch does not seed"
            raise IllPosedError(
                f"{measurement.sample.name}: the reference gives another result in each call: "
                f"{name} changes by {change.largest / change.peak:.2g} of its largest element "
                f"({why}), so that nothing can be compared; let a call depend on its inputs and "
                "weights alone"
            )


def _numbers(module: nn.Module) -> Mapping[str, int | float]:
    """The numbers that the layers keep as plain attributes, by path."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, layer in module.named_modules()
        for name, value in vars(layer).items()
        if type(value) in (int, float)
    }
