"""A Conformer block, and one under the CTC loss."""

from equivalence.declare.draws import given, integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.speech:", "ms_models.speech:"

# MindSpore's convolutions of lines have a fourth axis.
RENAME = {
    f"{layer}.weight": f"{layer}.weight.reshape()"
    for layer in ("pointwise1", "depthwise", "pointwise2")
}
BLOCK = {"reference": PT + "ConformerBlock", "candidate": MS + "ConformerBlock", "rename": RENAME}
SIZES = {"width": 12, "num_heads": 3, "hidden": 20, "kernel_size": 5}

TWINS = (
    Twin(
        "conformer_block",
        configs=grid(**SIZES),
        inputs=[normal(2, 7, "width"), given(2, values=[7, 5])],
        level="nightly",
        **BLOCK,
    ),
    Twin(
        "recogniser",
        reference=PT + "Recogniser",
        candidate=MS + "Recogniser",
        configs=grid(features=4, symbols=6, **SIZES),
        inputs=[
            normal(2, 20, "features"),
            given(2, values=[20, 15]),
            integers(2, 4, low=1, high=6),
            given(2, values=[4, 2]),
        ],
        phases=("train",),
        rename=RENAME,
        level="nightly",
    ),
    Twin(
        "conformer_block_of_small",
        configs=grid(width=144, num_heads=4, hidden=576, kernel_size=31),
        inputs=[normal(2, 120, "width"), given(2, values=[120, 90])],
        phases=("train",),
        executions=("pynative",),
        level="nightly",
        **BLOCK,
    ),
)
