"""What the network that a checkpoint is for demands of it: names, shapes, shared weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from equivalence.build import build
from equivalence.checkpoint_formats import MINDSPORE, PYTORCH
from equivalence.errors import CheckpointError, EquivalenceError
from equivalence.weights import Slot

# The engine's distinction of parameters and buffers does not show in a file: frozen or not, a
# weight is a weight.
KIND = "weight"


@dataclass
class Destination:
    """A network's weights, by the path below it at which each is used.

    first: path -> the first path at which the same weight is used. names: path -> name in a
    file. kernels: paths that a convolution or a dense layer multiplies by. constants: path ->
    dtype of the frozen scales and shifts of a MindSpore cell, which stand there as ones and zeros
    also where it has none. plain: paths of layers that say affine=False.
    """

    slots: dict[str, Slot] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    kernels: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)


def describe(framework: str, target: str, arguments: Mapping[str, Any]) -> Destination:
    """Build `target`, "module:attribute", of `framework`, and read what it demands.

    Raises DeclarationError where it is not found or does not take `arguments`, CheckpointError
    where building it fails or it is no network of that framework.
    """
    if ":" not in target:
        raise CheckpointError(f"--network {target!r} is not 'module:attribute'")
    return {MINDSPORE: _cell, PYTORCH: _module}[framework](target, arguments)


def _built(target: str, arguments: Mapping[str, Any], base: type, what: str) -> Any:
    try:
        network = build(target, arguments)
    except EquivalenceError:
        raise
    except Exception as error:
        text = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise CheckpointError(f"{target!r} cannot be built: {text}") from error
    if not isinstance(network, base):
        raise CheckpointError(f"{target!r} builds a {type(network).__name__}, no {what}")
    return network


def _cell(target: str, arguments: Mapping[str, Any]) -> Destination:
    from mindspore import nn
    from mindspore.nn.utils import no_init_parameters

    with no_init_parameters():
        network = _built(target, arguments, nn.Cell, "MindSpore cell")
    found = Destination()
    paths: dict[int, str] = {}

    def visit(cell: nn.Cell, prefix: str) -> None:
        if getattr(cell, "affine", True) is False:
            found.plain.add(prefix[:-1])
        for leaf, parameter in cell._params.items():
            if parameter is None:
                continue
            path = prefix + leaf
            found.slots[path] = Slot(tuple(parameter.shape), KIND)
            found.first[path] = paths.setdefault(id(parameter), path)
            found.names[path] = parameter.name
            if leaf == "weight":
                found.kernels.add(path)
            if leaf in ("gamma", "beta") and not parameter.requires_grad:
                found.constants[path] = str(parameter.dtype).lower().removeprefix("mindspore.")
        # A cell that is used twice is visited twice: PyTorch has a name for each use.
        for name, child in cell._cells.items():
            if child is not None:
                visit(child, f"{prefix}{name}.")

    visit(network, "")
    owners: dict[str, str] = {}
    for path, name in found.names.items():
        if owners.setdefault(name, found.first[path]) != found.first[path]:
            raise CheckpointError(
                f"{target!r} has two weights called {name}, {owners[name]} and {path}: a "
                f"checkpoint would hold one of them"
            )
    return found


def _module(target: str, arguments: Mapping[str, Any]) -> Destination:
    from torch import Tensor, nn

    from equivalence.torch_adapter import SkipInitialisation

    with SkipInitialisation():
        network = _built(target, arguments, nn.Module, "PyTorch module")
    found = Destination()
    paths: dict[int, str] = {}
    for path, tensor in network.state_dict(keep_vars=True).items():
        if not isinstance(tensor, Tensor):
            raise CheckpointError(f"{target!r} keeps {path}, which is no tensor, in its state dict")
        found.slots[path] = Slot(tuple(tensor.shape), KIND)
        found.first[path] = paths.setdefault(id(tensor), path)
        found.names[path] = path
    for path, module in network.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        if prefix + "weight" in found.slots and not isinstance(module, nn.Embedding):
            found.kernels.add(prefix + "weight")
        if getattr(module, "affine", True) is False:
            found.plain.add(path)
    return found
