"""Networks in bfloat16: whole ones, and those that cast to it by themselves.

A CPU of MindSpore adds, multiplies and joins in bfloat16, and little else.
"""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.bfloat16:", "ms_models.bfloat16:"
CAST = {"computes": "bfloat16", "phases": ("train",)}
WHOLE = {"dtypes": ("bfloat16",), "phases": ("train",)}


def same(name: str, attribute: str, **declared) -> Twin:
    """A twin whose sides have one name."""
    return Twin(name, reference=PT + attribute, candidate=MS + attribute, **declared)


MULTIPLIED = "!=2.8.*"
"""Releases in which a CPU multiplies bfloat16 by float32."""

TWINS = (
    same(
        "rotary_bfloat16",
        "Rotary",
        configs=grid(WIDTH=16),
        inputs=[normal(2, 6, "WIDTH"), *[normal(6, "WIDTH").constant()] * 2],
        releases=MULTIPLIED,
        **WHOLE,
    ),
    same(
        "root_mean_square_norm_bfloat16",
        "RootMeanSquareNorm",
        configs=grid(width=24, eps=1e-6),
        inputs=[normal(2, 5, "width")],
        releases=MULTIPLIED,
        **WHOLE,
    ),
    same(
        "perceptron_bfloat16",
        "Perceptron",
        configs=grid(width=24, hidden=32, classes=10),
        inputs=[normal(16, "width")],
        **CAST,
    ),
    same(
        "attention_bfloat16",
        "Attention",
        configs=grid(width=16),
        inputs=[normal(2, 7, "width")],
        level="nightly",
        **CAST,
    ),
    same(
        "step_bfloat16",
        "step",
        configs=grid(learning_rate=300.0),
        inputs=[normal(12, 12), integers(12, high=5)],
        steps=1,
        level="nightly",
        **CAST,
    ),
)
