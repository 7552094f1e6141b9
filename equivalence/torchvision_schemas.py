"""Makes torchvision importable beside a torch that its compiled operators do not fit.

`import torchvision` loads its compiled extension, and then registers fake implementations of `nms`
and `qnms`. That fails where the extension, which declares them, does not load. To declare the two
schemas in between, if they are missing, is enough for models, transforms and the operators that
are written in Python. Where the extension loads, nothing is declared: to declare a schema twice
ends the process.
"""

import importlib.abc
import sys
from typing import Any

SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
"""Name of an operator -> its schema in torchvision."""

REGISTERS = "torchvision._meta_registrations"
"""What torchvision imports after its extension, whatever that is called, and before all else."""

_libraries: list[Any] = []  # schemas vanish with the object that declared them


def declare_missing() -> None:
    """Have the schemas declared that torchvision turns out to lack while it is imported."""
    if not any(isinstance(finder, _Declaring) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Declaring())


class _Declaring(importlib.abc.MetaPathFinder):
    """Is asked for every module that is about to be imported, and finds none."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == REGISTERS:
            _declare()


def _declare() -> None:
    import torch

    for name, schema in SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            library = torch.library.Library("torchvision", "FRAGMENT")
            library.define(schema)
            _libraries.append(library)
