"""A device's arithmetic on the CPU: convolutions and matrix products with rounded factors.

Forward and backward, in PyNative mode and compiled. In float16 mode a product is what Ascend makes
of it with `allow_fp32_to_fp16`: its factors and its result are rounded to float16, and everything
else stays float32. In HF32 and TF32 the factors alone are rounded, to the bits of the format, and
the products are summed in float32. Rounding is to nearest, ties to even: the default of HF32
(CANN's SetHF32TransMode). Of TF32 only the width is documented.

Each product's gradient has two more products in it, of the cotangent with the factors. A rounding
of the factors that lets gradients through, and one of the cotangent, make those come out rounded.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
from mindspore import ops
from mindspore.graph import _parse

from equivalence.errors import EquivalenceError

SIGNIFICANT = {"tf32": 11, "hf32": 12}
"""Significant bits of a factor: TF32 stores 10, HF32 stores 11 (CANN, `allow_hf32`)."""

PRODUCTS = dict.fromkeys(
    (
        "BatchMatMul",
        "BatchMatMulExt",
        "Conv1DExt",
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DExt",
        "Conv2DTranspose",
        "Conv3D",
        "Conv3DBackpropInput",
        "Conv3DExt",
        "Conv3DTranspose",
        "ConvTranspose2D",
        "Convolution",
        "ConvolutionStr",
        "Dense",
        "Dot",
        "MatMul",
        "MatMulExt",
        "Mm",
        "Mv",
    ),
    0,
) | dict.fromkeys(("Addbmm", "Addmm", "Addmv", "Baddbmm"), 1)
"""Primitives that multiply two of their arguments: the place of the first of both."""

OPAQUE = frozenset(
    (
        "BasicLSTMCell",
        "CudnnGRU",
        "DynamicGRUV2",
        "DynamicRNN",
        "Einsum",
        "EinsumExt",
        "FFNExt",
        "FlashAttentionScore",
        "GRUV2",
        "GroupedMatmul",
        "LSTM",
        "LSTMV2",
        "PromptFlashAttention",
    )
)
"""Primitives with products inside, which cannot be rounded from without."""


class Rehearsal:
    """The arithmetic of one compute mode; `products` counts those that were rounded.

    Compiled code is counted once for each place in the source, not for each call.
    """

    def __init__(self, mode: str):
        self.mode, self.products = mode, 0
        self._enter, self._leave = _halved, _halved
        if mode in SIGNIFICANT:
            self._enter = _rounding(SIGNIFICANT[mode])
            self._leave = _cotangents(self._enter)

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Within, every cell and every function of MindSpore computes so.

        PyNative mode dispatches each operator to the innermost `MsDispatchMode`. The compiler asks
        `resolve_symbol` for every name that it finds in a source, primitives included.
        """
        resolve = _parse.resolve_symbol

        def resolve_rounded(namespace: Any, symbol: str) -> Any:
            found = resolve(namespace, symbol)
            return found if namespace.name.startswith(__name__) else self._compiled(found)

        _parse.resolve_symbol = resolve_rounded
        try:
            with _Dispatch(self._dispatched):
                yield
        finally:
            _parse.resolve_symbol = resolve

    def _compiled(self, found: Any) -> Any:
        """What the compiler gets for an object in a source."""
        if isinstance(found, ops.Primitive) and self._multiplies(found.name):
            return self._product(found, PRODUCTS[found.name])
        if (
            isinstance(found, type)
            and issubclass(found, ops.Primitive)
            and self._multiplies(found.__name__)
        ):
            return self._maker(found)
        return found

    def _dispatched(self, func: Callable, arguments: tuple) -> Any:
        """The result of an operator in PyNative mode."""
        if not self._multiplies(func.name):
            return func(*arguments)
        if isinstance(arguments[0], ops.Primitive):  # primitive, its name, its arguments
            primitive, name, arguments = arguments
            product = self._product(lambda *inner: func(primitive, name, inner), PRODUCTS[name])
        else:
            product = self._product(func, PRODUCTS[func.name])
        return product(*arguments)

    def _multiplies(self, name: str) -> bool:
        if name in OPAQUE:
            raise EquivalenceError(
                f"a rehearsal cannot round the products inside {name}: run this case on the device"
            )
        self.products += name in PRODUCTS
        return name in PRODUCTS

    def _product(self, call: Callable, first: int) -> Callable:
        """`call` with rounded factors; written so that it compiles, too."""
        enter, leave = self._enter, self._leave

        def product(*arguments):
            left, right = enter(arguments[first]), enter(arguments[first + 1])
            return leave(call(*arguments[:first], left, right, *arguments[first + 2 :]))

        return product

    def _maker(self, primitive: type) -> Callable:
        """A class of primitives that sources make instances of where they need one."""
        first, product = PRODUCTS[primitive.__name__], self._product

        def make(*settings, **named):
            return product(primitive(*settings, **named), first)

        return make


class _Dispatch(ms.MsDispatchMode):
    def __init__(self, dispatched: Callable[[Callable, tuple], Any]):
        self.dispatched = dispatched

    def __ms_dispatch__(self, func, args, kwargs=None):
        return self.dispatched(func, args)


def _rounding(bits: int) -> Callable[[ms.Tensor], ms.Tensor]:
    """Rounds float32 to so many significant bits, to nearest (Veltkamp's splitting).

    The gradient passes as if nothing were rounded.
    """
    split = 2.0 ** (24 - bits) + 1.0

    def rounded(x):
        if x.dtype != ms.float32:
            return x
        scaled = x * split
        return x + ops.stop_gradient(scaled - (scaled - x) - x)

    return rounded


def _cotangents(rounded: Callable[[ms.Tensor], ms.Tensor]) -> Callable[[ms.Tensor], ms.Tensor]:
    """Rounds the cotangent of what it is given, and leaves the value alone."""
    insert = ops.InsertGradientOf(rounded)

    def leave(x):
        return insert(x)

    return leave


def _halved(x):
    """Rounds float32 to float16, and the gradient as well."""
    if x.dtype != ms.float32:
        return x
    return ops.cast(ops.cast(x, ms.float16), ms.float32)
