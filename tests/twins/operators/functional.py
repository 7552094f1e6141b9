"""Convolutions, poolings, padding, resizing and norms."""

import functools

from hypothesis import strategies as st

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal, ties, uniform
from equivalence.declare.operator import DRAWN, LIMITS, Operator, to
from equivalence.declare.spaces import SIDE, arguments, values
from tests.twins.operators.spaces_functional import (
    adaptive,
    batch,
    convolution,
    padded,
    resized,
    unpooled,
    window,
)
from tests.twins.operators.spaces_shapes import filled

OF_MS = "ms_models.functional:"
F = "torch.nn.functional."
SINGLE = ("float32",)
"""Where PyTorch's CPU kernels have no half precision."""

EMPTY = {"empty": "an empty batch is refused"}
PLAIN = {"empty_and_plain": "an empty batch is refused"}
EMPTY_GRADIENT = {"empty": "the gradient of an empty batch is refused"}
KEPT = {"kept": "None for a side is refused"}
UNEVEN = {"uneven": "windows of different sizes are refused"}
FAR_PADDING = {"far_padding": "padding the output by the stride or more is refused"}

LIMITS["empty_and_plain"] = lambda example: (
    0 in example.inputs[0].shape
    and example.arguments["dilation"] == 1
    and not example.arguments["return_indices"]
)


def _convolution(name: str, rank: int, api: str, without=None) -> Operator:
    space = convolution(rank, transposed="transpose" in name)
    return Operator(F + name, space, to(api, through=OF_MS + name, without=without))


NARROW = {
    "dilated_depth": "a dilation along the first axis is refused",
    "thin": "groups that do not divide the kernel's second axis are refused",
    "float16": "the gradient of the kernel is float32",
    "empty": "the gradient of the bias is not zero",
}

CONVOLUTIONS = (
    _convolution(
        "conv1d", 1, "ops.conv1d", {"one_and_bias": "the gradient of the bias is refused"}
    ),
    _convolution("conv2d", 2, "ops.conv2d"),
    _convolution("conv3d", 3, "ops.conv3d"),
    _convolution("conv_transpose1d", 1, "ops.Conv2DTranspose", FAR_PADDING),
    _convolution("conv_transpose2d", 2, "ops.Conv2DTranspose", FAR_PADDING),
    _convolution("conv_transpose3d", 3, "ops.conv3d_transpose", NARROW | FAR_PADDING),
)

MAX = {"ceil_mode": [False, True], "return_indices": [False, True]}
MEAN = {"ceil_mode": [False, True], "count_include_pad": [True, False]}
MEANS = {**MEAN, "divisor_override": [None, 2, 5]}
DIVIDED = {"divided_border": "the gradient is divided by the number of entries, not as told"}
STRIDE = {"stride": (None, 1)}
POWERS = {"norm_type": [1, 2, 3.0], "ceil_mode": [False, True]}
AWAY = functools.partial(uniform, low=0.3, high=2.0)

