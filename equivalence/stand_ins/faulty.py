"""Operators of MindSpore that compute something wrong without a word, and what is right instead.

A diagnosis puts what is right in the place of those that a wrong network calls, and runs it again.
"""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore import mint, nn, ops
from mindspore.ops.operations import nn_ops

from equivalence.stand_ins import making
from equivalence.stream.mindspore_stream import Observer, transposed_length
from equivalence.stream.patches import patched

SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
"""The constants of a SELU."""


def selu(x):
    """A SELU with its gradient."""
    return SCALE * (ops.relu(x) + ALPHA * ops.expm1(ops.minimum(x, 0.0)))


def mish(x):
    """A Mish of any number: x tanh(log(1 + exp(x)))."""
    return x * ops.tanh(ops.relu(x) + ops.log1p(ops.exp(-ops.abs(x))))


def lerp(start, end, weight):
    """A linear interpolation, whose operands may have any ranks."""
    return start + weight * (end - start)


def kl_div(reduction="mean"):
    """A divergence with both of its gradients."""

    def diverge(logits, target):
        positive = target > 0
        entropy = target * ops.log(ops.where(positive, target, ops.ones_like(target)))
        return reduced(entropy - target * logits, reduction)

    return diverge


def binary_cross_entropy(reduction="mean"):
    """A loss of probabilities, of one element too; a logarithm is -100 at least, as PyTorch's."""

    def lose(x, target, weight=None):
        near, far = (ops.maximum(ops.log(each), -100.0) for each in (x, 1.0 - x))
        loss = -(target * near + (1.0 - target) * far)
        return reduced(loss if weight is None else weight * loss, reduction)

    return lose


NUMBERED = {0: "sum", 1: "mean", 2: "none"}
"""The reductions as some primitives hold them."""


def reduced(loss, reduction):
    """The mean, the sum, the sum for a sample, or all of a loss. Raises ValueError for another."""
    reduction = NUMBERED.get(reduction, reduction)
    if reduction == "none":
        return loss
    if reduction == "batchmean":
        return loss.sum() / loss.shape[0]
    if reduction not in ("sum", "mean"):
        raise ValueError(f"a reduction {reduction!r} is not known")
    return loss.sum() if reduction == "sum" else loss.mean()


def bicubic(align_corners=False, half_pixel_centers=False):
    """A bicubic interpolation by PyTorch's kernel, at the very places between two pixels."""
    if align_corners == half_pixel_centers:
        raise ValueError("PyTorch aligns either the corners or the centres of pixels")

    def resize(images, size):
        return making.bicubic(images, measures(size), None, align_corners)

    return resize


@ops.constexpr
def measures(size):
    """The height and the width that are wanted: numbers, in a compiled graph too."""
    return tuple(int(each) for each in size.asnumpy())


def split(tensor, split_size_or_sections, dim=0):
    """A split whose parts may get their gradients in any layout."""
    return ops.split(tensor, split_size_or_sections, dim)


def transposed(self, x):
    """`construct` of a transposed convolution that computes what is added at the ends, too."""
    added = self.output_padding
    height, width = (added, added) if isinstance(added, int) else added
    batch, _, rows, columns = x.shape
    mode = self.is_valid, self.is_same, self.is_pad
    height += transposed_length(
        *mode,
        rows,
        self.kernel_size[0],
        self.stride[0],
        self.dilation[0],
        self.padding_top + self.padding_bottom,
    )
    width += transposed_length(
        *mode,
        columns,
        self.kernel_size[1],
        self.stride[1],
        self.dilation[1],
        self.padding_left + self.padding_right,
    )
    made = self.conv2d_transpose(x, self.weight, (batch, self.out_channels, height, width))
    return self.bias_add(made, self.bias) if self.has_bias else made


def embedded(self, ids):
    """`construct` of an embedding whose row of padding gets no gradient."""
    rows = self.gather(self.embedding_table, ids, 0)
    if self.padding_idx is None:
        return rows
    return ops.where(ops.expand_dims(ids == self.padding_idx, -1), ops.stop_gradient(rows), rows)


