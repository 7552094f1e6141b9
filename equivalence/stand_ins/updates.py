"""Stand-ins for what optimisers do to weights in place."""

from mindspore import ops


def adamw(
    weight,
    mean,
    square,
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
    """As the primitive of `mint.optim.AdamW`: the decay is of the weight, eps comes last."""
    gradient = -gradient if maximize else gradient
    mean_now = mean * beta1 + gradient * (1 - beta1)
    square_now = square * beta2 + gradient * gradient * (1 - beta2)
    ops.assign(mean, mean_now)
    ops.assign(square, square_now)
    if amsgrad:
        square_now = ops.maximum(largest, square_now)
        ops.assign(largest, square_now)
    root = ops.sqrt(square_now) / ops.sqrt(1 - ops.pow(beta2, step))
    move = mean_now / (1 - ops.pow(beta1, step)) / (root + eps)
    ops.assign(weight, weight * (1 - rate * decay) - rate * move)
    return weight, mean, square
