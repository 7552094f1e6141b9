"""Fully connected layers. A square weight shows a transposition that no shape would."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

TWINS = (
    Twin(
        "dense",
        reference="torch.nn:Linear",
        candidate="ms_models.dense:dense",
        configs=grid(in_features=8, out_features=8, bias=True, LEADING=[(6,)])
        + grid(in_features=8, out_features=5, bias=False, LEADING=[(2, 3)]),
        inputs=[normal("LEADING", "in_features")],
        phases=("train",),
        dtypes=("float32", "float16"),
    ),
)
