"""Code of models that asks for CUDA where torch has none: it runs on the CPU, and is warned of.

Its `autocast` and its `GradScaler` are those of the CPU, which torch would leave out else. What
CUDA computes in float32 under autocast, such as a softmax, is computed so.
"""

import contextlib
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from equivalence.errors import lacks_cuda, of_models
from equivalence.nesting import transform
from equivalence.stream.observer import RUN, warn_models
from equivalence.stream.patches import patched
from equivalence.stream.torch_stream import Call, Observer

KEPT = "it asks for CUDA, which this torch does not have, and runs on the CPU"

CPU = torch.device("cpu")

IN_FLOAT32 = {
    *("__pow__", "__rdiv__", "__rpow__", "__rtruediv__", "pow", "reciprocal", "rsqrt", "tan"),
    *("acos", "asin", "cosh", "erfinv", "exp", "expm1", "sinh", "softplus"),
    *("log", "log10", "log1p", "log2", "log_softmax", "softmax", "softmin"),
    *("cumprod", "cumsum", "prod", "sum", "cdist", "cosine_similarity", "dist", "pdist"),
    *("group_norm", "layer_norm", "norm", "normalize", "renorm"),
    *("binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy"),
    *("hinge_embedding_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss"),
    *("multi_margin_loss", "multilabel_margin_loss", "nll_loss", "poisson_nll_loss"),
    *("smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss"),
}
"""Functions that CUDA computes in float32 under autocast: the table "CUDA Ops that can autocast to
float32" of PyTorch's page on `torch.amp`. The CPU has a table of its own."""

HALVES = (torch.float16, torch.bfloat16)

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

    def __init__(self) -> None:
        self._autocasts = 0

    def open(self) -> contextlib.AbstractContextManager:
        """The mode, and the `autocast` and `GradScaler` of CUDA that are those of the CPU."""
        opened = contextlib.ExitStack()
        cast, scaler = torch.amp.autocast, torch.amp.GradScaler
        begin, enter, leave, scale = cast.__init__, cast.__enter__, cast.__exit__, scaler.__init__

        def begin_on_cpu(
            one: Any, device_type: str, dtype: Any = None, *rest: Any, **named: Any
        ) -> None:
            of_cuda = device_type == "cuda"
            if of_cuda:
                warn_models(KEPT)
                device_type, dtype = "cpu", torch.float16 if dtype is None else dtype
            begin(one, device_type, dtype, *rest, **named)
            one.of_cuda = of_cuda

        def enter_counted(one: Any) -> Any:
            self._autocasts += getattr(one, "of_cuda", False)
            return enter(one)

        def leave_counted(one: Any, *error: Any) -> Any:
            self._autocasts -= getattr(one, "of_cuda", False)
            return leave(one, *error)

        def scale_on_cpu(one: Any, device: str = "cuda", *rest: Any, **named: Any) -> None:
            scale(one, "cpu" if device == "cuda" else device, *rest, **named)

        # Two functions: torch's compiler refuses one by two names.
        def choose(*_: Any) -> None:
            warn_models(KEPT)

        def wait(*_: Any) -> None:
            warn_models(KEPT)

        casts = {"__init__": begin_on_cpu, "__enter__": enter_counted, "__exit__": leave_counted}
        opened.enter_context(patched(cast, **casts))
        opened.enter_context(patched(scaler, __init__=scale_on_cpu))
        opened.enter_context(patched(torch.cuda, set_device=choose, synchronize=wait))
        opened.enter_context(super().open())
        return opened

    def before(self, call: Call) -> None:
        """Put the CPU in the place of CUDA, and float32 where its autocast has that."""
        if self._autocasts and torch.is_autocast_enabled("cpu") and _name(call) in IN_FLOAT32:
            call.args, call.kwargs = transform((call.args, call.kwargs), _in_float32)
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


def _name(call: Call) -> str:
    """The name of a function."""
    return getattr(call.function, "__name__", "")


def _in_float32(value: Any) -> Any:
    half = isinstance(value, torch.Tensor) and value.dtype in HALVES
    return value.float() if half else value


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
