"""Losses and reductions with one mistake each."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from ms_models.losses import SigmoidFocalLoss, weight_shape
from ms_models.pooling import GlobalMeanPool
from ms_models.reductions import ReduceLogSumExp

# Focal losses. The right one comes first, in parts of which a wrong one replaces one.


class Focal(SigmoidFocalLoss):
    """The focal loss in parts."""

    def missing(self, pred, target):
        return ops.sigmoid(-pred) * target + ops.sigmoid(pred) * (1 - target)

    def focus(self, pred, target):
        return ops.pow(self.missing(pred, target), self.gamma)

    def share(self, target):
        return self.alpha * target + (1 - self.alpha) * (1 - target)

    def elements(self, pred, target):
        return self.share(target) * self.focus(pred, target) * self.cross_entropy(pred, target)

    def weighted(self, loss, weight):
        return loss if weight is None else loss * self.fitted(loss, weight)

    def fitted(self, loss, weight):
        return ops.reshape(weight, weight_shape(weight.shape, loss.shape))

    def reduced(self, loss):
        if self.reduction == "none":
            return loss
        if self.reduction == "sum":
            return loss.sum()
        return loss.mean() if self.avg_factor is None else loss.sum() / self.avg_factor

    def construct(self, pred, target, weight=None):
        return self.reduced(self.weighted(self.elements(pred, target), weight))


class AlphaOfPositivesAlone(Focal):
    def share(self, target):
        return self.alpha * target + (1 - target)


class AlphaIgnored(Focal):
    def share(self, target):
        return ops.ones_like(target)


class FocusOnEasyExamples(Focal):
    def missing(self, pred, target):
        return ops.sigmoid(pred) * target + ops.sigmoid(-pred) * (1 - target)


class DetachedFocus(Focal):
    def focus(self, pred, target):
        return ops.stop_gradient(ops.pow(self.missing(pred, target), self.gamma))


class SigmoidTwice(Focal):
    def construct(self, pred, target, weight=None):
        pred = ops.sigmoid(pred)
        return self.reduced(self.weighted(self.elements(pred, target), weight))


class UnclampedLogarithm(Focal):
    def elements(self, pred, target):
        p = ops.sigmoid(pred)
        cross_entropy = -(target * ops.log(p) + (1 - target) * ops.log(1 - p))
        return self.share(target) * self.focus(pred, target) * cross_entropy


class ClampedLogarithm(Focal):
    """Within 1e-6 of zero and one, as in a float16 recipe."""

    def elements(self, pred, target):
        p = ops.clip_by_value(ops.sigmoid(pred), 1e-6, 1 - 1e-6)
        cross_entropy = -(target * ops.log(p) + (1 - target) * ops.log(1 - p))
        return self.share(target) * self.focus(pred, target) * cross_entropy


class IntegerTarget(Focal):
    def construct(self, pred, target, weight=None):
        target = target.astype(ms.int32).astype(pred.dtype)
        return self.reduced(self.weighted(self.elements(pred, target), weight))


class WeightIgnored(Focal):
    def weighted(self, loss, weight):  # noqa: ARG002
        return loss


class WeightDetached(Focal):
    def fitted(self, loss, weight):
        return ops.stop_gradient(ops.reshape(weight, weight_shape(weight.shape, loss.shape)))


class WeightByColumns(Focal):
    """The flattened weight unrolled in Fortran's order."""

    def fitted(self, loss, weight):
        return ops.reshape(weight, (loss.shape[1], loss.shape[0])).T


class WeightUnchecked(Focal):
    """The `elif` chain of the guide: what fits none of its cases is left as it is."""

    def fitted(self, loss, weight):
        if weight.shape == loss.shape[:1]:
            return ops.reshape(weight, (-1, 1))
        return weight


class MeanOverSamples(Focal):
    def reduced(self, loss):
        return loss.sum() / loss.shape[0]


class MeanOverPositives(Focal):
    """The number of positives, as detectors normalise by."""

    def construct(self, pred, target, weight=None):
        return self.weighted(self.elements(pred, target), weight).sum() / target.sum()


class MeanOverWeights(Focal):
    def construct(self, pred, target, weight=None):
        fitted = self.fitted(pred, weight) * ops.ones_like(pred)
        return (self.elements(pred, target) * fitted).sum() / fitted.sum()


class FactorIgnored(Focal):
    def reduced(self, loss):
        return loss.mean()


class FactorBesidesMean(Focal):
    def reduced(self, loss):
        return loss.mean() / self.avg_factor


class FactorWithoutReduction(Focal):
    def reduced(self, loss):
        return loss / self.avg_factor


class FactorUnderSum(Focal):
    """Without the check at construction."""

    def __init__(self, reduction: str, avg_factor: float):
        super().__init__(reduction=reduction)
        self.avg_factor = avg_factor


