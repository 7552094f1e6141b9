"""What a network demands of its checkpoint: names, shapes, dtypes, shared weights.

The same for its optimiser, where the checkpoint is of a training.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.checkpoints.formats import MINDSPORE, PYTORCH, StoredWeight, numpy_dtype
from equivalence.convert.optimizer_state import SETTING, BuiltForMindSpore
from equivalence.errors import CheckpointError, EquivalenceError
from equivalence.structure.weights import Slot
from equivalence.targets import build, resolve

KIND = "weight"
"""The kind of every slot: a file does not distinguish parameters from buffers."""


@dataclass
class Destination:
    """The weights of a network, by the path below it at which each is used.

    slots: path -> shape.
    first: path -> the first path of the same weight.
    names: path -> name in a file.
    dtypes: path -> dtype.
    kernels: paths of the weights that a convolution or a dense layer multiplies by.
    depthwise: those of convolutions with one group for each input channel.
    flat: those of convolutions over one dimension.
    constants: frozen scales and shifts of a MindSpore cell; ones and zeros where it has none.
    plain: paths of layers with affine=False.
    network: the network itself.
    """

    slots: dict[str, Slot] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    kernels: set[str] = field(default_factory=set)
    depthwise: set[str] = field(default_factory=set)
    flat: set[str] = field(default_factory=set)
    constants: list[str] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)
    network: Any = None


def describe(framework: str, target: str, arguments: Mapping[str, Any]) -> Destination:
    """Build `target`, "module:attribute", of `framework`, and return what it demands.

    Raises DeclarationError where the target is not found or does not take `arguments`, and
    CheckpointError where building it fails or it is no network of that framework.
    """
    if ":" not in target:
        raise CheckpointError(f"--network {target!r} is not 'module:attribute'")
    return {MINDSPORE: _cell, PYTORCH: _module}[framework](target, arguments)


def _build(target: str, arguments: Mapping[str, Any], base: type, what: str) -> Any:
    """The network that `target` builds; CheckpointError where that fails or it is no `base`."""
    return _built(target, "", lambda: build(target, arguments), base, what)


def _built(target: str, of: str, make: Callable[[], Any], base: type, what: str) -> Any:
    """What `make` gives; CheckpointError where it raises, or that is no `base`.

    of: what it is built from, as the middle of a sentence. what: the base, in words.
    """
    try:
        built = make()
    except EquivalenceError:
        raise
    except Exception as error:
        text = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise CheckpointError(f"{target!r} cannot be built{of}: {text}") from error
    if not isinstance(built, base):
        raise CheckpointError(f"{target!r} builds a {type(built).__name__}, no {what}")
    return built


def _cell(target: str, arguments: Mapping[str, Any]) -> Destination:
    from mindspore import nn
    from mindspore.nn.utils import no_init_parameters

    with no_init_parameters():
        network = _build(target, arguments, nn.Cell, "MindSpore cell")
    destination = Destination(network=network)
    paths: dict[int, str] = {}

    def visit(cell: nn.Cell, prefix: str) -> None:
        if getattr(cell, "affine", True) is False:
            destination.plain.add(prefix[:-1])
        for leaf, parameter in cell._params.items():
            if parameter is None:
                continue
            path = prefix + leaf
            destination.slots[path] = Slot(tuple(parameter.shape), KIND)
            destination.first[path] = paths.setdefault(id(parameter), path)
            destination.names[path] = parameter.name
            destination.dtypes[path] = _dtype(parameter)
            if leaf == "weight":
                destination.kernels.add(path)
                groups = getattr(cell, "group", getattr(cell, "groups", 1))
                if groups != 1 and groups == getattr(cell, "in_channels", None):
                    destination.depthwise.add(path)
                if isinstance(cell, nn.Conv1d | nn.Conv1dTranspose):
                    destination.flat.add(path)
            if leaf in ("gamma", "beta") and not parameter.requires_grad:
                destination.constants.append(path)
        # A cell that is used twice is visited twice, because PyTorch has a name for each use.
        for name, child in cell._cells.items():
            if child is not None:
                visit(child, f"{prefix}{name}.")

    visit(network, "")
    owners: dict[str, str] = {}
    for path, name in destination.names.items():
        if owners.setdefault(name, destination.first[path]) != destination.first[path]:
            raise CheckpointError(
                f"{target!r} has two weights called {name}, {owners[name]} and {path}: a "
                f"checkpoint would hold one of them"
            )
    return destination


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).lower().rpartition(".")[2]


def _module(target: str, arguments: Mapping[str, Any]) -> Destination:
    from torch import Tensor, nn

    from equivalence.sides.torch_modes import SkipInitialisation

    with SkipInitialisation():
        network = _build(target, arguments, nn.Module, "PyTorch module")
    destination = Destination(network=network)
    paths: dict[int, str] = {}
    for path, tensor in network.state_dict(keep_vars=True).items():
        if not isinstance(tensor, Tensor):
            raise CheckpointError(f"{target!r} keeps {path}, which is no tensor, in its state dict")
        destination.slots[path] = Slot(tuple(tensor.shape), KIND)
        destination.first[path] = paths.setdefault(id(tensor), path)
        destination.names[path] = path
        destination.dtypes[path] = _dtype(tensor)
    for path, module in network.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        if prefix + "weight" in destination.slots and not isinstance(module, nn.Embedding):
            destination.kernels.add(prefix + "weight")
            groups = getattr(module, "groups", 1)
            if groups != 1 and groups == getattr(module, "in_channels", None):
                destination.depthwise.add(prefix + "weight")
            if isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
                destination.flat.add(prefix + "weight")
        if getattr(module, "affine", True) is False:
            destination.plain.add(path)
    return destination


def without_partner(
    needs: Destination, targets: Mapping[str, str], weights: Mapping[str, StoredWeight]
) -> list[str]:
    """Paths of frozen scales and shifts of layers for which the file has neither.

    The file shows it by running statistics without them, the cell by its `affine`.
    """
    paths = []
    for path in needs.constants:
        layer = path.rpartition(".")[0]
        prefix = f"{layer}." if layer else ""
        own = [targets[prefix + leaf] for leaf in ("gamma", "beta") if prefix + leaf in targets]
        statistic = targets.get(f"{prefix}moving_mean")
        if not weights.keys() & set(own) and (statistic in weights or layer in needs.plain):
            paths.append(path)
    return paths


def is_constant(name: str, weight: StoredWeight, needs: Destination) -> bool:
    """Whether a weight is ones or zeros in place of a scale or shift that PyTorch does not have."""
    layer, _, leaf = name.rpartition(".")
    value = {"weight": 1, "bias": 0}.get(leaf)
    if name in needs.slots or layer not in needs.plain or value is None:
        return False
    constant = np.full(weight.shape, value, numpy_dtype(weight.dtype))
    return weight.dtype != "bfloat16" and np.array_equal(weight.values, constant)


# --- The optimiser -------------------------------------------------------------------------------


def _optimizer(target: str, network: Any, base: type, what: str) -> Any:
    """The optimiser that `target`, "module:attribute", builds from the network."""
    if ":" not in target:
        raise CheckpointError(f"--optimizer {target!r} is not 'module:attribute'")
    of = " from the network"
    return _built(target, of, lambda: resolve(target)(network), base, what)


def optimizer_of_cell(target: str, network: Any) -> tuple[BuiltForMindSpore, list[str]]:
    """What a MindSpore cell's optimiser keeps, and the names of the weights that it trains."""
    from mindspore import nn
    from mindspore.experimental import optim

    optimizer = _optimizer(target, network, nn.Cell, "MindSpore optimiser")
    if type(optimizer) not in (
        nn.Momentum,
        nn.SGD,
        nn.Adam,
        optim.SGD,
        optim.Adam,
        optim.AdamW,
    ):
        raise CheckpointError(
            f"{target!r} builds a {type(optimizer).__name__}; only the state of Momentum, SGD and "
            f"Adam of mindspore.nn and of SGD, Adam and AdamW of mindspore.experimental.optim is "
            f"converted"
        )
    built = BuiltForMindSpore(scheduled=bool(getattr(optimizer, "dynamic_lr", False)))
    trained = [parameter.name for parameter in optimizer.parameters]
    for parameter in optimizer.get_parameters():
        if parameter.name in trained:
            continue
        built.entries[parameter.name] = (_dtype(parameter), tuple(parameter.shape))
        if SETTING.fullmatch(parameter.name):
            values = parameter.asnumpy().copy()
            built.values[parameter.name] = StoredWeight(_dtype(parameter), values)
    groups = getattr(optimizer, "param_groups", None) or [_as_group(optimizer)]
    if type(optimizer) is optim.Adam and any(group["amsgrad"] for group in groups):
        raise CheckpointError(
            f"{target!r} builds an Adam of mindspore.experimental.optim with amsgrad=True, which "
            f"MindSpore ignores; mindspore.nn.Adam has use_amsgrad"
        )
    for group in groups:
        for key in ("momentum", "dampening", "nesterov", "amsgrad"):
            if key in group:
                built.settings.setdefault(key, set()).add(float(group[key]))
        if "betas" in group:
            built.betas = tuple(map(float, group["betas"]))
            for key, beta in zip(("beta1", "beta2"), built.betas, strict=True):
                built.settings.setdefault(key, set()).add(beta)
            decoupled = type(optimizer).__name__.endswith("AdamW")
            built.settings["decoupled weight decay"] = {float(decoupled)}
    return built, trained