def padded(x, padding, value):
    """A padding by a constant, one number, in pairs from the last axis on."""
    inside = making.pad(ops.ones_like(x), padding)
    return ops.where(inside > 0, making.pad(x, padding), value)


def pad(mode="constant", paddings_contiguous=True):
    """`padded` in place of a primitive that pads by a constant; any other pads as ever."""
    if mode == "constant" and paddings_contiguous:
        return padded
    return nn_ops.PadV3(mode=mode, paddings_contiguous=paddings_contiguous)


@dataclass(frozen=True)
class Fault:
    """An operator that is wrong.

    finding: the script in `findings/` that shows it.
    what: what is wrong, as a part of MindSpore.
    instead: what to write.
    primitive: the name of its primitive.
    compiled: whether it is wrong in a compiled graph alone.
    backward: whether its gradient alone is wrong, so that no result of a network is.
    stand_in: what is right in its place; of a primitive that is made with settings, takes those.
    settings: the names of these settings.
    layer: the class of a layer that uses the primitive wrongly, whose `construct` the stand-in is;
        None: the primitive itself is wrong.
    function: the name of the function of `mindspore.mint` in whose place the stand-in is; "": none.
    words: names of which code has one that calls the operator; the primitive's own is one of them.
    """

    finding: str
    what: str
    instead: str
    primitive: str
    compiled: bool
    stand_in: Callable
    settings: tuple[str, ...] = ()
    layer: type[nn.Cell] | None = None
    function: str = ""
    words: tuple[str, ...] = ()
    backward: bool = False

    @property
    def told(self) -> str:
        """What is wrong and what to write, as a sentence of its own."""
        wrong = f"MindSpore's {self.what} is wrong (finding {self.finding})"
        return f"{wrong}; write {self.instead} instead"

    def __str__(self) -> str:
        return (
            f"MindSpore's {self.what} is not (finding {self.finding}); write {self.instead} instead"
        )


