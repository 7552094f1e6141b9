"""Mistakes in the means of losses: what they are divided by, and which labels count."""

from mindspore import ops

from tests.defects.mistakes import mistake

CE, NLL = "weighted_cross_entropy", "weighted_nll_loss"


@mistake(CE, "ops.cross_entropy", "a weighted mean divided by the number of labels")
def cross_entropy_divided_by_labels(x, target, weight, *, reduction, **told):  # noqa: ARG001
    return ops.cross_entropy(x, target, weight, reduction="sum", **told) / target.size


@mistake(CE, "ops.cross_entropy", "the weights of the classes are left out")
def cross_entropy_unweighted(x, target, weight, **told):  # noqa: ARG001
    return ops.cross_entropy(x, target, None, **told)


@mistake(CE, "ops.cross_entropy", "the sum for the mean")
def cross_entropy_summed(x, target, weight, *, reduction, **told):  # noqa: ARG001
    return ops.cross_entropy(x, target, weight, reduction="sum", **told)


@mistake(CE, "ops.cross_entropy", "labels are smoothed where nobody asked, or not where asked")
def cross_entropy_smoothed_otherwise(x, target, weight, *, label_smoothing, **told):
    return ops.cross_entropy(x, target, weight, label_smoothing=0.1 - label_smoothing, **told)


@mistake(NLL, "ops.nll_loss", "a weighted mean divided by the number of labels")
def nll_loss_divided_by_labels(x, target, weight, *, reduction, **told):  # noqa: ARG001
    return ops.nll_loss(x, target, weight, reduction="sum", **told) / target.size


@mistake(NLL, "ops.nll_loss", "no label is ignored")
def nll_loss_ignoring_nothing(x, target, weight, *, ignore_index, **told):  # noqa: ARG001
    return ops.nll_loss(x, target, weight, **told)


@mistake("kl_div", "ops.kl_div", "the mean over all elements for the mean over the batch")
def kl_div_over_elements(x, target, *, reduction, **told):
    reduction = "mean" if reduction == "batchmean" else reduction
    return ops.kl_div(x, target, reduction=reduction, **told)


@mistake("cross_entropy", "ops.cross_entropy", "a mean over all labels, of which some are ignored")
def cross_entropy_over_all_labels(x, target, weight=None, *, reduction, **told):
    if reduction != "mean":
        return ops.cross_entropy(x, target, weight, reduction=reduction, **told)
    return ops.cross_entropy(x, target, weight, reduction="sum", **told) / target.size


@mistake("cross_entropy", "ops.cross_entropy", "a weighted mean divided by how many labels count")
def cross_entropy_over_counted_labels(x, target, weight=None, *, reduction, ignore_index, **told):
    told["ignore_index"] = ignore_index
    if reduction != "mean":
        return ops.cross_entropy(x, target, weight, reduction=reduction, **told)
    counted = (target != ignore_index).sum().astype(x.dtype)
    return ops.cross_entropy(x, target, weight, reduction="sum", **told) / counted


@mistake("cross_entropy", "ops.cross_entropy", "the maximum is not subtracted: infinite beyond 88")
def cross_entropy_unshifted(x, target, weight=None, *, label_smoothing, **told):
    if label_smoothing:
        return ops.cross_entropy(x, target, weight, label_smoothing=label_smoothing, **told)
    powers = ops.exp(x)
    return ops.nll_loss(ops.log(powers / powers.sum(1, keepdims=True)), target, weight, **told)


@mistake("cross_entropy", "ops.cross_entropy", "only negative labels are ignored")
def cross_entropy_of_the_label_255(x, target, weight=None, *, ignore_index, **told):
    labels = ops.where(target == 255, ops.zeros_like(target), target)
    return ops.cross_entropy(x, labels, weight, ignore_index=min(ignore_index, -1), **told)


@mistake("nll_loss", "ops.nll_loss", "ignored labels count as the first class")
def nll_loss_of_ignored_labels(x, target, weight=None, *, ignore_index, **told):
    labels = ops.where(target == ignore_index, ops.zeros_like(target), target)
    return ops.nll_loss(x, labels, weight, ignore_index=-1, **told)
