"""MindSpore's stream: its only dispatch mode, what its compiler reads, its executor.

In PyNative mode an observer is told of operators as they run; in a compiled graph it says what the
compiler gets in the place of what a source names. Loads MindSpore, and what it keeps private.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore._c_expression import typing
from mindspore.common.api import _cell_graph_executor, _JitExecutor, _pynative_executor
from mindspore.nn.layer.conv import _deconv_output_length
from mindspore.ops.function import nn_func
from mindspore.ops.operations import _grad_ops
from mindspore.train import amp

from equivalence import releases
from equivalence.errors import of_engine, of_models, of_stand_in
from equivalence.files import shown
from equivalence.stream import observer
from equivalence.stream.observer import Entered, Left, running, warn_models
from equivalence.stream.patches import patched

PARSER = importlib.import_module(
    "mindspore.graph._parse" if releases.holds(">=2.9") else "mindspore._extends.parse"
)
"""The module whose functions the compiler calls by name."""

_differentiation = importlib.import_module("mindspore.ops.composite.base")
"""The module that runs what is differentiated."""

inner_dropout = nn_func._inner_dropout
"""The function that dropouts call."""

batch_norm_gradient = _grad_ops.BatchNormGrad
"""The primitive of the gradient of a BatchNorm: made with whether it trains, and its epsilon."""


def bias_add_gradient(axes: int) -> ops.Primitive:
    """The primitive of the gradient of a bias that is added to each channel of so many axes."""
    return _grad_ops.BiasAddGrad("NCDHW" if axes == 5 else "NCHW")


def layer_norm_gradient(first: int, first_of_scale: int, epsilon: float) -> ops.Primitive:
    """The primitive of the gradient of a LayerNorm, with the settings of that.

    Of x, the gradient of the result, the variance, the mean and the scale.
    """
    primitive = _grad_ops.LayerNormGrad(first, first_of_scale)
    primitive.add_prim_attr("epsilon", epsilon)  # no argument of it
    return primitive


segment_sum = ops.UnsortedSegmentSum()
"""The primitive of the gradient of a table of which rows are looked up."""

dtype_numbered = typing.type_id_to_type
"""The dtype that a primitive is told by its number."""

transposed_length = _deconv_output_length
"""The length of what a transposed convolution gives, before its output padding."""

CAST_TO_HALF = amp._OutputTo16
"""What level O2 puts around a cell that stays in float32: it casts what comes out to `dtype`."""

KEPT = "it asks for {}, and runs on the {} on which it is compared"

DEVICES = "equivalence.host.devices"
"""The module that sets the device on which is compared."""

ORDER = ("draws", "arithmetic", "calls", "kernels", "faults")
"""From the network to the kernel: who is told of an operator first. The order decides bits.

