"""Names of PyTorch and torchvision: the objects behind them, and whether they compute anything."""

import functools
import importlib
import inspect
from typing import Any

from equivalence import torchvision_schemas

ROOTS = ("torch", "torchvision")
TENSOR = "torch.Tensor"

STRUCTURE = {
    "torch": (
        "Size",
        "Tensor",
        "_assert",
        "device",
        "dtype",
        "enable_grad",
        "get_default_dtype",
        "inference_mode",
        "is_grad_enabled",
        "is_tensor",
        "no_grad",
        "set_default_dtype",
        "set_grad_enabled",
    ),
    "torch.nn": (
        "Identity",
        "Module",
        "ModuleDict",
        "ModuleList",
        "Parameter",
        "ParameterDict",
        "ParameterList",
        "Sequential",
    ),
    "torch.optim": ("Optimizer",),
    "torch.optim.lr_scheduler": ("LRScheduler",),
    "torch.utils.data": ("Dataset",),
    "torchvision": ("_is_tracing",),
    "torchvision.extension": ("_assert_has_ops",),
    TENSOR: (
        "contiguous",
        "cpu",
        "cuda",
        "data_ptr",
        "dim",
        "element_size",
        "get_device",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "item",
        "ndimension",
        "nelement",
        "numel",
        "numpy",
        "size",
        "stride",
        "tolist",
    ),
}
"""Module or class -> its names that compute nothing, so that there is nothing to verify."""
STRUCTURE_BELOW = (
    "torch._C._get_tracing_state",
    "torch._C._log_api_usage_once",
    "torch.backends.",
    "torch.fx.",
    "torch.Generator",
    "torch.hub.",
    "torch.jit.",
    "torch.version.",
)
"""Prefixes of all other names that compute nothing."""


@functools.cache
def computes_nothing(api: str) -> bool:
    """Whether an API is structure, a type, a constant or a query."""
    import torch

    owner, _, name = api.rpartition(".")
    if name in STRUCTURE.get(owner, ()) or api.startswith(STRUCTURE_BELOW):
        return True
    target = look_up(api)
    kinds = (torch.dtype, torch.layout, torch.memory_format, float, int, str)
    return isinstance(target, kinds) or inspect.ismodule(target)


@functools.cache
def is_class(api: str) -> bool:
    """Whether an API is a class, such as a layer."""
    return inspect.isclass(look_up(api))


def public_class(kind: type) -> str:
    """The public name of a class, or of the first of its bases that has one."""
    import torch

    for base in kind.__mro__:
        for holder in (torch.nn, torch.optim):
            if getattr(holder, base.__name__, None) is base:
                return f"{holder.__name__}.{base.__name__}"
    return f"{kind.__module__}.{kind.__qualname__}"


def public(api: str) -> str:
    """A class by its public name; any other name unchanged."""
    target = look_up(api)
    inner = inspect.isclass(target) and api.startswith("torch.nn.modules.")
    return public_class(target) if inner else api


@functools.cache
def look_up(api: str) -> Any:
    """The object of a dotted name of torch or torchvision; None where there is none."""
    root, *names = api.split(".")
    target = _package(root)
    for number, name in enumerate(names, 1):
        if not hasattr(target, name) and inspect.ismodule(target):
            _package(".".join([root, *names[:number]]))
        target = getattr(target, name, None)
    return target


def _package(name: str) -> Any:
    torchvision_schemas.declare_missing()
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@functools.cache
def methods() -> tuple[frozenset[str], frozenset[str]]:
    """(methods that only tensors have, methods that strings or containers also have)."""
    import torch

    kinds = (str, bytes, list, tuple, dict, set, frozenset, int, float)
    builtin = {name for kind in kinds for name in dir(kind)}
    tensor = {
        name
        for name in dir(torch.Tensor)
        if name[0] != "_" and callable(getattr(torch.Tensor, name, None))
    }
    return frozenset(tensor - builtin), frozenset(tensor & builtin)
