"""Rehearsals: the CPU rounds the factors of convolutions and matrix products as a device does.

A rehearsal works forward and backward, in PyNative mode and in compiled graphs. In float16 mode the
factors and the result of a product are rounded to float16, as Ascend does with
`allow_fp32_to_fp16`; everything else stays float32. In HF32 and TF32 only the factors are rounded,
to the significant bits of the format, and the products are summed in float32. Rounding is to
nearest, ties to even: the default of HF32 (CANN's SetHF32TransMode). TF32's rounding is not
documented, only its width.

The gradient of a product has two further products, of the cotangent with each factor. They are
rounded, too: the factors are rounded in a way that gradients pass, and so is the cotangent.
"""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import ops

from equivalence.errors import EquivalenceError
from equivalence.stream.mindspore_stream import Call, Observer
from equivalence.stream.observer import RUN

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
"""Primitive that multiplies two neighbouring arguments -> the position of the first of them."""

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
"""Primitives whose products cannot be rounded from outside. In a rehearsal they raise
EquivalenceError."""


class Rehearsal(Observer):
    """The arithmetic of one compute mode.

    mode: "tf32", "hf32" or "float16".
    products: the number of products rounded so far. A compiled product is counted once, when it is
    compiled, not in each call.
    """

    slot = "arithmetic"

    def __init__(self, mode: str):
        self.mode, self.products = mode, 0
        self._enter, self._leave = _halved, _halved
        if mode in SIGNIFICANT:
            self._enter = _rounding(SIGNIFICANT[mode])
            self._leave = _cotangents(self._enter)

    def compiled(self, value: Any) -> Any:
        """The object that the compiler gets in place of one that a source names."""
        if isinstance(value, ops.Primitive) and self._multiplies(value.name):
            return self._product(value, PRODUCTS[value.name])
        if (
            isinstance(value, type)
            and issubclass(value, ops.Primitive)
            and self._multiplies(value.__name__)
        ):
            return self._maker(value)
        return value

    def replace(self, call: Call) -> Any:
        """The result of an operator in PyNative mode, with rounded factors where it multiplies."""
        if not self._multiplies(call.name):
            return RUN
        return self._product(call.proceed, PRODUCTS[call.name])(*call.args)

    def _multiplies(self, name: str) -> bool:
        """Whether a primitive multiplies; counts it if so. Raises EquivalenceError for OPAQUE."""
        if name in OPAQUE:
            raise EquivalenceError(
                f"a rehearsal cannot round the products inside {name}: run this case on the device"
            )
        self.products += name in PRODUCTS
        return name in PRODUCTS

    def _product(self, call: Callable, first: int) -> Callable:
        """`call` with rounded factors; MindSpore can compile it, too."""
        enter, leave = self._enter, self._leave

        def product(*arguments):
            left, right = enter(arguments[first]), enter(arguments[first + 1])
            return leave(call(*arguments[:first], left, right, *arguments[first + 2 :]))

        return product

    def _maker(self, primitive: type) -> Callable:
        """A function that makes primitives with rounded factors, in place of the class."""
        first, product = PRODUCTS[primitive.__name__], self._product

        def make(*settings, **named):
            return product(primitive(*settings, **named), first)

        return make


def _rounding(bits: int) -> Callable[[ms.Tensor], ms.Tensor]:
    """A function that rounds float32 to `bits` significant bits, to nearest.

    It uses Veltkamp's splitting. The gradient passes unchanged.
    """
    split = 2.0 ** (24 - bits) + 1.0

    def rounded(x):
        if x.dtype != ms.float32:
            return x
        scaled = x * split
        return x + ops.stop_gradient(scaled - (scaled - x) - x)

    return rounded


def _cotangents(rounded: Callable[[ms.Tensor], ms.Tensor]) -> Callable[[ms.Tensor], ms.Tensor]:
    """A function that leaves its argument unchanged and rounds the cotangent of it."""
    insert = ops.InsertGradientOf(rounded)

    def leave(x):
        return insert(x)

    return leave


def _halved(x):
    """Float32 values rounded to float16; their gradient is rounded, too."""
    if x.dtype != ms.float32:
        return x
    return ops.cast(ops.cast(x, ms.float16), ms.float32)
