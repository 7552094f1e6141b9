"""Records the operator calls of a PyTorch run, and the cotangents that come back to them."""

import functools

import numpy as np
import torch
from torch import nn
from torch.backends import cuda

from equivalence.sides.kinks import Uncompiled
from equivalence.statements.calls import Code, Recording


class TorchCalls(Uncompiled):
    """A watch that records every operator of a forward pass, also those within attention.

    network: the module that runs.
    recording: the run as data.
    """

    def __init__(self, network: nn.Module):
        super().__init__()
        self.code = Code(dict(network.named_modules()))
        self.recording = Recording()
        self._handles: list = []

    def __enter__(self):
        # A fused kernel would hide the scores. The switch is that of CPUs, too.
        self._fused = cuda.flash_sdp_enabled()
        cuda.enable_flash_sdp(False)
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        cuda.enable_flash_sdp(self._fused)
        for handle in self._handles:
            handle.remove()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch._C._current_graph_task_id() != -1:
            return func(*args, **kwargs)
        given = _tensors((args, kwargs))
        taken = self.recording.take([_array(x) for x in given])
        self._follow(given, taken)
        result = func(*args, **kwargs)
        written = [
            x
            for x, argument in zip(args, func._schema.arguments, strict=False)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        outputs = [_array(x) for x in _tensors((result, written))]
        name = func.overloadpacket.__name__
        self.recording.add(name, taken, outputs, self.code.here())
        return result

    def _follow(self, given: list[torch.Tensor], taken: tuple[int, ...]) -> None:
        """Keep the cotangents of what the next call takes."""
        for i, (tensor, value) in enumerate(zip(given, taken, strict=True)):
            spot = len(self.recording.calls), i
            if not tensor.requires_grad:
                if tensor.is_floating_point():
                    self.recording.closed.add(spot)
            elif value not in self.recording.flows:
                self.recording.flows[value] = spot
                self._handles.append(tensor.register_hook(functools.partial(self._keep, value)))

    def _keep(self, value: int, cotangent: torch.Tensor) -> None:
        self.recording.cotangents[value] = _array(cotangent).copy()


def _tensors(values: object) -> list[torch.Tensor]:
    """The tensors in nested arguments, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = tuple(values.values())
    if isinstance(values, tuple | list):
        return [leaf for item in values for leaf in _tensors(item)]
    return []


def _array(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.cpu().resolve_neg().numpy()