def _as_group(optimizer: Any) -> dict[str, Any]:
    """The hyperparameters of an optimiser of mindspore.nn, by the names in other optimisers."""
    group = {"nesterov": getattr(optimizer, "use_nesterov", getattr(optimizer, "nesterov", False))}
    if hasattr(optimizer, "momentum"):
        group["momentum"] = float(optimizer.momentum)
        group["dampening"] = getattr(optimizer, "dampening", 0.0)
    if hasattr(optimizer, "beta1"):
        # As decimals: the powers are those of the given number, not of its float32 value.
        betas = (optimizer.beta1, optimizer.beta2)
        group["betas"] = tuple(float(str(beta.asnumpy())) for beta in betas)
        group["amsgrad"] = optimizer.use_amsgrad
    return group


def optimizer_of_module(target: str, network: Any) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """The groups of a PyTorch module's optimiser, and number -> name of each parameter."""
    from torch import optim

    optimizer = _optimizer(target, network, optim.Optimizer, "PyTorch optimiser")
    if type(optimizer) not in (optim.SGD, optim.Adam, optim.AdamW):
        raise CheckpointError(
            f"{target!r} builds a {type(optimizer).__name__}; only the state of SGD, Adam and "
            f"AdamW is converted"
        )
    groups = optimizer.state_dict()["param_groups"]
    paths = {id(p): path for path, p in network.named_parameters()}
    trained = [p for group in optimizer.param_groups for p in group["params"]]
    numbers = [number for group in groups for number in group["params"]]
    if strange := [n for n, p in zip(numbers, trained, strict=True) if id(p) not in paths]:
        raise CheckpointError(
            f"{target!r} steps a parameter, number {strange[0]}, that the network does not have"
        )
    return groups, {n: paths[id(p)] for n, p in zip(numbers, trained, strict=True)}