class DoubleAlpha(Focal):
    """alpha comes as an array of NumPy's own dtype."""

    def __init__(self, gamma: float, alpha: float, reduction: str):
        super().__init__(gamma, alpha, reduction)
        self.alpha = ms.Tensor(np.array([alpha]))


# Cross entropies.


class CrossEntropy(nn.Cell):
    """Softmax cross entropy in parts: logits N,C and labels N -> N or a scalar."""

    def __init__(self, reduction: str = "mean", ignore_index: int = -100, label_smoothing=0.0):
        super().__init__()
        self.reduction, self.ignore_index = reduction, ignore_index
        self.label_smoothing = label_smoothing

    def log_probabilities(self, logits):
        return ops.log_softmax(logits, axis=1)

    def picked(self, logits, labels):
        hard = ops.one_hot(labels, logits.shape[1])
        return -(hard * self.log_probabilities(logits)).sum(1)

    def reduced(self, loss, labels):  # noqa: ARG002
        if self.reduction == "none":
            return loss
        return loss.sum() if self.reduction == "sum" else loss.mean()

    def construct(self, logits, labels):
        return self.reduced(self.picked(logits, labels), labels)


class NormalisedOverSamples(CrossEntropy):
    def log_probabilities(self, logits):
        return ops.log_softmax(logits, axis=0)


class SoftmaxTwice(CrossEntropy):
    def log_probabilities(self, logits):
        return ops.log_softmax(ops.softmax(logits, axis=1), axis=1)


class ProbabilitiesWithoutLogarithm(CrossEntropy):
    def log_probabilities(self, logits):
        return ops.softmax(logits, axis=1)


class LabelsFromOne(CrossEntropy):
    def construct(self, logits, labels):
        return self.reduced(self.picked(logits, labels - 1), labels)


class MeanOverElements(CrossEntropy):
    """Of N C products, though only N are not zero."""

    def construct(self, logits, labels):
        return -(ops.one_hot(labels, logits.shape[1]) * self.log_probabilities(logits)).mean()


class HalfLogits(CrossEntropy):
    def construct(self, logits, labels):
        loss = self.picked(logits.astype(ms.float16), labels)
        return self.reduced(loss.astype(ms.float32), labels)


class MaskedButCounted(CrossEntropy):
    """Ignored labels lose their term and keep their place in the mean."""

    def reduced(self, loss, labels):
        kept = (labels != self.ignore_index).astype(loss.dtype)
        return (loss * kept).mean()


class SmoothedOnTop(CrossEntropy):
    """The label keeps all of its mass."""

    def picked(self, logits, labels):
        classes = logits.shape[1]
        soft = ops.one_hot(labels, classes) + self.label_smoothing / classes
        return -(soft * self.log_probabilities(logits)).sum(1)


class HardestLabel(CrossEntropy):
    def construct(self, logits, distribution):
        labels = ops.argmax(distribution, 1)
        return self.reduced(self.picked(logits, labels), labels)


# Reductions.


class MaximumNotAdded(ReduceLogSumExp):
    def construct(self, x):
        largest = ops.stop_gradient(self.max(x, self.axis))
        return ops.log(self.sum(ops.exp(x - largest), self.axis))


class MaximumHalfDetached(ReduceLogSumExp):
    def construct(self, x):
        largest = self.max(x, self.axis)
        total = self.sum(ops.exp(x - ops.stop_gradient(largest)), self.axis)
        return ops.log(total) + ops.reshape(largest, total.shape)


class LogMeanExp(ReduceLogSumExp):
    def construct(self, x):
        largest = ops.stop_gradient(self.max(x, self.axis))
        total = self.sum(ops.exp(x - largest), self.axis)
        return ops.log(total * (total.size / x.size)) + ops.reshape(largest, total.shape)


class BaseTwo(ReduceLogSumExp):
    def construct(self, x):
        largest = ops.stop_gradient(self.max(x, self.axis))
        total = self.sum(ops.exp(x - largest), self.axis)
        return ops.log2(total) + ops.reshape(largest, total.shape)


class HalfSum(ReduceLogSumExp):
    def construct(self, x):
        largest = ops.stop_gradient(self.max(x, self.axis))
        total = self.sum(ops.exp(x - largest).astype(ms.float16), self.axis).astype(ms.float32)
        return ops.log(total) + ops.reshape(largest, total.shape)


class ChannelsLastMean(GlobalMeanPool):
    def construct(self, x):
        return self.mean(x, (1, 2))


class HalfMean(GlobalMeanPool):
    def construct(self, x):
        return self.mean(x.astype(ms.float16), (2, 3)).astype(ms.float32)


class FlattenedChannelsLast(nn.Cell):
    """N,C,H,W -> N,H*W*C: TensorFlow's order."""

    def construct(self, x):
        return x.transpose(0, 2, 3, 1).reshape(x.shape[0], -1)
