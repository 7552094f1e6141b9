"""The modes and settings of PyTorch that networks are built and run under."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import amp, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from equivalence.sample import short
from equivalence.uncompiled import Uncompiled

WIDER = {
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
    torch.FloatTensor: torch.float64,
    "torch.FloatTensor": torch.float64,
}
"""A precision that a run asks for -> the one that it gets in float64."""

WIDER_CASTS = {
    torch.Tensor.float: torch.Tensor.double,
    torch.Tensor.cfloat: torch.Tensor.cdouble,
}
"""The same for casts that name their precision."""

MOVES = {
    *("clone", "copy_", "_to_copy", "cat", "stack", "repeat", "flip", "roll", "tril", "triu"),
    *("index", "index_select", "gather", "embedding", "constant_pad_nd"),
    *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"),
    *("masked_fill", "masked_fill_", "amax", "amin", "max", "min", "maximum", "minimum"),
}
"""Operators that round nothing, since they compute nothing. Empty memory may hold any bits. The
backward pass of a maximum looks for the very entry that it gave."""


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
    flags = [(each, "fp32_precision", precision) for each in products]
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


class SkipInitialisation(TorchFunctionMode):
    """A mode in which PyTorch does not fill new parameters: the sample sets them before use.

    Buffers are filled, since they may keep what the constructor made.
    """

    FILLS = (torch.Tensor.normal_, torch.Tensor.uniform_)
    # The mode gets these calls, and then not the fill inside them.
    INITS = (nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.FILLS or func in self.INITS:
            filled = args[0] if args else kwargs["tensor"]
            if isinstance(filled, nn.Parameter):
                return filled
        return func(*args, **kwargs)


def without_values(make: Callable[[], Any]) -> Any:
    """What a function makes, with its parameters on the device "meta", where they take no memory.

    Buffers have their values. A constructor that computes with its parameters gets them all.
    """
    register, empty = nn.Module.register_parameter, WeakIdKeyDictionary()

    def register_empty(module: nn.Module, name: str, given: nn.Parameter | None) -> None:
        if type(given) is nn.Parameter and given.device.type != "meta":
            if given not in empty:  # one parameter may be registered twice
                empty[given] = nn.Parameter(given.detach().to("meta"), given.requires_grad)
            given = empty[given]
        register(module, name, given)

    nn.Module.register_parameter = register_empty
    try:
        return make()
    except (RuntimeError, NotImplementedError):  # PyTorch's for a tensor without values
        nn.Module.register_parameter = register
        return make()
    finally:
        nn.Module.register_parameter = register


class Widened(TorchFunctionMode):
    """A mode in which float32 means float64, and so does a precision that is not told.

    A network that casts to float32 does not round in a case of float32. So its float64 run must
    not either: it would be the truth with float32's rounding. Casts to a shorter precision stay,
    and so does `Tensor.view`, which reads the same bits as another type. A `GradScaler` keeps its
    scale in float32, and skips an update where a gradient is beyond float32.
    """

    def __enter__(self):
        self._before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        amp.GradScaler._lazy_init_scale_growth_tracker = _narrow_scale
        amp.GradScaler.unscale_ = _unscale_narrow
        return super().__enter__()

    def __exit__(self, *error):
        torch.set_default_dtype(self._before)
        amp.GradScaler._lazy_init_scale_growth_tracker = _SCALE
        amp.GradScaler.unscale_ = _UNSCALE
        return super().__exit__(*error)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.view or (len(args) < 2 and not kwargs and func not in WIDER_CASTS):
            return func(*args, **(kwargs or {}))
        wide, kwargs = [_widen(each) for each in args], kwargs or {}
        return WIDER_CASTS.get(func, func)(*wide, **{k: _widen(v) for k, v in kwargs.items()})


_SCALE, _UNSCALE = amp.GradScaler._lazy_init_scale_growth_tracker, amp.GradScaler.unscale_
FLOAT32_MAX = torch.finfo(torch.float32).max


def _narrow_scale(scaler: amp.GradScaler, *device: torch.device) -> None:
    """The making of a scale, in float32: its kernels take no other one."""
    with torch._C.DisableTorchFunction():
        _SCALE(scaler, *device)


def _unscale_narrow(scaler: amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
    """The unscaling of gradients in float64, where those overflow that would in float32."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            if parameter.grad is not None:
                parameter.grad[parameter.grad.abs() > FLOAT32_MAX] = torch.inf
        _UNSCALE(scaler, optimizer)


def _widen(argument: object) -> object:
    """An argument of a call, with float64 in the place of float32."""
    return (
        WIDER.get(argument, argument)
        if isinstance(argument, torch.dtype | type | str)
        else argument
    )


class Rounding(Uncompiled):
    """Multiplies elements by 1 + u or 1 - u, at random.

    unit_roundoff: u. seed: the seed of the random signs.
    """

    def __init__(self, unit_roundoff: float, seed: int):
        super().__init__()
        self.unit_roundoff = unit_roundoff
        self.generator = torch.Generator().manual_seed(seed)

    def _factors(self, value: torch.Tensor) -> torch.Tensor:
        """1 + u or 1 - u for each element of a floating tensor."""
        # Drawn on the CPU, so that they are the same wherever the network runs.
        options = {"generator": self.generator, "dtype": value.dtype, "device": "cpu"}
        coins = torch.randint(0, 2, value.shape, **options).to(value.device)
        return 1.0 + self.unit_roundoff * (2.0 * coins - 1.0)

    def _inexact(self, value: torch.Tensor) -> torch.Tensor:
        """Which elements are rounded: those of few bits are exact in a shorter precision, too.

        Nor is the largest number rounded, with which masks are filled: it would become infinite,
        and NaN where a mask multiplies it by zero.
        """
        values = value.detach().cpu()
        largest = (1.0 - self.unit_roundoff) * torch.finfo(values.dtype).max
        return (values.abs() <= largest) & ~torch.from_numpy(
            short(values.numpy(), self.unit_roundoff)
        )


class RoundEachResult(Rounding):
    """Multiplies each element that an operator computes by 1 + u or 1 - u, at random.

    It does so in the forward and in the backward pass. Results that alias an argument (views,
    in-place operators) stay as they are, and so do those of operators that compute nothing, such as
    copies, and elements of few bits (see `sample.short`): a mask that is made of whole numbers
    would be another mask.

    Some terms cancel exactly, whatever the inputs and weights are. The gradient of a bias in front
    of a BatchNorm in training is zero, and perturbations do not move it. A right candidate gives
    the rounding of the terms that cancel. Only a run that rounds every result shows how large that
    is (Parker, Monte Carlo Arithmetic, 1997).
    """

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        aliases = any(returned.alias_info is not None for returned in func._schema.returns)
        if aliases or func.overloadpacket.__name__ in MOVES:
            return result
        return each_tensor(self._rounded, result)

    def _rounded(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        rounded = value * self._factors(value)
        if value.dtype is torch.bfloat16 or not is_dense(value):  # NumPy knows neither
            return rounded
        return torch.where(self._inexact(value).to(value.device), rounded, value)


def is_dense(value: torch.Tensor) -> bool:
    """Whether a tensor has a storage; the values of a sparse one count as inputs."""
    return value.layout == torch.strided


def each_tensor(function: Callable[..., torch.Tensor], values: object, *others: object) -> object:
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
