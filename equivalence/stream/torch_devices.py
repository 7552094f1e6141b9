"""Code of models that asks for CUDA where torch has none: it runs on the CPU, and is warned of."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from equivalence.errors import lacks_cuda, of_models
from equivalence.stream.observer import RUN, warn_models
from equivalence.stream.torch_stream import Call, Observer

KEPT = "it asks for CUDA, which this torch does not have, and runs on the CPU"

CPU = torch.device("cpu")

_NAMED = re.compile(r"\bcuda\b")

T = TypeVar("T")


class OnCpu(Observer):
    """Lets functions that are asked for a tensor on CUDA give one on the CPU.

    >>> import torch, warnings
    >>> with warnings.catch_warnings(), OnCpu():
    ...     warnings.simplefilter("ignore")
    ...     torch.ones(2, device="cuda").cuda().device
    device(type='cpu')
    """

    slot = "devices"

    def before(self, call: Call) -> None:
        """Put the CPU in the place of CUDA."""
        if call.function is torch.Tensor.to:
            call.args = (call.args[0], *map(self._instead, call.args[1:]))
        if "device" in call.kwargs:
            call.kwargs = call.kwargs | {"device": self._instead(call.kwargs["device"])}

    def replace(self, call: Call) -> Any:
        """A tensor itself, where it is to be moved to CUDA, or pinned for that."""
        if call.function is torch.Tensor.cuda:
            warn_models(KEPT)
            return call.args[0]
        return call.args[0] if call.function is torch.Tensor.pin_memory else RUN

    def _instead(self, asked: Any) -> Any:
        number = isinstance(asked, int) and not isinstance(asked, bool)
        named = isinstance(asked, str | torch.device) and str(asked).partition(":")[0] == "cuda"
        if not (number or named):
            return asked
        warn_models(KEPT)
        return CPU


def on_cpu() -> list[Observer]:
    """What lets code that may ask for CUDA run here: nothing, where torch has it."""
    return [] if torch.cuda.is_available() else [OnCpu()]


class AbsentCuda:
    """Whether a network asks for CUDA where torch has none, and what lets it run all the same.

    asked: whether it does; None before it is built.
    """

    asked: bool | None = None

    def building(self, make: Callable[[], T]) -> T:
        """What `make` builds, a second time on the CPU where it asks for CUDA."""
        if self.asked:
            with OnCpu():
                return make()
        try:
            built = make()
        except Exception as error:
            if torch.cuda.is_available() or not lacks_cuda(error):
                raise
            self.asked = True
            return self.building(make)
        if self.asked is None and isinstance(built, nn.Module):
            modules = {type(each).__module__ for each in built.modules()}
            self.asked = not torch.cuda.is_available() and any(map(_names_cuda, modules))
        return built

    def observers(self) -> list[Observer]:
        """What a run of the network needs."""
        return on_cpu() if self.asked else []


def _names_cuda(name: str) -> bool:
    """Whether the source of a module of the models' own names CUDA."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or not of_models(file):
        return False
    return bool(_NAMED.search(inspect.getsource(module)))