draws: pins random operators, and notes them.
arithmetic: rounds the factors of products as another device does.
calls: records operators, and replaces values.
kernels: measures kernels, and replaces them by accurate ones.
faults: puts what is right in the place of operators that are wrong.
"""

_open: list["Observer"] = []
"""The observers that are open, the innermost last."""


class Call:
    """One operator that runs in PyNative mode.

    function: what MindSpore would run.
    args: the operator's own arguments; an observer may put others in their place.
    primitive: the object with the operator's settings; None where they are among the arguments.
    """

    __slots__ = ("_name", "args", "function", "primitive")

    def __init__(self, function: Callable, arguments: Sequence[Any]):
        self.function: Any = function
        self.args, self.primitive, self._name = arguments, None, None
        if len(arguments) == 3 and isinstance(arguments[0], ops.Primitive):
            self.primitive, self._name, self.args = arguments

    @property
    def name(self) -> str:
        """The name of the operator, such as `Conv2D`."""
        return self.function.name

    def proceed(self, *others: Any) -> Any:
        """What it gives of its arguments, or of others in their place."""
        arguments = others or self.args
        if self.primitive is None:
            return self.function(*arguments)
        return self.function(self.primitive, self._name, arguments)


class Observer(observer.Observer[Call]):
    """What sees MindSpore's operators as they run, and says what the compiler reads.

    >>> import mindspore
    >>> class Counted(Observer):
    ...     slot = "calls"
    ...     count = 0
    ...     def before(self, call):
    ...         self.count += call.name == "Mul"
    >>> with Counted() as counted:
    ...     product = mindspore.Tensor([1.0, 2.0]) * mindspore.Tensor([3.0, 4.0])
    >>> counted.count
    1

    Raises EquivalenceError where the release of MindSpore does not show its operators.
    """

    order = ORDER
    compiled: Callable[[Any], Any] | None = None
    """The object that a source names -> the one that the compiler gets."""

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """The mode that tells this observer of operators, and what the compiler reads."""
        observer.demand_order(self, _open[-1] if _open else None)
        with contextlib.ExitStack() as stack:
            if self.compiled:
                stack.enter_context(reading(self.compiled, type(self).__module__))
            stack.enter_context(_Operators(self))
            _open.append(self)
            stack.callback(_open.pop)
            yield


class Precisions(Observer):
    """Takes note of the dtype of what each operator of a forward pass gives.

    seen: name of an operator -> dtypes, call by call.
    places: name of an operator -> lines of the network's own code, "" where none is known.
    """

    slot = "calls"

    def __init__(self) -> None:
        self.seen: dict[str, list[str]] = {}
        self.places: dict[str, list[str]] = {}

    def after(self, call: Call, result: Any) -> Any:
        """Take note of the first result."""
        first = result[0] if isinstance(result, tuple | list) and result else result
        if isinstance(first, ms.Tensor) and first.dtype in (ms.float16, ms.bfloat16, ms.float32):
            place = _called_from(sys._getframe(1))
            if place is not None:
                self.seen.setdefault(call.name, []).append(str(first.dtype).lower())
                self.places.setdefault(call.name, []).append(place)
        return result


def _called_from(frame: FrameType | None) -> str | None:
    """The innermost line of the network's own code, as "net.py:12"; "" in a cell of MindSpore's.

    None behind the network: no gradient comes from its code.
    """
    within = entered = False
    while frame is not None:
        file = frame.f_code.co_filename
        entered = entered or not of_engine(file)
        if of_models(file):
            return f"{shown(file)}:{frame.f_lineno}"
        if entered and of_engine(file) and not of_stand_in(file):
            break
        within = within or frame.f_code.co_name == "construct"
        frame = frame.f_back
    return "" if within else None


_Mode: Any = getattr(ms, "MsDispatchMode", object)


class _Operators(_Mode):
    """Tells an observer of the operators that PyNative mode runs, the innermost first."""

    def __init__(self, told: Observer):
        releases.demand_operators("pinned random layers, rehearsals and statements of a diagnosis")
        self.hooks = observer.hooks(told)

    def __ms_dispatch__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
        return observer.deliver(Call(func, args), self.hooks)


def has_gradient(tensor: ms.Tensor) -> bool:
    """Whether a gradient comes back to a tensor in the run that is recorded now."""
    return getattr(tensor, "_requires_grad", True)


@contextlib.contextmanager
def calling(tell: Callable[[nn.Cell, tuple], None]) -> Iterator[None]:
    """A context in which `tell` gets each cell that is called, with its arguments, before it runs.

    Where the network stands in the stack is seen through it.
    """
    call = nn.Cell.__call__

    def __call__(cell: nn.Cell, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        tell(cell, args)
        return call(cell, *args, **kwargs)

    with patched(nn.Cell, __call__=__call__):
        yield


def with_source(tensor: ms.Tensor, source: ms.Tensor) -> ms.Tensor:
    """A tensor that an observer puts among the arguments of a call, made of another one."""
    tensor._made_of = source  # PyNative mode hands the same object on
    return tensor


def source_of(tensor: Any) -> ms.Tensor | None:
    """What an observer has made a tensor of; None: nothing."""
    return getattr(tensor, "_made_of", None)


@functools.cache
def product() -> Callable[[ms.Tensor, ms.Tensor], ms.Tensor]:
    """The operator of a product, which an observer may run in the place of a call.

    Unlike a function of MindSpore there, those after it see it. It takes no views.
    """

    class Found(Observer):
        """Keeps the operator that runs."""

        slot = "draws"

        def before(self, call: Call) -> None:
            self.found = call.function

    one = ms.Tensor([1.0], ms.float32)
    found = Found()
    with found:
        ops.mul(one, one)
    return found.found


@contextlib.contextmanager
def reading(replace: Callable[[Any], Any], own: str) -> Iterator[None]:
    """A context in which the compiler reads what `replace` gives.

    The compiler calls `resolve_symbol` for every name in a source, primitives included.

    replace: the object that a source names -> the one that the compiler gets.
    own: the module, or the room, of what stands there; what its sources name is not replaced.
    """
    resolve = PARSER.resolve_symbol

    def resolve_replaced(namespace: Any, symbol: str) -> Any:
        value = resolve(namespace, symbol)
        return value if namespace.name.startswith(own) else replace(value)

    with patched(PARSER, resolve_symbol=resolve_replaced):
        yield


@contextlib.contextmanager
def asking(grad: Callable[..., Any]) -> Iterator[None]:
    """A context in which a network that asks for gradients itself gets what `grad` gives.

    grad: gets the executor's own function, with the function, the weights and the positions that
        are asked for, and the inputs.
    """
    executor = type(_pynative_executor)
    gradients = executor.grad

    def asked(executor: Any, function: Any, kind: Any, *others: Any) -> Any:
        (weights, positions, aux), inputs = others[:3], others[3:]

        def pull(*taken: Any) -> Any:
            return gradients(executor, function, kind, weights, positions, aux, *taken)

        return grad(pull, inputs)

    with patched(executor, grad=asked):
        yield


@contextlib.contextmanager
def differentiating(
    forward: Callable[[Callable[[], Any]], Any], backward: Callable[[Any, float, Any], None]
) -> Iterator[None]:
    """A context in which all that asks for gradients in PyNative mode is told of.

    forward: gets a function that runs what is differentiated; gives what that gives.
    backward: gets the weights that were asked for, the cotangent of the result where one is given,
        as a number, or else 1, and the gradients of the weights.
    """
    executor, run = type(_pynative_executor), _differentiation._pynative_forward_run
    gradients = executor.grad

    def ran(function: Any, has_cotangent: bool, *arguments: Any, **keywords: Any) -> Any:
        return forward(lambda: run(function, has_cotangent, *arguments, **keywords))

    def asked(executor: Any, function: Any, kind: Any, *others: Any) -> Any:
        found = gradients(executor, function, kind, *others)
        (weights, _, _), inputs = others[:3], others[3:]
        if weights is not None:
            several = getattr(kind, "get_by_position", False) or kind.get_all
            cotangent = float(inputs[-1].asnumpy().reshape(-1)[0]) if kind.sens_param else 1.0
            backward(weights, cotangent, found[1] if several else found)
        return found

    with (
        patched(executor, grad=asked),
        patched(_differentiation, _pynative_forward_run=ran),
    ):
        yield


@contextlib.contextmanager
def undifferentiated(
    forward: Callable[[Callable[[], Any]], Any], gradients: Callable[[Any, float], Any]
) -> Iterator[None]:
    """A context in which nothing is differentiated in PyNative mode.

    forward: as of `differentiating`.
    gradients: gets the weights that are asked for, and the cotangent as a number; gives what stands
        for their gradients. Those of inputs are zeros.
    """

    def ran(function: Any, has_cotangent: bool, *arguments: Any, **keywords: Any) -> Any:
        def run() -> Any:
            cotangent: tuple[Any, ...] = ()
            given = arguments
            if has_cotangent:
                named = "sens" in keywords
                cotangent = (keywords.pop("sens"),) if named else given[-1:]
                given = given if named else given[:-1]
            outputs = function(*given, **keywords)
            return (*given, *keywords.values(), *cotangent), outputs

        return forward(run)

    def asked(executor: Any, function: Any, kind: Any, *others: Any) -> Any:  # noqa: ARG001
        (weights, positions, _), inputs = others[:3], others[3:]
        cotangent = 1.0
        if kind.sens_param:
            cotangent, inputs = float(inputs[-1].asnumpy().reshape(-1)[0]), inputs[:-1]
        by_place = getattr(kind, "get_by_position", False)
        several = by_place or kind.get_all
        found: Any = None
        if several or weights is None:
            places = positions if isinstance(positions, tuple) else (positions,)
            asked_for = inputs if kind.get_all else [inputs[place] for place in places]
            zeros = tuple(ms.ops.zeros_like(each) for each in asked_for)
            found = zeros if kind.get_all or len(places) > 1 else zeros[0]
        if weights is None:
            return found
        of_weights = gradients(weights, cotangent)
        return (found, of_weights) if several else of_weights

    with (
        patched(type(_pynative_executor), grad=asked),
        patched(_differentiation, _pynative_forward_run=ran),
    ):
        yield


@contextlib.contextmanager
def keeping_device() -> Iterator[None]:
    """A context in which code of models asks for another device in vain, and is warned of it.

    A script that is written for an Ascend runs on the device on which it is compared.
    """
    set_context, set_device = ms.set_context, ms.set_device

    def kept(target: str | None) -> bool:
        here = ms.get_context("device_target")
        if target in (None, here) or sys._getframe(2).f_globals["__name__"] == DEVICES:
            return False
        warn_models(KEPT.format(target, here))
        return True

    def asked_in_context(**values: Any) -> None:
        if kept(values.get("device_target")):
            del values["device_target"]
        if ms.get_context("device_target") == "CPU":  # which has no number, and refuses a second
            values.pop("device_id", None)
        if values:
            set_context(**values)

    def asked(device_target: str, device_id: int | None = None) -> None:
        if not kept(device_target):
            set_device(device_target, device_id)

    with (
        patched(ms, set_context=asked_in_context, set_device=asked),
        patched(ms.context, set_context=asked_in_context),
    ):
        yield


def clear() -> None:
    """Let the executor forget what it has recorded: an error leaves it in the middle of a graph."""
    _pynative_executor.clear_res()


def requires_gradients() -> bool:
    """Whether what runs now in PyNative mode is recorded for a backward pass."""
    return _pynative_executor.requires_grad()


def discard_graphs(cell: nn.Cell) -> None:
    """Free the graphs that were compiled for a cell.

    The executor keeps every compiled cell, with its graph and its weights, until the process ends:
    170 MB for a step of ResNet18.
    """
    _cell_graph_executor.del_net_res(cell, cell.compile_cache)
    cell.compile_cache.clear()


class Compiling:
    """A context that adds up what compiling takes, in `seconds`: of cells and of `jit`.

    clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float]):
        self.clock, self.seconds, self._depth = clock, 0.0, 0

    def _timed(self, compile_graph: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **keywords: Any) -> Any:
            begun, self._depth = self.clock(), self._depth + 1
            try:
                return compile_graph(*arguments, **keywords)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += self.clock() - begun

        return timed

    def __enter__(self) -> "Compiling":
        self._stack = contextlib.ExitStack()
        for executor in (type(_cell_graph_executor), _JitExecutor):
            compiles = self._timed(executor.compile)
            self._stack.enter_context(patched(executor, compile=compiles))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


@contextlib.contextmanager
def layers(
    network: nn.Cell, entered: Entered | None = None, left: Left | None = None
) -> Iterator[list[str]]:
    """A context in which the list has the paths of the cells that run now, see `running`."""
    with running(network.cells_and_names(), entered, left) as paths:
        yield paths
