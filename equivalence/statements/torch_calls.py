"""Records the operator calls of a PyTorch run, and the cotangents that come back to them."""

import functools
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd.graph import Node
from torch.backends import cuda

from equivalence import nesting
from equivalence.nesting import of_kind
from equivalence.sides.torch_constants import as_pairs
from equivalence.statements.calls import Code, Place, Recording, Spot
from equivalence.stream.torch_stream import Call, Observer


class TorchCalls(Observer):
    """A watch that records every operator of a forward pass, also those within attention.

    network: the module that runs.
    recording: the run as data.
    """

    slot = "calls"

    def __init__(self, network: nn.Module):
        self.code = Code(dict(network.named_modules()))
        self.network, self.recording = network, Recording()
        self._over = False
        self._handles: list = []
        self._alive: list[torch.Tensor] = []
        self._nodes: set = set()
        self._edges: dict[tuple, Spot] = {}

    def begin(self) -> None:
        """Compute attention by operators, and know when the forward pass ends."""
        # A fused kernel would hide the scores. The switch is that of CPUs, too.
        self._fused = cuda.flash_sdp_enabled()
        cuda.enable_flash_sdp(False)
        self._handles.append(self.network.register_forward_hook(self._returned))

    def end(self) -> None:
        """Undo it."""
        cuda.enable_flash_sdp(self._fused)
        for handle in self._handles:
            handle.remove()

    def before(self, call: Call) -> None:
        """Record what an operator takes."""
        if self._over:
            return
        self._given = of_kind((call.args, call.kwargs), torch.Tensor)
        values, places = [*map(_array, self._given)], [*map(_place, self._given)]
        self._taken = self.recording.take(values, places)
        self._follow(self._given, self._taken)

    def after(self, call: Call, result: Any) -> Any:
        """Record what it gives, also what it writes."""
        if self._over:
            return result
        written = [
            x
            for x, argument in zip(call.args, call.function._schema.arguments, strict=False)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        outputs = of_kind((result, written), torch.Tensor)
        self._alive += [*self._given, *outputs]
        arrays, places = [*map(_array, outputs)], [*map(_place, outputs)]
        self.recording.add(call.name, self._taken, arrays, self.code.here(), places)
        return result

    def _follow(self, given: list[torch.Tensor], taken: tuple[int, ...]) -> None:
        """Keep the cotangents of what the next call takes."""
        for i, (tensor, value) in enumerate(zip(given, taken, strict=True)):
            spot = len(self.recording.calls), i
            if not tensor.requires_grad:
                if tensor.is_floating_point():
                    self.recording.closed.add(spot)
                continue
            self.recording.flows.add(spot)
            edge = _edge(tensor.grad_fn, tensor.output_nr, tensor)
            if edge not in self._edges:
                self._edges[edge] = spot
                if tensor.is_leaf:
                    hook = functools.partial(self._keep, spot)
                    self._handles.append(tensor.register_hook(hook))
            self._watch_node(tensor, value)

    def _watch_node(self, tensor: torch.Tensor, value: int) -> None:
        """Keep what the operator that gives a tensor hands back to each tensor that it takes."""
        node = tensor.grad_fn
        if node is not None and node not in self._nodes:
            self._nodes.add(node)
            self._handles.append(node.register_hook(functools.partial(self._share, node, value)))

    def _returned(self, _module: nn.Module, _inputs: tuple, outputs: object) -> None:
        """The end of the forward pass: what the backward pass calls is not recorded."""
        for leaf in nesting.named(outputs).values():
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                self._watch_node(leaf, self.recording.value(_array(leaf)))
        self._over = True

    def _keep(self, spot: Spot, cotangent: torch.Tensor | None) -> None:
        if cotangent is not None:
            self.recording.cotangents[spot] = _array(cotangent).copy()

    def _share(self, node: Node, value: int, inputs: tuple, outputs: tuple) -> None:
        # These are behind all hooks of the user's own.
        for number, cotangent in enumerate(outputs):
            if cotangent is not None and (node, number) in self._edges:
                self._keep(self._edges[node, number], cotangent)
        for (giving, number), cotangent in zip(node.next_functions, inputs, strict=True):
            edge = _edge(giving, number, getattr(giving, "variable", None))
            if cotangent is not None and edge in self._edges:
                shares, key = self.recording.shares, (self._edges[edge], value)
                shares[key] = shares.get(key, 0.0) + _array(cotangent)


def _edge(node: Node | None, number: int, tensor: torch.Tensor | None) -> tuple:
    """A tensor in the graph of gradients: what gives it, or, of a leaf, itself."""
    return (node, number) if tensor is None or not tensor.is_leaf else (id(tensor),)


def _place(tensor: torch.Tensor) -> Place:
    if tensor.layout is not torch.strided:  # its values lie in a tensor of their own
        coordinates = tensor.layout is torch.sparse_coo
        tensor = tensor._values() if coordinates else tensor.values()
    return tensor.data_ptr(), tuple(tensor.shape)


def _array(tensor: torch.Tensor) -> np.ndarray:
    dense = tensor.detach()
    dense = dense if dense.layout is torch.strided else dense.to_dense()
    return as_pairs(dense).cpu().resolve_neg().numpy()
