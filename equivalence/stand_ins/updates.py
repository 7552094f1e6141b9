"""Stand-ins for the updates of optimisers.

They are objects: an optimiser hands its primitive on to a function of each weight, and the compiler
hands on objects alone.
"""

import mindspore as ms
from mindspore import ops


def _correction(beta, count):
    """One minus a power that is near one: in float64, as Python computes it."""
    return 1.0 - ops.pow(ops.fill(ms.float64, (), beta), count)


@ms.jit_class
class AdamW:
    """As the primitive of `mint.optim.AdamW`, which counts the updates before this one.

    Without amsgrad, what is passed as the largest second moment is the second moment itself.
    """

    def __call__(
        self,
        weight,
        first,
        second,
        largest,
        gradient,
        step,
        rate,
        beta1,
        beta2,
        decay,
        eps,
        amsgrad=False,
        maximize=False,
    ):
        count = ops.cast(step.reshape(()), ms.float64) + 1.0
        size = ops.cast(rate / _correction(beta1, count), weight.dtype)
        root = ops.cast(ops.sqrt(_correction(beta2, count)), weight.dtype)
        downhill = -gradient if maximize else gradient
        mean = first * beta1 + downhill * (1.0 - beta1)
        square = second * beta2 + downhill * downhill * (1.0 - beta2)
        bound = ops.maximum(largest, square) if amsgrad else square
        new = weight * (1.0 - rate * decay) - size * (mean / (ops.sqrt(bound) / root + eps))
        ops.assign(first, mean)
        ops.assign(second, square)
        ops.assign(largest, bound)
        ops.assign(weight, new)
        return weight, first, second


adamw = AdamW()
