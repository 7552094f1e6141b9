"""Masks, tables and indices: constants of a network, which no sample draws."""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.rope:", "ms_models.rope:"

FAR = (16, 2048, 20000, 100000)
"""First positions: the farther, the more a rounding of a frequency turns."""

TWINS = (
    Twin(
        "rotary_block",
        reference=PT + "Block",
        candidate=MS + "Block",
        inputs=[normal(2, "length", 24)],
        configs=grid(
            heads=2, size=12, length=6, start=[*FAR], tables=["forward", "buffer", "constructor"]
        ),
        phases=("eval",),
    ),
    Twin(
        "timesteps",
        reference=PT + "Timesteps",
        candidate=MS + "Timesteps",
        inputs=[integers(5, high=1000)],
        configs=grid(width=12),
        phases=("eval",),
    ),
)