POOLINGS = (
    Operator(
        F + "max_pool1d",
        window(1, dilated=True, **MAX),
        to("nn.MaxPool1d", through=OF_MS + "MaxPool1d", defaults=STRIDE),
    ),
    Operator(
        F + "max_pool2d",
        window(2, dilated=True, **MAX),
        to("ops.max_pool2d", without=EMPTY_GRADIENT),
        to("nn.MaxPool2d", through=OF_MS + "MaxPool2d", defaults=STRIDE),
    ),
    Operator(
        F + "max_pool3d",
        window(3, dilated=True, **MAX),
        to("ops.max_pool3d"),
        to(
            "nn.MaxPool3d",
            through=OF_MS + "MaxPool3d",
            without=PLAIN,
            defaults=STRIDE,
            differs={
                (
                    "max_pool3d(normal(0, 2, 3, 3, 3), kernel_size=2, padding=0, dilation=1, "
                    "ceil_mode=False, return_indices=False)"
                ): Difference(
                    "an empty batch is refused",
                    Raised(
                        "ValueError",
                        "For 'MaxPool3D', output shape's all elements must be positive",
                    ),
                ),
            },
        ),
    ),
    *(
        Operator(
            F + f"avg_pool{rank}d",
            window(rank, **settings),
            to(
                f"ops.avg_pool{rank}d",
                through=OF_MS + f"avg_pool{rank}d",
                without=limits,
                defaults=STRIDE,
            ),
            to(
                f"nn.AvgPool{rank}d",
                through=OF_MS + f"AvgPool{rank}d",
                without=limits,
                defaults=STRIDE,
            ),
            dtypes=dtypes,
        )
        for rank, settings, limits, dtypes in (
            (1, MEAN, EMPTY, DRAWN),
            (2, MEANS, EMPTY | DIVIDED, DRAWN),
            (3, MEANS, EMPTY | DIVIDED, SINGLE),
        )
    ),
    *(
        Operator(
            F + f"lp_pool{rank}d",
            window(rank, AWAY, padded=False, **POWERS),
            to(f"ops.lp_pool{rank}d", without=EMPTY),
            to(f"nn.LPPool{rank}d", without=EMPTY),
        )
        for rank in (1, 2)
    ),
    *(
        Operator(
            F + f"adaptive_avg_pool{rank}d",
            adaptive(rank),
            to(f"ops.adaptive_avg_pool{rank}d", without=limits),
            to(f"nn.AdaptiveAvgPool{rank}d", without=limits),
        )
        for rank, limits in ((1, EMPTY | UNEVEN), (2, EMPTY), (3, EMPTY))
    ),
    Operator(
        F + "adaptive_max_pool1d",
        adaptive(1),
        to("ops.adaptive_max_pool1d", without=EMPTY | UNEVEN),
        to("nn.AdaptiveMaxPool1d", without=EMPTY | UNEVEN),
    ),
    Operator(
        F + "adaptive_max_pool2d",
        adaptive(2, return_indices=[False, True]),
        to("ops.adaptive_max_pool2d"),
        to("mint.nn.functional.adaptive_max_pool2d"),
        to("nn.AdaptiveMaxPool2d"),
    ),
    Operator(
        F + "adaptive_max_pool3d",
        adaptive(3, return_indices=[False, True]),
        to("ops.adaptive_max_pool3d", integers="int32", without=EMPTY | KEPT),
        to("nn.AdaptiveMaxPool3d", integers="int32", without=EMPTY | KEPT),
    ),
    *(
        Operator(
            F + f"max_unpool{rank}d",
            unpooled(rank),
            to(f"ops.max_unpool{rank}d"),
            to(f"nn.MaxUnpool{rank}d"),
        )
        for rank in (1, 2, 3)
    ),
)


def _pad(mode: str, rank: int, most, lowest=1, **told) -> Operator:
    cell = {"constant": "Constant", "reflect": "Reflection", "replicate": "Replication"}.get(mode)
    counterparts = []
    if (mode, rank) != ("reflect", 3):  # which ops.pad refuses
        counterparts.append(to("ops.pad", pad="padding", without=EMPTY))
    if mode == "circular":
        counterparts.append(to("mint.nn.functional.pad", without=EMPTY))
    else:
        api = f"{cell}Pad{rank}d"
        counterparts.append(to(f"nn.{api}", through=OF_MS + api, without=EMPTY))
    space = padded(rank, most, lowest, mode=mode, **told)
    return Operator(F + "pad", space, *counterparts, name=f"pad_{mode}{rank}d")


PADDINGS = (
    *(_pad("constant", rank, lambda _: 3, value=[0.0, -1.5]) for rank in (1, 2, 3)),
    *(_pad("reflect", rank, lambda side: side - 1, 2) for rank in (1, 2, 3)),
    *(_pad("replicate", rank, lambda _: 3) for rank in (1, 2, 3)),
    *(_pad("circular", rank, lambda side: side) for rank in (1, 2, 3)),
    Operator(
        F + "pad",
        padded(2, lambda _: 3, mode=["constant"]),
        to("ops.pad", pad="padding", without=EMPTY),
        to("nn.ZeroPad2d", through=OF_MS + "ZeroPad2d", without=EMPTY),
        name="pad_zero2d",
    ),
)

FACTOR = {"kept_scale": "a factor that is not recomputed to be whole is refused"}
LINES = {"lines": "lines whose windows differ in size are refused"}
POINT = {"reflected_point": "crashes: a single point has no borders to reflect at"}
ONE = {"to_one": "a single point is the first, not the middle one"}


def _interpolate(mode: str, *ranks: int, corners=False, mint=False, without=None) -> Operator:
    told = {"align_corners": [False, True]} if corners else {}
    return Operator(
        F + "interpolate",
        resized(*ranks, mode=mode, **told),
        to("ops.interpolate", without=without),
        *([to("mint.nn.functional.interpolate", without=EMPTY_GRADIENT)] if mint else []),
        to("nn.Upsample", without=without),
        name="interpolate_" + mode.replace("-", "_"),
    )


