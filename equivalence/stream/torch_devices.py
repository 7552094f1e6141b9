"""Code of models that asks for CUDA where torch has none: it runs on the CPU, and is warned of.

Its `autocast` and its `GradScaler` are those of the CPU, which torch would leave out else. What
CUDA computes in float32 under autocast, such as a softmax, is computed so. Generators and files of
CUDA are the CPU's, and nothing waits for streams.
"""

import contextlib
import inspect
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import nn

from equivalence.errors import lacks_cuda, of_models
from equivalence.nesting import transform
from equivalence.stream.observer import RUN, warn_models
from equivalence.stream.patches import patched
from equivalence.stream.torch_stream import AUTOCASTING, CASTING, DEFAULT_DEVICE, Call, Observer

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

WITHOUT_EFFECT = (
    *("set_device", "synchronize", "ipc_collect"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_accumulated_memory_stats"),
)
"""Functions of `torch.cuda` that change no number."""

T = TypeVar("T")


class _MadeOnCpu(type):
    """Of a class that makes another's objects: those are its instances."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _GENERATOR)


_GENERATOR = torch.Generator


class CpuGenerator(metaclass=_MadeOnCpu):
    """`torch.Generator`, whose CUDA is the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return _GENERATOR(device=_instead(device))


class Within(contextlib.nullcontext):
    """`torch.cuda.device` and `torch.cuda.stream`, within which all is on the CPU."""

    def __init__(self, *_: Any):
        super().__init__()


class CpuStream:
    """A stream or an event of CUDA where all is done in the order of its calls."""

    def __init__(self, *_: Any, **__: Any):
        warn_models(KEPT)
        self._recorded = 0.0

    def record(self, *_: Any) -> None:
        """Keep the time."""
        self._recorded = time.perf_counter()

    def elapsed_time(self, end: "CpuStream") -> float:
        """Milliseconds up to another event."""
        return 1000.0 * (end._recorded - self._recorded)

    def query(self) -> bool:
        """Whether all is done."""
        return True

    def wait(self, *_: Any) -> None:
        """Wait for nothing."""

    synchronize = wait_stream = wait_event = record_event = wait


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
        """The mode, and all of CUDA that is no function of tensors, on the CPU."""
        opened = contextlib.ExitStack()
        for owner, values in (*self._mixed_precision(), *_devices()):
            opened.enter_context(patched(owner, **values))
        opened.enter_context(super().open())
        return opened

    def _mixed_precision(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The `autocast` and `GradScaler` of CUDA that are those of the CPU."""
        cast, scaler = torch.amp.autocast, torch.amp.GradScaler
        begin, enter, leave, scale = cast.__init__, cast.__enter__, cast.__exit__, scaler.__init__
        is_cast, cast_to = torch.is_autocast_enabled, torch.get_autocast_dtype
        convert = getattr(AUTOCASTING, CASTING)

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
            scale(one, _cpu_for_cuda(device), *rest, **named)

        def is_cast_on_cpu(device: str = "cuda") -> bool:
            return is_cast(_cpu_for_cuda(device) if self._autocasts else device)

        def cast_to_on_cpu(device: str) -> torch.dtype:
            return cast_to(_cpu_for_cuda(device) if self._autocasts else device)

        def convert_on_cpu(value: Any, device: str, dtype: torch.dtype) -> Any:
            return convert(value, _cpu_for_cuda(device), dtype)

        casts = {"__init__": begin_on_cpu, "__enter__": enter_counted, "__exit__": leave_counted}
        yield cast, casts
        yield scaler, {"__init__": scale_on_cpu}
        yield AUTOCASTING, {CASTING: convert_on_cpu}
        yield torch, {"is_autocast_enabled": is_cast_on_cpu, "get_autocast_dtype": cast_to_on_cpu}

    def before(self, call: Call) -> None:
        """Put the CPU in the place of CUDA, and float32 where its autocast has that."""
        if self._autocasts and torch.is_autocast_enabled("cpu") and _name(call) in IN_FLOAT32:
            call.args, call.kwargs = transform((call.args, call.kwargs), _in_float32)
        if call.function is torch.Tensor.to:
            call.args = (call.args[0], *map(_instead, call.args[1:]))
        if "device" in call.kwargs:
            call.kwargs = call.kwargs | {"device": _instead(call.kwargs["device"])}

    def replace(self, call: Call) -> Any:
        """A tensor itself, where it is to be moved to CUDA, or pinned for that."""
        if call.function is torch.Tensor.cuda:
            warn_models(KEPT)
            return call.args[0]
        return call.args[0] if call.function is torch.Tensor.pin_memory else RUN


def _instead(asked: Any) -> Any:
    number = isinstance(asked, int) and not isinstance(asked, bool)
    named = isinstance(asked, str | torch.device) and str(asked).partition(":")[0] == "cuda"
    if not (number or named):
        return asked
    warn_models(KEPT)
    return CPU


def _cpu_for_cuda(device: str) -> str:
    return "cpu" if device == "cuda" else device


def _devices() -> Iterator[tuple[Any, dict[str, Any]]]:
    """What makes, loads, waits and measures on CUDA, on the CPU."""
    load, within = torch.load, DEFAULT_DEVICE.__init__

    def load_on_cpu(file: Any, map_location: Any = None, *rest: Any, **named: Any) -> Any:
        place = CPU if map_location is None else _instead(map_location)
        return load(file, place, *rest, **named)

    def within_cpu(one: Any, device: Any) -> None:
        within(one, _instead(device))

    def nothing() -> Callable[..., None]:  # one each: torch's compiler refuses one by two names
        return lambda *_, **__: warn_models(KEPT)

    yield torch, {"load": load_on_cpu, "Generator": CpuGenerator}
    yield torch.Tensor, {"record_stream": lambda *_: None}
    yield DEFAULT_DEVICE, {"__init__": within_cpu}
    yield torch.cuda, {name: nothing() for name in WITHOUT_EFFECT}
    yield torch.cuda, {"current_device": lambda: 0, "get_device_name": lambda *_: "CPU"}
    yield torch.cuda, {"device": Within, "stream": Within, "Event": CpuStream, "Stream": CpuStream}
    yield (
        torch.cuda,
        {name: lambda *_: CpuStream() for name in ("current_stream", "default_stream")},
    )


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
