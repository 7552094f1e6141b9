"""Levels and scalers of `mindspore.amp` that leave a network in float32.

Those that compute in half precision are in `precision.py`, the dynamic scale is in `optim.py`.
"""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.amp:", "ms_models.amp:"

TWINS = (
    Twin(
        "mixed_o0",
        reference=PT + "plain",
        candidate=MS + "plain",
        configs=grid(level="O0"),
        inputs=[normal(3, 3, 9, 8)],
        level="nightly",
    ),
    Twin(
        "static_scale_step",
        reference=PT + "static_scale",
        candidate=MS + "static_scale",
        configs=grid(learning_rate=0.1, loss_scale=1024.0),
        inputs=[normal(12, 3, 9, 8), integers(12, high=5)],
        phases=("train",),
        steps=3,
        level="nightly",
    ),
)