def _shuffled(name: str):
    def space(draw, without):
        factor = draw(st.integers(1, 3))
        channels, height, width = (draw(st.integers(1, 3)) for _ in range(3))
        sizes = {
            "upscale_factor": (channels * factor**2, height, width),
            "downscale_factor": (channels, height * factor, width * factor),
            "groups": (channels * factor, height, width),
        }[name]
        return [values(draw, without, normal)(batch(draw, without), *sizes)], {name: factor}

    return space


def _unfolded(folded: bool = False):
    def space(draw, without):
        kernel, stride = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        padding, dilation = draw(st.integers(0, 1)), draw(st.integers(1, 2))
        span = dilation * (kernel - 1) + 1
        height, width = (max(draw(st.integers(2, SIDE)), span) for _ in range(2))
        told = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
        planes = draw(st.integers(1, 3))
        sizes = (planes, height, width)
        if folded:
            told["output_size"] = (height, width)
            windows = [(s + 2 * padding - span) // stride + 1 for s in (height, width)]
            sizes = (planes * kernel**2, windows[0] * windows[1])
        return [values(draw, without, normal, ties)(batch(draw, without), *sizes)], told

    return space


def _sampled(rank: int):
    def space(draw, _):
        rows, planes = draw(st.integers(1, 2)), draw(st.integers(1, 3))
        sides, out = ([draw(st.integers(1, 4)) for _ in range(rank)] for _ in range(2))
        # A pixel and more beyond the edge, where a border and a reflection part.
        grid = uniform(rows, *out, rank, low=-2.0, high=2.0)
        modes = {
            "mode": ["bilinear", "nearest"],
            "padding_mode": ["zeros", "border", "reflection"],
            "align_corners": [False, True],
        }
        return [normal(rows, planes, *sides), grid], arguments(draw, modes)

    return space


def _affine_grid(rank: int):
    def space(draw, _):
        rows = draw(st.integers(1, 3))
        sides = [draw(st.integers(1, 5)) for _ in range(rank)]
        size = (rows, draw(st.integers(1, 3)), *sides)
        told = {"size": size, "align_corners": draw(st.booleans())}
        return [normal(rows, rank, rank + 1)], told

    return space


MAPPINGS = (
    _interpolate("nearest", 1, 2, 3, mint=True, without=FACTOR | EMPTY_GRADIENT),
    _interpolate("nearest-exact", 1, 2, without=FACTOR),
    _interpolate("linear", 1, corners=True, without=FACTOR | ONE),
    _interpolate("bilinear", 2, corners=True, without=FACTOR),
    _interpolate("trilinear", 3, corners=True, mint=True, without=EMPTY_GRADIENT),
    _interpolate("area", 1, 2, 3, without=EMPTY | LINES),
    Operator(
        F + "pixel_shuffle",
        filled(_shuffled("upscale_factor")),
        to("ops.pixel_shuffle"),
        to("mint.nn.functional.pixel_shuffle"),
        to("nn.PixelShuffle"),
    ),
    Operator(
        F + "pixel_unshuffle",
        filled(_shuffled("downscale_factor")),
        to("ops.pixel_unshuffle"),
        to("nn.PixelUnshuffle"),
    ),
    Operator(
        F + "channel_shuffle",
        _shuffled("groups"),
        to("nn.ChannelShuffle"),
    ),
    Operator(F + "unfold", _unfolded(), to("ops.unfold", without=EMPTY)),
    Operator(
        F + "fold",
        _unfolded(True),
        to("ops.fold", through=OF_MS + "fold", without=EMPTY),
    ),
    Operator(
        F + "grid_sample",
        _sampled(2),
        to("ops.grid_sample", without=POINT),
        to("mint.nn.functional.grid_sample", without=POINT),
    ),
    Operator(
        F + "grid_sample",
        _sampled(3),
        to("ops.grid_sample", without=POINT),
        to("mint.nn.functional.grid_sample", without=POINT),
        name="grid_sample3d",
    ),
    Operator(F + "affine_grid", _affine_grid(2), to("ops.affine_grid"), dtypes=SINGLE),
    Operator(
        F + "affine_grid",
        _affine_grid(3),
        to("ops.affine_grid"),
        name="affine_grid3d",
        dtypes=SINGLE,
    ),
)

OPERATORS = (*CONVOLUTIONS, *POOLINGS, *PADDINGS, *MAPPINGS)
