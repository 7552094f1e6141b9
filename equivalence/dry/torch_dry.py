"""A PyTorch training without passes. Loads torch."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim import optimizer as hooks

from equivalence.dry.recorder import DryRecorder
from equivalence.nesting import of_kind
from equivalence.scripts.torch_side import TorchSide
from equivalence.stream.torch_devices import on_cpu
from equivalence.stream.torch_stream import unseen, without_functions


class TorchDry(TorchSide):
    """A PyTorch training that is watched, and whose passes cost nothing."""

    @contextlib.contextmanager
    def watching(self, recorder: Any, *observers: Any) -> Iterator[None]:
        """See `TorchSide.watching`; here no optimiser updates."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(super().watching(recorder, *observers))
            taken: list[list[tuple[torch.Tensor, Any]]] = []

            def take(optimizer: Optimizer, *_: Any) -> None:
                weights = [weight for group in optimizer.param_groups for weight in group["params"]]
                taken.append([(each, each.grad) for each in weights])
                for each in weights:
                    each.grad = None

            def put_back(*_: Any) -> None:
                for weight, gradient in taken.pop():
                    weight.grad = gradient

            for handle in (
                hooks.register_optimizer_step_pre_hook(take),  # after the recorder's own
                hooks.register_optimizer_step_post_hook(put_back),
            ):
                stack.callback(handle.remove)
            yield

    def _observers(self, others: tuple) -> tuple:  # noqa: ARG002
        return (self.drawing, *on_cpu())

    def trains(self, network: nn.Module) -> bool:
        """Whether a network is in training mode."""
        return network.training

    def again(self, value: Any) -> Any:
        """A copy of a tensor that was answered before; anything else as it is."""
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().clone()
        return copy.requires_grad_(value.requires_grad and torch.is_grad_enabled())

    def numbers(self, network: nn.Module) -> dict[str, object]:
        """Path -> plain number that a layer holds."""
        return {
            f"{path}.{name}": value
            for path, module in network.named_modules()
            for name, value in vars(module).items()
            if type(value) in (int, float)
        }

    def _backward(self, recorder: Any) -> Callable[..., Any]:
        def standing(tensors: Any, *_: Any, **__: Any) -> None:
            for value in of_kind(tensors, torch.Tensor):
                recorder.loss(self.array(value) if recorder.multiplied is None else None)
            factor = recorder.passes()
            with torch.no_grad(), without_functions(), unseen():
                for network in self._roots.values():
                    for weight in network.parameters():
                        if weight.requires_grad:
                            _add(weight, recorder, factor)

        return standing

    def _grad(self, recorder: Any) -> Callable[..., Any]:
        grad = torch.autograd.grad

        def standing(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            asked = [inputs] if isinstance(inputs, torch.Tensor) else [*inputs]
            if not all(isinstance(each, nn.Parameter) for each in asked):
                return grad(outputs, inputs, *args, **kwargs)
            for value in of_kind(outputs, torch.Tensor):
                recorder.loss(self.array(value))
            factor = recorder.passes()
            return tuple(_gradient(each, recorder, factor) for each in asked)

        return standing


def _add(weight: torch.Tensor, recorder: DryRecorder, factor: float) -> None:
    """Add the gradient of a pass to that of a weight."""
    gradient = _gradient(weight, recorder, factor)
    if gradient is not None:
        weight.grad = gradient if weight.grad is None else weight.grad.add_(gradient)


def _gradient(weight: torch.Tensor, recorder: DryRecorder, factor: float) -> torch.Tensor | None:
    pattern = recorder.gradient(weight)
    if pattern is None:
        return None
    values = pattern * np.float32(factor)
    return torch.from_numpy(values).to(weight.device, weight.dtype)
