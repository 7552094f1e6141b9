"""A step of each side, ready to be timed: weights and inputs are on the device before it begins.

In training a step runs forward and backward, or trains; in evaluation it runs forward alone.
PyTorch runs where the suite runs it: on the CPU, or beside a GPU on CUDA where torch has it.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from equivalence import nesting
from equivalence.comparison import sides
from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.sides.feed import Feed
from equivalence.structure import pairing
from equivalence.timing.steps import REFERENCE, Step


def builders(of_step: Sequence[TwinCase], seed: int = 0) -> dict[str, Callable[[], Step]]:
    """What makes each side ready: PyTorch, and MindSpore in the execution mode of each case.

    of_step: cases that differ in their execution mode alone.
    """
    first = of_step[0]
    sample = sides.draw(first, seed)
    reference = sides.build_reference(first)

    def theirs() -> Step:
        return torch_step(sides.build_reference(first), sample, first.phase)

    def ours(case: TwinCase) -> Step:
        return mindspore_step(sides.build_candidate(case), reference, case, sample)

    made: dict[str, Callable[[], Step]] = {}
    made[REFERENCE] = functools.partial(_blamed, "reference", first, theirs)
    for case in of_step:
        build = functools.partial(ours, case)
        made[f"MindSpore {case.execution}"] = functools.partial(_blamed, "candidate", case, build)
    return made


def _blamed(role: str, case: TwinCase, build: Callable[[], Step]) -> Step:
    """A side made ready; what it raises is told as its own."""
    with blaming(role, case.name):
        return build()


def torch_step(network: Any, sample: Any, phase: str = "train") -> Step:
    """A step of the reference. phase: "train", or "eval" for the forward pass alone."""
    import torch

    network._load(sample, phase, sample.dtype)
    inputs = network._inputs(sample, sample.dtype)

    def timed(call: Callable[[], object]) -> Step:
        def step() -> object:
            with network._computing(sample, sample.dtype):
                result = call()
            if network.device.type == "cuda":
                torch.cuda.synchronize()
            return result

        return step

    if network.step is not None:
        network.step.to(network.device).train()
        return timed(lambda: network.step(*inputs))
    arguments, keywords = sample.arguments.filled(inputs)

    def forward() -> object:
        return network.module(*arguments, **keywords)

    if phase == "eval":
        return timed(torch.no_grad()(forward))
    for i in sample.differentiable:
        inputs[i].requires_grad_()
    leaves = [each for each in (*inputs, *network.module.parameters()) if each.requires_grad]
    with network._computing(sample, sample.dtype):
        outputs = _with_gradient(forward())
    along = [
        torch.from_numpy(sample.cotangent(name, tuple(out.shape))).to(out)
        for name, out in outputs.items()
    ]
    del outputs

    def backward() -> object:
        outputs = _with_gradient(forward())
        return torch.autograd.grad(list(outputs.values()), leaves, along, allow_unused=True)

    return timed(backward)


def _with_gradient(returned: Any) -> dict[str, Any]:
    """The outputs through which gradients flow, by name."""
    return {name: out for name, out in nesting.named(returned).items() if out.requires_grad}


def mindspore_step(network: Any, reference: Any, case: TwinCase, sample: Any) -> Step:
    """A step of the candidate, in the phase and execution mode of a case."""
    import mindspore as ms

    partners = pairing.partners(case, reference.slots(), network.slots())
    arguments = [ms.Tensor(values) for values in sample.inputs()]
    if case.trains:
        network._load(Feed(sample, partners, case.phase))
        network._set_phase("train")
    else:
        shapes = _shapes(reference, sample) if case.phase == "train" else {}
        network.run(Feed(sample, partners, case.phase, shapes))  # makes the step
        arguments += [ms.Tensor(sample.cotangent(i, shape)) for i, shape in shapes.items()]

    def step() -> None:
        network._enter()  # the sides take turns, and the mode is the process's
        network._step(*arguments)
        ms.runtime.synchronize()

    return step


def _shapes(reference: Any, sample: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of the outputs through which gradients flow, by name."""
    made = reference.run(sample, "train", sample.dtype)
    return {
        name.partition(".")[2]: values.shape
        for name, values in made.items()
        if name.startswith("output.") and values.dtype.kind == "f"
    }


def in_each_execution(every: Iterable[TwinCase]) -> list[list[TwinCase]]:
    """Cases of one configuration, together those that differ in their execution mode alone."""
    found: dict[tuple[str, str], list[TwinCase]] = {}
    for case in every:
        found.setdefault((case.phase, case.dtype), []).append(case)
    return [*found.values()]
