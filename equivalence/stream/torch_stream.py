"""PyTorch's stream: the only modes of functions and operators, and its switches. Loads torch.

Functions are seen above autograd, as the code of a network calls them. Operators are seen below
it: also those of a backward pass, and those that a composite function is made of.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.utils import _device
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from equivalence.stream import observer
from equivalence.stream.observer import Entered, Left, running

FUNCTIONS = ("devices", "code", "draws", "factors", "precision", "initialisation")
OPERATORS = ("moves", "calls", "reach", "kinks", "rounding", "replay", "borrowing")

ORDER = (*FUNCTIONS, *OPERATORS)
"""From the network to the kernel: who is told of a call first. The order decides bits.

devices: puts the CPU in the place of CUDA.
code: what reads the code of a network, or changes what it says.
draws: pins random functions, and notes them.
factors: rounds the factors of functions that other frameworks compute by products.
precision: makes float64 of every precision.
initialisation: leaves new parameters as they are.

moves: moves activations off their kinks, or across them.
calls: records operators, with what those before have made of their arguments.
reach: sees which decisions the operators take.
kinks: measures kinks, and takes the same steps in each run.
rounding: rounds every number; its own operators, and those of all others, are rounded by it.
replay: gives what draws its numbers; those before see the draw as it is.
borrowing: refuses operators in a run of the candidate.
"""

set_grad_enabled = torch._C._set_grad_enabled
"""The function that `torch.no_grad` calls."""

Operator = torch._ops.OpOverload
"""The class of what a call of an operator has as its function."""

DROPOUTS = nn.modules.dropout._DropoutNd
"""The class of all layers of dropout."""

BATCH_NORM = nn.modules.batchnorm._BatchNorm
"""The base class of all layers of BatchNorm."""

LOSS = nn.modules.loss._Loss
"""The base class of all losses."""

MAX_POOLINGS = nn.modules.pooling._MaxPoolNd | nn.modules.pooling._AdaptiveMaxPoolNd
"""The classes of all layers of a max pooling."""

DEFAULT_DEVICE = _device.DeviceContext
"""The class of `with torch.device("cuda")` and of `torch.set_default_device`."""

AUTOCASTING, CASTING = torch.amp.autocast_mode, "_cast"
"""The module of autocast, and its function that casts what an own function gets."""

MAKING_SCALE = "_lazy_init_scale_growth_tracker"
"""The method by which a `GradScaler` makes its scale."""


class Call:
    """One call of a function, or of an operator of `torch.ops`.

    function: what is called.
    args, kwargs: its arguments; an observer may put others in their place.
    """

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.function: Any = function
        self.args, self.kwargs = args, kwargs

    @property
    def name(self) -> str:
        """The name of an operator, whichever its overload, such as `add_`."""
        return self.function.overloadpacket.__name__

    def proceed(self) -> Any:
        """What it gives: what the observers after this one make of it, or the kernel."""
        return self.function(*self.args, **self.kwargs)


class Observer(observer.Observer[Call]):
    """What sees PyTorch's functions, or its operators, as its slot says.

    Not told of: what runs in `unseen`, and of functions what runs in `without_functions`.

    >>> import torch
    >>> class Counted(Observer):
    ...     slot = "calls"
    ...     count = 0
    ...     def before(self, call):
    ...         self.count += call.name == "mul"
    >>> with Counted() as counted:
    ...     product = torch.ones(2) * torch.ones(2)
    >>> counted.count
    1
    """

    order = ORDER

    def open(self) -> contextlib.AbstractContextManager:
        """The mode that tells this observer of functions or operators."""
        return _Functions(self) if self.slot in FUNCTIONS else _Operators(self)


class _Functions(TorchFunctionMode):
    """Tells an observer of the functions that are called."""

    def __init__(self, told: Observer):
        super().__init__()
        self.told, self.hooks = told, observer.hooks(told)
        demand_order(told, _get_current_function_mode_stack())

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return observer.deliver(Call(func, args, kwargs or {}), self.hooks)


class _Operators(TorchDispatchMode):
    """Tells an observer of the operators that run. It does not import torch's compiler: 2 s."""

    def __init__(self, told: Observer):
        super().__init__()
        self.told, self.hooks = told, observer.hooks(told)
        demand_order(told, _get_current_dispatch_mode_stack())

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch imports its compiler only to skip it."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return observer.deliver(Call(func, args, kwargs or {}), self.hooks)


def demand_order(told: Observer, modes: Iterable[Any]) -> None:
    """Raise RuntimeError where an observer is opened out of the order of the stream."""
    ours = [mode.told for mode in modes if isinstance(mode, _Functions | _Operators)]
    observer.demand_order(told, ours[-1] if ours else None)


def in_backward() -> bool:
    """Whether the backward pass runs."""
    return torch._C._current_graph_task_id() != -1


def traced() -> list[str]:
    """The frames in which the forward pass called what is differentiated now, the innermost last.

    Each is as a traceback prints it. There are none without `torch.autograd.set_detect_anomaly`.
    """
    node = torch._C._current_autograd_node()
    return (node.metadata.get("traceback_") if node else None) or []


def unseen() -> contextlib.AbstractContextManager:
    """A context whose operators no observer is told of."""
    return torch._C._DisableTorchDispatch()


def without_functions() -> contextlib.AbstractContextManager:
    """A context whose functions no observer is told of, nor torch's own device mode."""
    return torch._C.DisableTorchFunction()


@contextlib.contextmanager
def layers(
    network: nn.Module, entered: Entered | None = None, left: Left | None = None
) -> Iterator[list[str]]:
    """A context in which the list has the paths of the modules that run now, see `running`."""
    with running(network.named_modules(), entered, left, always_call=True) as paths:
        yield paths
