"""Makes torchvision importable beside a torch that its compiled operators do not fit.

`import torchvision` registers fake implementations of `nms` and `qnms`. That fails where the
compiled extension which declares them is not loaded. To declare the two schemas first, if they are
missing, is enough for models, transforms and the operators that are written in Python.
"""

import importlib.machinery
import importlib.util

SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
"""Name of an operator -> its schema in torchvision."""

_library = None  # schemas vanish with the object that declared them


def declare_missing() -> tuple[str, ...]:
    """Declare the schemas that torchvision's extension does not; returns their names."""
    global _library
    import torch

    if importlib.util.find_spec("torchvision") is None or _library is not None:
        return ()
    _load_extension(torch)
    missing = [name for name in SCHEMAS if not _declared(torch, name)]
    if missing:
        _library = torch.library.Library("torchvision", "FRAGMENT")
        for name in missing:
            _library.define(SCHEMAS[name])
    return tuple(missing)


def _load_extension(torch) -> None:
    """Load the extension if it fits torch, so that its own schemas are found."""
    folder = importlib.util.find_spec("torchvision").submodule_search_locations[0]
    extension = importlib.machinery.PathFinder.find_spec("torchvision._C", [folder])
    if extension is None:
        return
    try:
        torch.ops.load_library(extension.origin)
    except OSError:
        return


def _declared(torch, name: str) -> bool:
    try:
        return bool(getattr(torch.ops.torchvision, name))
    except (AttributeError, RuntimeError):
        return False
