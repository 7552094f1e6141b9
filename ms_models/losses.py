"""Losses of classification and detection."""

from mindspore import nn, ops

REDUCTIONS = ("none", "mean", "sum")


@ops.constexpr
def weight_shape(weight: tuple[int, ...], loss: tuple[int, int]) -> tuple[int, ...]:
    """The shape in which a weight multiplies a loss of shape N,C.

    Accepts one weight per sample (N,), per element (N, C), and per element flattened (N * C,).
    Raises ValueError for any other shape, also where it would broadcast or has the same size.
    """
    rows, columns = loss
    shapes = {(rows * columns,): loss, (rows,): (rows, 1), loss: loss}
    if weight not in shapes:
        raise ValueError(
            f"a weight of shape {weight} does not fit a loss of shape {loss}: "
            f"expected one of {', '.join(map(str, reversed(shapes)))}"
        )
    return shapes[weight]


class SigmoidFocalLoss(nn.Cell):
    """Focal loss of independent classes: logits N,C and targets N,C in [0, 1] -> N,C or a scalar.

    `gamma` is the exponent that plays down easy examples, `alpha` the share of the positives. An
    `avg_factor` takes the place of the number of elements in the mean; it leaves the reduction
    none as it is and cannot go with sum. The weight comes with the call, see `weight_shape`.
    """

    def __init__(
        self,
        gamma: float = 2.0,
        alpha: float = 0.25,
        reduction: str = "mean",
        avg_factor: float | None = None,
    ):
        super().__init__()
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction {reduction!r} is not among {', '.join(REDUCTIONS)}")
        if reduction == "sum" and avg_factor is not None:
            raise ValueError("an avg_factor replaces the divisor of a mean; a sum has none")
        self.gamma, self.alpha = gamma, alpha
        self.reduction, self.avg_factor = reduction, avg_factor
        self.cross_entropy = nn.BCEWithLogitsLoss(reduction="none")

    def construct(self, pred, target, weight=None):
        # 1 - sigmoid(pred) would lose the digits of a saturated probability.
        missing = ops.sigmoid(-pred) * target + ops.sigmoid(pred) * (1 - target)
        share = self.alpha * target + (1 - self.alpha) * (1 - target)
        loss = share * self.cross_entropy(pred, target)
        if self.gamma:  # MindSpore's gradient of 0 ** 0 is NaN
            loss = loss * ops.pow(missing, self.gamma)
        if weight is not None:
            loss = loss * ops.reshape(weight, weight_shape(weight.shape, loss.shape))
        if self.reduction == "none":
            return loss
        if self.reduction == "sum":
            return loss.sum()
        return loss.mean() if self.avg_factor is None else loss.sum() / self.avg_factor


def sparse_cross_entropy(reduction: str = "mean") -> nn.Cell:
    """Softmax cross entropy: logits N,C and labels N -> N or a scalar."""
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)


def dense_cross_entropy(reduction: str = "mean") -> nn.Cell:
    """Softmax cross entropy: logits N,C and distributions N,C -> N or a scalar."""
    return nn.SoftmaxCrossEntropyWithLogits(sparse=False, reduction=reduction)


class CrossEntropySmooth(nn.Cell):
    """Cross entropy with the smoothed-off mass spread over the other classes, s / (C - 1) each.

    Logits N,C and labels N -> N or a scalar. PyTorch's own label smoothing spreads it over all
    classes, the labelled one included: `mindspore.nn.CrossEntropyLoss` does the same.
    """

    def __init__(self, label_smoothing: float, reduction: str = "mean"):
        super().__init__()
        self.label_smoothing = label_smoothing
        self.cross_entropy = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)

    def construct(self, logits, labels):
        classes = logits.shape[1]
        off = self.label_smoothing / (classes - 1)
        on = 1.0 - self.label_smoothing
        hard = ops.one_hot(labels, classes)
        return self.cross_entropy(logits, on * hard + off * (1 - hard))
