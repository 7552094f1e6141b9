"""What goes through the layers of a PyTorch network, by hooks that leave again."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence import dtypes
from equivalence.dumps.passing import Passing, by_weight
from equivalence.stream.observer import attached
from equivalence.stream.torch_stream import in_backward
from equivalence.structure.torch_steps import of_optimizers
from equivalence.structure.weights import REFERENCE_ONLY, WRAPPERS

COMPILED = "it is compiled: of its layers, only its own inputs and outputs are seen"

_HALF = (torch.bfloat16, torch.float16)


class HookedSide:
    """A PyTorch network that is recorded."""

    def __init__(self, net: nn.Module):
        self.net = net
        compiled = hasattr(net, "_orig_mod")  # isinstance would load the compiler
        self.notes = [COMPILED] if compiled else []
        self.made = {"framework": "torch", "version": torch.__version__, "mode": "eager"}
        if compiled:
            self.made["mode"] = "compiled"
        self._inner = _unwrapped(net)
        self.layers = {"": net} if compiled else dict(self._inner.named_modules())
        self._handles: list[Any] = []

    @property
    def trains(self) -> bool:
        """Whether the network is in training mode now."""
        return self.net.training

    @contextlib.contextmanager
    def observed(self, passing: Passing) -> Iterator[None]:
        """A context in which `passing` gets what goes through the layers."""
        hooks = []
        for path, layer in self.layers.items():
            if isinstance(layer, torch.jit.ScriptModule):
                continue  # its hooks would be compiled
            before, after = _hooks(path, passing)
            hooks.append(layer.register_forward_pre_hook(before, with_kwargs=True))
            hooks.append(layer.register_forward_hook(after))
        for name, weight in self._inner.named_parameters():
            if weight.requires_grad:
                hooks.append(weight.register_hook(_gradient_hook(name, passing)))
        with attached(hooks):
            try:
                yield
            finally:
                self.forget()

    def rates(self, optimizer: Any) -> dict[str, float]:
        """The learning rate of now, or those of each weight where they differ."""
        names = {id(weight): [name] for name, weight in self._inner.named_parameters()}
        told = of_optimizers([optimizer], names).get("lr", {}) if optimizer is not None else {}
        return by_weight({name: float(rate) for name, rate in told.items()})

    def scale(self, scaler: Any) -> float:
        """The scale that a scaler of the loss has now."""
        return float(scaler.get_scale())

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Name and value of each parameter and buffer that a state dict has, each once."""
        seen: set[int] = set()
        for name, value in self._inner.state_dict(keep_vars=True).items():
            if name.rpartition(".")[2] in REFERENCE_ONLY or id(value) in seen:
                continue
            seen.add(id(value))
            yield name, value

    def watch(self, value: Any, got: Callable[[Any], None]) -> None:
        """Let `got` have the gradient of a layer's output, if there will be one."""
        if isinstance(value, torch.Tensor) and value.requires_grad:
            self._handles.append(value.register_hook(got))

    def forget(self) -> None:
        """Take the hooks off all outputs."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def array(self, value: Any) -> np.ndarray | None:
        """A tensor as a new array; None for what is none."""
        return array(value)


def array(value: Any) -> np.ndarray | None:
    """A tensor as a new array; None for what is none."""
    if not isinstance(value, torch.Tensor):
        return None
    with torch.no_grad():
        value = value.detach().to_dense() if value.layout != torch.strided else value.detach()
        short = value.is_floating_point() and value.dtype.itemsize < 4
        found = np.array((value.float() if short else value).resolve_conj().resolve_neg().cpu())
    if value.dtype in _HALF:
        return dtypes.rounded(found, str(value.dtype).removeprefix("torch."))
    return found


def _hooks(path: str, passing: Passing) -> tuple[Callable, Callable]:
    """What a layer calls before and after its forward pass."""

    def before(_: nn.Module, arguments: tuple, keywords: dict) -> None:
        if _is_seen(passing, path):
            passing.enter(path, arguments, keywords)

    def after(_: nn.Module, __: tuple, outputs: Any) -> None:
        if _is_seen(passing, path):
            passing.leave(path, outputs)

    return before, after


def _gradient_hook(name: str, passing: Passing) -> Callable[[torch.Tensor], None]:
    def got(gradient: torch.Tensor) -> None:
        if not torch.compiler.is_compiling():
            passing.gradient(name, gradient)

    return got


def _is_seen(passing: Passing, path: str) -> bool:
    """Whether a call is recorded: not while it is compiled, nor when a backward pass repeats it."""
    if torch.compiler.is_compiling() or not passing.active:
        return False
    if in_backward():
        passing.note("computed again in a backward pass (checkpointing), not recorded", path)
        return False
    return True


def _unwrapped(net: nn.Module) -> nn.Module:
    """The network in wrappers, such as those of data parallel training and compilation."""
    children = dict(net.named_children())
    if len(children) == 1 and {*children} <= {*WRAPPERS} and not any(net.parameters(False)):
        return _unwrapped(next(iter(children.values())))
    return net
