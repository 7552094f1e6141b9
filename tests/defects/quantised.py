"""Mistakes in networks of eight bits, of one line each. Rounding decides some of their steps."""

from benchmarks.catalogue.ms import decisions
from equivalence import normal
from equivalence.declare.twin import Twin
from tests.defects.lines import Lines, Mistake

INPUTS = {network: [normal(4, 3, 32, 32)] for network in ("EightBits", "EightBitsClamped")}
"""Network -> its inputs."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
MISTAKES = tuple(Mistake(*each) for each in (
    ("steps_of_128", "EightBits", "x.abs().max()) / 127", "x.abs().max()) / 128"),
    ("steps_of_seven_bits", "EightBits", "x.abs().max()) / 127", "x.abs().max()) / 63"),
    ("steps_of_one_image", "EightBits", "x.abs().max()) / 127", "x[:1].abs().max()) / 127"),
    ("steps_of_the_positive", "EightBits", "x.abs().max()) / 127", "x.max()) / 127"),
    ("floored_steps", "EightBits", "whole = ops.round(x / step)", "whole = ops.floor(x / step)"),
    ("raised_steps", "EightBits", "whole = ops.round(x / step)", "whole = ops.ceil(x / step)"),
    ("truncated_steps", "EightBits", "whole = ops.round(x / step)", "whole = ops.trunc(x / step)"),
    ("steps_shifted_by_a_thousandth", "EightBits", "whole = ops.round(x / step)", "whole = ops.round(x / step + 0.001)"),
    ("steps_stretched_by_a_hundred_thousandth", "EightBits", "whole = ops.round(x / step)", "whole = ops.round(x / step * 1.00001)"),
    ("clamped_at_126", "EightBits", "whole.clamp(-127, 127)", "whole.clamp(-126, 126)"),
    ("kernel_not_quantised", "EightBits", "kernel = self.quantised(conv.weight)", "kernel = conv.weight", ("x = ops.conv2d(image, kernel",)),
    ("image_not_quantised", "EightBits", "image = self.quantised(x)", "image = x", ("x = ops.conv2d(image, kernel",)),
    ("no_gradient_through_steps", "EightBits", "x + ops.stop_gradient(whole * step - x)", "whole * step"),
    ("clamped_at_100", "EightBitsClamped", "within = (x / step).clamp(-127, 127)", "within = (x / step).clamp(-100, 100)"),
))
# fmt: on

_LINES = Lines(__name__, decisions, "benchmarks.catalogue.pt.decisions", MISTAKES)
DEFECTS = _LINES.defects


def twins() -> tuple[Twin, ...]:
    """The twins of these networks, with right candidates."""
    return _LINES.twins(INPUTS)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    return _LINES.network(name)