FAULTS = (
    Fault(
        "pad_gradient_in_graph_called_again",
        "gradient of ops.pad in a compiled graph that is called again",
        "nn.Pad, or ops.cat with what is added,",
        "PadV3",
        True,
        pad,
        ("mode", "paddings_contiguous"),
        backward=True,
        words=("pad", "Pad", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad2d"),
    ),
    Fault(
        "selu_gradient",
        "gradient of ops.selu",
        f"{SCALE:.9f} * (ops.relu(x) + {ALPHA:.9f} * ops.expm1(ops.minimum(x, 0.0)))",
        "SeLU",
        False,
        selu,
        backward=True,
        words=("selu", "SELU"),
    ),
    Fault(
        "mish_overflow",
        "ops.mish of numbers above 44",
        "x * ops.tanh(ops.relu(x) + ops.log1p(ops.exp(-ops.abs(x))))",
        "Mish",
        False,
        mish,
        words=("mish",),
    ),
    Fault(
        "lerp_gradient_below_an_axis_of_one",
        "gradient of ops.lerp between operands of different ranks",
        "start + weight * (end - start)",
        "Lerp",
        False,
        lerp,
        backward=True,
        words=("lerp",),
    ),
    Fault(
        "kl_div_target_gradient",
        "gradient of ops.kl_div with respect to its target",
        "(target * (ops.log(target) - logits)).mean(), or its sum,",
        "KLDivLoss",
        False,
        kl_div,
        ("reduction",),
        backward=True,
        words=("kl_div",),
    ),
    Fault(
        "bce_of_one_element",
        "ops.binary_cross_entropy of a single element",
        "-(y * ops.log(x) + (1 - y) * ops.log(1 - x))",
        "BinaryCrossEntropy",
        False,
        binary_cross_entropy,
        ("reduction",),
        words=("binary_cross_entropy", "BCELoss"),
    ),
    Fault(
        "interpolate_bicubic",
        "bicubic ops.interpolate",
        "a product with the weights of a cubic kernel of a = -0.75 along each axis",
        "ResizeBicubic",
        False,
        bicubic,
        ("align_corners", "half_pixel_centers"),
        words=("interpolate", "upsample", "Upsample"),
    ),
    Fault(
        "conv_transpose_output_padding",
        "nn.Conv2dTranspose(output_padding=...)",
        "ops.Conv2DTranspose with the whole size of the output",
        "Conv2DTranspose",
        False,
        transposed,
        layer=nn.Conv2dTranspose,
        words=("Conv2dTranspose",),
    ),
    Fault(
        "embedding_padding_gradient",
        "gradient of nn.Embedding(padding_idx=...) in the row of padding_idx",
        "ops.where(ops.expand_dims(ids == padding_idx, -1), ops.stop_gradient(rows), rows)",
        "Gather",
        False,
        embedded,
        layer=nn.Embedding,
        backward=True,
        words=("Embedding",),
    ),
    *(
        Fault(
            "mint_split_gradient_of_transposed",
            "gradient of mint.split of parts that are transposed or joined again",
            "ops.split",
            primitive,
            False,
            split,
            function="split",
            backward=True,
            words=("split",),
        )
        for primitive in ("SplitWithSizeView", "SplitTensorView")
    ),
)
"""The faults that are tried."""


class Mended(Observer):
    """What is right stands in the place of operators that are wrong: no run has these faults.

    faults: the operators. met: is told of each that a run calls in PyNative mode; no graph that is
        compiled may call one then.
    """

    slot = "faults"

    def __init__(self, faults: Iterable[Fault], met: Callable[[Fault], object] | None = None):
        faults = list(faults)
        self.met = met
        self.places = [
            (f.layer, "construct", self._noted(f, f.stand_in)) for f in faults if f.layer
        ]
        self.places += [
            (mint, f.function, self._noted(f, f.stand_in)) for f in faults if f.function
        ]
        own = (fault for fault in faults if not (fault.layer or fault.function))
        self.faults = {fault.primitive: fault for fault in own}

    def begin(self) -> None:
        """Put them there before MindSpore records anything, so that their gradient is recorded."""
        self._open_places = contextlib.ExitStack()
        for owner, name, stand_in in self.places:
            self._open_places.enter_context(patched(owner, **{name: stand_in}))
        for fault in self.faults.values():
            if not fault.compiled:
                owner = getattr(ops, fault.primitive)
                calling = patched(owner, __call__=self._calling(fault))
                self._open_places.enter_context(calling)

    def end(self) -> None:
        """Take them away."""
        self._open_places.close()

    def _noted(self, fault: Fault, stand_in: Callable) -> Callable:
        """A stand-in that tells when it is called, where anybody is to be told."""
        met = self.met
        if met is None:
            return stand_in

        def call(*args: Any, **kwargs: Any) -> Any:
            met(fault)
            return stand_in(*args, **kwargs)

        return call

    def _calling(self, fault: Fault) -> Callable:
        """What a class does when one of its primitives is called in PyNative mode."""

        def call(primitive: Any, *inputs: Any) -> Any:
            if self.met is not None:
                self.met(fault)
            return self._made(fault, primitive)(*inputs)

        return call

    def compiled(self, value: Any) -> Any:
        """The object that the compiler gets in place of one that a source names."""
        if isinstance(value, ops.Primitive):
            fault = self.faults.get(value.name)
            return value if fault is None else self._made(fault, value)
        if isinstance(value, type) and issubclass(value, ops.Primitive):
            fault = self.faults.get(value.__name__)
            if fault is None:
                return value
            return fault.stand_in if fault.settings else _making(fault)
        return value

    def _made(self, fault: Fault, primitive: ms.ops.Primitive) -> Callable:
        """What stands for an object with its settings."""
        told = [getattr(primitive, name) for name in fault.settings]
        return fault.stand_in(*told) if told else fault.stand_in


def _making(fault: Fault) -> Callable:
    """A function that gives the stand-in, in place of a primitive's class without settings."""
    stand_in = fault.stand_in

    def make():
        return stand_in

    return make
