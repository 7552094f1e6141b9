"""Parts of a PyTorch network that is built without the values of its parameters."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence import nesting
from equivalence.bylayer import units
from equivalence.bylayer.units import BOUNDED, UnitCall, placed
from equivalence.nesting import Arguments
from equivalence.sides.torch_network import TorchNetwork

Load = Callable[[], nn.Module]
"""Gives a unit with its weights; nothing else keeps it."""


def unit(network: TorchNetwork, path: str) -> TorchNetwork:
    """The module at a path as a network of its own, with parameters that have memory."""
    part = copy.copy(network)
    part.module = _filled(copy.deepcopy(network.module.get_submodule(path)), network.device)
    part.module.register_forward_pre_hook(_copied, with_kwargs=True)
    part.constants, part.draws = network.constants.below(path), network.draws.of_part(path)
    part.whole, part.modes = network, part._modes(network.modes.below(path))
    return part


def around(network: TorchNetwork, stand_ins: Mapping[str, nn.Module]) -> TorchNetwork:
    """The whole network with other modules in the place of its units, as a network of its own.

    stand_ins: path of a unit -> what takes its place.
    """
    part = copy.copy(network)
    part.module = copy.deepcopy(network.module)
    replaced = {id(part.module.get_submodule(path)): new for path, new in stand_ins.items()}
    for module in list(part.module.modules()):
        for name, child in module._modules.items():
            if id(child) in replaced:
                module._modules[name] = replaced[id(child)]
    _filled(part.module, network.device)
    part.constants = network.constants.outside([*stand_ins])
    part.draws = network.draws.of_part("")
    part.whole, part.modes = network, part._modes(network.modes.below(""))
    return part


def _filled(module: nn.Module, device: torch.device) -> nn.Module:
    """The module, with memory for each parameter that has none."""
    filled: dict[int, nn.Parameter] = {}
    for layer in module.modules():
        for name, given in layer._parameters.items():
            if given is not None and given.is_meta:
                if id(given) not in filled:
                    empty = torch.empty_like(given, device=device)
                    filled[id(given)] = nn.Parameter(empty, given.requires_grad)
                    filled[id(given)].of = given  # keeps it, and so its id
                layer._parameters[name] = filled[id(given)]
    return module


def _copied(_: nn.Module, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments of a call as copies: they may be leaves, which a unit may not change."""

    def one(leaf: Any) -> Any:
        return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf

    return nesting.transform(args, one), nesting.transform(kwargs, one)


class Streamed(nn.Module):
    """A unit that has its weights only while it runs, forward or backward; it notes its calls.

    path: its path.
    load: gives the unit with its weights.
    plain: attributes of the unit that its network may read.
    """

    def __init__(self, path: str, load: Load, plain: Mapping[str, Any]):
        super().__init__()
        self.__dict__.update(plain)
        self.path, self.load = path, load
        self.calls: list[UnitCall] = []

    def forward(self, *args, **kwargs):
        (args, kwargs), tensors = placed((args, kwargs), torch.Tensor, self.path, "reference")
        call = UnitCall(Arguments(args, kwargs), [_array(tensor) for tensor in tensors])
        self.calls.append(call)
        given = _UnitRun.apply(self, call, *tensors)
        returned = Arguments((call.returned,)).filled(given)[0][0]
        for name, out in nesting.named(returned).items():
            if isinstance(out, torch.Tensor) and out.requires_grad:
                out.register_hook(lambda grad, name=name: _note(call, name, grad))
        return returned

    def run(self, call: UnitCall, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Run the unit; returns its tensors."""
        args, kwargs = call.arguments.filled(tensors)
        outputs = self.load()(*args, **kwargs)
        call.returned, found = placed(outputs, torch.Tensor, self.path, "reference")
        call.outputs = [(tuple(out.shape), str(out.dtype)) for out in found]
        return tuple(found)


def _note(call: UnitCall, name: str, grad: torch.Tensor) -> None:
    call.cotangents[name] = _array(grad)


class _UnitRun(torch.autograd.Function):
    """Runs a unit forward, and once more where its inputs' gradients are asked for."""

    @staticmethod
    def forward(ctx, streamed, call, *tensors):
        ctx.streamed, ctx.call = streamed, call
        ctx.save_for_backward(*tensors)
        return streamed.run(call, [tensor.detach() for tensor in tensors])

    @staticmethod
    def backward(ctx, *cotangents):
        wanted = ctx.needs_input_grad[2:]
        inputs = [
            tensor.detach().requires_grad_(want)
            for tensor, want in zip(ctx.saved_tensors, wanted, strict=True)
        ]
        with torch.enable_grad():
            outputs = ctx.streamed.run(ctx.call, inputs)
        roots = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
        leaves = [tensor for tensor in inputs if tensor.requires_grad]
        found = [None] * len(leaves)
        if roots and leaves:
            outputs, given = zip(*roots, strict=True)
            found = torch.autograd.grad(outputs, leaves, given, allow_unused=True)
        gradients = iter(found)
        return None, None, *(next(gradients) if want else None for want in wanted)


class StandIn(nn.Module):
    """Takes the place of a unit: it mixes all that goes in, and gives what has the right shapes.

    Every element that comes in counts with a drawn factor; every element that goes out moves by a
    drawn one. So the gradients of the factors show each element that the network hands to the
    unit, and each cotangent that it hands back.

    call: a call of the unit.
    path: its path, for the error's text.
    plain: attributes of the unit that its network may read.
    """

    def __init__(self, path: str, call: UnitCall, plain: Mapping[str, Any]):
        super().__init__()
        self.__dict__.update(plain)
        self.path, self.call = path, call
        for number, values in enumerate(call.inputs):
            self.register_parameter(f"taken{number}", nn.Parameter(torch.empty(values.shape)))
        for number, (shape, dtype) in enumerate(call.outputs):
            if "float" in dtype:
                self.register_parameter(f"given{number}", nn.Parameter(torch.empty(shape)))
                self.register_parameter(f"moved{number}", nn.Parameter(torch.empty(shape)))

    def forward(self, *args, **kwargs):
        _, tensors = placed((args, kwargs), torch.Tensor, self.path, "reference")
        weights, total = self._parameters, 0.0
        kinds = [values.dtype.kind for values in self.call.inputs]
        for number, tensor in enumerate(tensors):
            factor, bounded = weights[f"taken{number}"], getattr(torch, BOUNDED[kinds[number]])
            total = total + (bounded(tensor.to(factor.dtype)) * factor).sum()
        outputs = [
            weights[f"given{number}"] + weights[f"moved{number}"] * total
            if "float" in dtype
            else torch.zeros(shape, dtype=getattr(torch, dtype.removeprefix("torch.")))
            for number, (shape, dtype) in enumerate(self.call.outputs)
        ]
        return Arguments((self.call.returned,)).filled(outputs)[0][0]


def plain(module: nn.Module) -> dict[str, Any]:
    """See `units.plain`."""
    return units.plain(module, nn.Module())


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().copy()
