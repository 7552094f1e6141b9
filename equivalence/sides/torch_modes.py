"""The modes and settings of PyTorch that networks are built and run under."""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import amp, nn
from torch.utils.weak import WeakIdKeyDictionary

from equivalence.stream.observer import RUN
from equivalence.stream.patches import patched
from equivalence.stream.torch_stream import MAKING_SCALE, Call, Observer, without_functions

WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
    torch.FloatTensor: torch.float64,
    "torch.FloatTensor": torch.float64,
}
"""A precision that a run asks for -> the one that it gets in float64."""

WIDER_CASTS = {
    torch.Tensor.half: torch.Tensor.double,
    torch.Tensor.bfloat16: torch.Tensor.double,
    torch.Tensor.float: torch.Tensor.double,
    torch.Tensor.cfloat: torch.Tensor.cdouble,
}
"""The same for casts that name their precision."""

SHORT = {torch.Tensor.half: torch.float16, torch.Tensor.bfloat16: torch.bfloat16}
"""Casts to a precision shorter than float32."""

MOVES = {
    *("clone", "copy", "_to_copy", "set", "cat", "stack", "repeat", "flip", "roll", "tril", "triu"),
    *("index", "index_select", "gather", "embedding", "constant_pad_nd"),
    *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"),
    *("masked_fill", "amax", "amin", "max", "min", "maximum", "minimum", "where", "abs", "neg"),
    *("relu", "clamp", "clamp_min", "clamp_max", "hardtanh", "threshold", "fmax", "fmin"),
    *("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "aminmax"),
    *("topk", "sort", "cummax", "cummin", "kthvalue", "median", "nanmedian", "mode", "take"),
    *("masked_select", "masked_scatter", "scatter", "index_copy", "fill", "zero", "max_unpool2d"),
    *("slice_backward", "select_backward", "slice_scatter", "select_scatter", "im2col", "unfold"),
    *("reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d"),
    *("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "rot90", "view_as_complex"),
}
"""Operators that round nothing, since they compute nothing; a `_` at the end is left out.
Empty memory may hold any bits. The backward pass of a maximum looks for the very entry that it
gave."""


def on(device: torch.device) -> contextlib.AbstractContextManager:
    """A context in which torch creates tensors on the device. It slows each call a little."""
    return contextlib.nullcontext() if device.type == "cpu" else device


@contextlib.contextmanager
def computing_on(device: torch.device, mode: str | None) -> Iterator[None]:
    """A context in which runs compute on the device, and create tensors there.

    mode: the compute mode; "tf32" is TF32, any other none.
    """
    if device.type == "cpu":
        yield
        return
    cudnn, precision = torch.backends.cudnn, "tf32" if mode == "tf32" else "ieee"
    products = (torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn)
    flags: list[tuple[Any, str, Any]] = [(each, "fp32_precision", precision) for each in products]
    flags.append((cudnn, "deterministic", True))
    before = [getattr(owner, name) for owner, name, _ in flags]
    try:
        for owner, name, value in flags:
            setattr(owner, name, value)
        with on(device):
            yield
    finally:
        for (owner, name, _), value in zip(flags, before, strict=True):
            setattr(owner, name, value)


class SkipInitialisation(Observer):
    """Keeps PyTorch from filling new parameters: the sample sets them before use.

    Buffers are filled, since they may keep what the constructor made.
    """

    slot = "initialisation"
    FILLS = (torch.Tensor.normal_, torch.Tensor.uniform_)
    # It is told of these calls, and then not of the fill inside them.
    INITS = (nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_)

    def replace(self, call: Call) -> Any:
        """A parameter as it is."""
        if call.function in self.FILLS or call.function in self.INITS:
            filled = call.args[0] if call.args else call.kwargs["tensor"]
            if isinstance(filled, nn.Parameter):
                return filled
        return RUN


def without_values(make: Callable[[], Any]) -> Any:
    """What a function makes, with its parameters on the device "meta", where they take no memory.

    Buffers have their values. A constructor that computes with its parameters gets them all.
    """
    register, empty = nn.Module.register_parameter, WeakIdKeyDictionary()

    def register_empty(module: nn.Module, name: str, given: Any) -> None:
        if type(given) is nn.Parameter and given.device.type != "meta":
            if given not in empty:  # one parameter may be registered twice
                empty[given] = nn.Parameter(given.detach().to("meta"), given.requires_grad)
            given = empty[given]
        register(module, name, given)

    try:
        with patched(nn.Module, register_parameter=register_empty):
            return make()
    except (RuntimeError, NotImplementedError):  # PyTorch's for a tensor without values
        return make()


class Widened(Observer):
    """Makes float64 of every precision, and of one that is not told.

    A network that casts to float32 or to a half does not round in its float64 run: that would be
    the truth with some rounding. `Tensor.view` stays, which reads the same bits as another type. A
    `GradScaler` keeps its scale in float32, and skips an update where a gradient is beyond float32.

    rounds_casts: gives a tensor as a cast to a shorter precision rounds it; None where it does not.
    mixed: whether the run has computed in a precision shorter than float32, by autocast or a cast.
    ungraded: whether the run has computed something without gradients, as under `torch.no_grad`.
    """

    slot = "precision"
    rounds_casts: Callable[[torch.Tensor, torch.dtype], torch.Tensor] | None = None
    mixed = ungraded = False

    def begin(self) -> None:
        """Make float64 the default, and keep the scale of a `GradScaler` in float32."""
        self._default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        narrow = {MAKING_SCALE: _narrow_scale, "unscale_": _unscale_narrow}
        self._scaler = patched(amp.GradScaler, **narrow)
        self._scaler.__enter__()

    def end(self) -> None:
        """Undo both."""
        torch.set_default_dtype(self._default)
        self._scaler.__exit__(None, None, None)

    def before(self, call: Call) -> None:
        """Widen the precisions among the arguments."""
        func, args, kwargs = call.function, call.args, call.kwargs
        self.mixed = self.mixed or torch.is_autocast_enabled("cpu")
        self.ungraded = self.ungraded or not torch.is_grad_enabled()
        self._short, self._casts = None, False
        if func is torch.Tensor.view or (len(args) < 2 and not kwargs and func not in WIDER_CASTS):
            return
        self._short = SHORT.get(func) or next(
            (each for each in (*args, *kwargs.values()) if _is_short(each)), None
        )
        self._casts = func in SHORT or func is torch.Tensor.to or func is torch.Tensor.type
        call.function = WIDER_CASTS.get(func, func)
        call.args = tuple(map(_widen, args))
        call.kwargs = {name: _widen(each) for name, each in kwargs.items()}

    def after(self, call: Call, result: Any) -> Any:  # noqa: ARG002
        """Round what was cast to a shorter precision."""
        short = self._short
        if short is None or not isinstance(result, torch.Tensor):
            return result
        self.mixed = True
        return self.rounds_casts(result, short) if self.rounds_casts and self._casts else result


_SCALE, _UNSCALE = getattr(amp.GradScaler, MAKING_SCALE), amp.GradScaler.unscale_
FLOAT32_MAX = torch.finfo(torch.float32).max


def _narrow_scale(scaler: amp.GradScaler, *device: torch.device) -> None:
    """The making of a scale, in float32: its kernels take no other one."""
    with without_functions():
        _SCALE(scaler, *device)


def _unscale_narrow(scaler: amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
    """The unscaling of gradients in float64, where those overflow that would in float32."""
    with without_functions(), torch.no_grad():
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            if parameter.grad is not None:
                parameter.grad[parameter.grad.abs() > FLOAT32_MAX] = torch.inf
        _UNSCALE(scaler, optimizer)


def _is_short(argument: object) -> bool:
    """Whether an argument is a precision shorter than float32."""
    return isinstance(argument, torch.dtype) and argument in SHORT.values()


def _widen(argument: Any) -> Any:
    """An argument of a call, with float64 in the place of float32."""
    return (
        WIDER.get(argument, argument)
        if isinstance(argument, torch.dtype | type | str)
        else argument
    )


def is_dense(value: torch.Tensor) -> bool:
    """Whether a tensor has a storage; the values of a sparse one count as inputs."""
    return value.layout == torch.strided


def each_tensor(function: Callable[..., torch.Tensor], values: Any, *others: Any) -> Any:
    """`values` with each tensor replaced, in a tuple or a list of them, too.

    others: what the function gets besides, of the same form.
    """
    if isinstance(values, torch.Tensor):
        return function(values, *others)
    if isinstance(values, tuple | list):
        return type(values)(
            each_tensor(function, *each) for each in zip(values, *others, strict=True)
        )
    return values


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """A context in which what `torch.compile` has wrapped runs as it is written.

    A compiler would compile what watches a run, too, for minutes. To load it takes seconds, so that
    is left to code that asks for it. A network that `torch.jit` scripts or traces stays itself.
    """
    script, trace = torch.jit.script, torch.jit.trace

    def scripting(written: Any, *arguments: Any, **named: Any) -> Any:
        return written if isinstance(written, nn.Module) else script(written, *arguments, **named)

    def tracing(written: Any, *arguments: Any, **named: Any) -> Any:
        return written if isinstance(written, nn.Module) else trace(written, *arguments, **named)

    with contextlib.ExitStack() as opened:

        def eager() -> None:
            opened.enter_context(torch.compiler.set_stance("force_eager"))

        if "torch._dynamo" in sys.modules:
            eager()
        else:
            compiled, told = torch.compile, functools.cache(eager)

            def compiling(*arguments: Any, **named: Any) -> Any:
                told()
                return compiled(*arguments, **named)

            opened.enter_context(patched(torch, compile=compiling))
        opened.enter_context(patched(torch.jit, script=scripting, trace=tracing))
        yield


@contextlib.contextmanager
def changes_of_mode(changed: list[nn.Module]) -> Iterator[None]:
    """A context in which `changed` gets the modules whose mode is set by what is run."""
    train = nn.Module.train

    def noted(module: nn.Module, mode: bool = True) -> nn.Module:
        changed.append(module)
        return train(module, mode)

    with patched(nn.Module, train=noted):
        yield
