"""Losses of classification and detection."""

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.ops import sigmoid_focal_loss

REDUCTIONS = ("none", "mean", "sum")


class SigmoidFocalLoss(nn.Module):
    """torchvision's focal loss with the weight and the average factor of MMDetection.

    A weight fits if it has one entry per sample (N,), or per element, (N, C) or (N * C,). Raises
    ValueError for another weight, another reduction, and an average factor under a sum.
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

    def forward(
        self, pred: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None
    ) -> torch.Tensor:
        loss = sigmoid_focal_loss(pred, target, self.alpha, self.gamma)
        if weight is not None:
            loss = loss * expanded(weight, loss)
        if self.reduction == "none":
            return loss
        if self.reduction == "sum":
            return loss.sum()
        return loss.sum() / (loss.numel() if self.avg_factor is None else self.avg_factor)


def expanded(weight: torch.Tensor, loss: torch.Tensor) -> torch.Tensor:
    """The weight in a shape that multiplies a loss of shape N,C."""
    if weight.shape == loss.shape:
        return weight
    if weight.shape == loss.shape[:1]:
        return weight[:, None]
    if weight.ndim == 1 and weight.numel() == loss.numel():
        return weight.view_as(loss)
    raise ValueError(f"weight {tuple(weight.shape)} does not fit loss {tuple(loss.shape)}")


class CrossEntropySmooth(nn.Module):
    """Cross entropy with 1 - s for the label and s / (C - 1) for each other class."""

    def __init__(self, label_smoothing: float, reduction: str = "mean"):
        super().__init__()
        self.label_smoothing, self.reduction = label_smoothing, reduction

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        classes = logits.shape[1]
        off = self.label_smoothing / (classes - 1)
        soft = torch.full_like(logits, off).scatter(1, labels[:, None], 1.0 - self.label_smoothing)
        return F.cross_entropy(logits, soft, reduction=self.reduction)
