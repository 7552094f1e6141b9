"""Reductions."""

from equivalence.declare.difference import Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

AXES = grid(axis=[1, (0, -1)], keep_dims=False) + grid(axis=[-1, [1, 2]], keep_dims=True)

TWINS = (
    Twin(
        "reduce_log_sum_exp",
        reference="pt_reference.reductions:ReduceLogSumExp",
        candidate="ms_models.reductions:ReduceLogSumExp",
        configs=AXES,
        # As large as to overflow; spread out more, the maximum alone would count, and PyTorch's
        # gradient exp(x - logsumexp) would carry the rounding of a large logsumexp.
        inputs=[normal(3, 4, 5, scale=2.0, shift=200.0)],
        phases=("train",),
    ),
    Twin(
        "naive_reduce_log_sum_exp",
        reference="pt_reference.reductions:ReduceLogSumExp",
        candidate="ms_models.reductions:NaiveReduceLogSumExp",
        configs=grid(axis=-1, keep_dims=True) + grid(axis=[(0, 2)], keep_dims=False),
        inputs=[normal(3, 4, 5, scale=3.0)],
        phases=("train",),
        without={"overflow": "exp overflows where the maximum is not subtracted first"},
    ),
    Twin(
        "reduce_log_sum_exp_of_misnamed_axis",
        reference="pt_reference.reductions:ReduceLogSumExp",
        candidate="ms_models.reductions:ReduceLogSumExp",
        configs=grid(axis=["rows", 1.0]),
        inputs=[normal(3, 4, 5)],
        phases=("train",),
        raises=Raised(
            "TypeError",
            "argument 'dim' (position 2) must be tuple of ints",
            candidate="axis must be an int or a list or tuple of ints",
        ),
    ),
)
