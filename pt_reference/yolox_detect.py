"""What an evaluation makes of YOLOX's boxes: of those that overlap, the best of each class."""

import torch
from torch import nn

from pt_reference.yolox_loss import overlap


def kept(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    """The numbers of the boxes that no better one overlaps with by more than the threshold."""
    order, found = scores.argsort(descending=True), []
    while len(order):
        best, rest = order[0], order[1:]
        found.append(best)
        order = rest[overlap(boxes[best], boxes[rest])[0] <= threshold]
    return torch.stack(found) if found else order


class Detected(nn.Module):
    """Boxes and probabilities B,A,5+C -> for each image its detections, the best first.

    A detection is a row of corners (left, top, right, bottom), score, and class. The class is the
    likeliest one, the score the product of its probability and the object's.
    """

    def __init__(self, confidence: float, threshold: float):
        super().__init__()
        self.confidence, self.threshold = confidence, threshold

    def forward(self, found: torch.Tensor) -> list[torch.Tensor]:
        return [self.of_image(image) for image in found]

    def of_image(self, found: torch.Tensor) -> torch.Tensor:
        """The detections of one image."""
        likeliest, classes = found[:, 5:].max(1)
        scores = found[:, 4] * likeliest
        sure = scores >= self.confidence
        boxes, scores, classes = found[sure, :4], scores[sure], classes[sure]
        # Boxes of different classes are moved so far apart that they never overlap.
        apart = boxes.clone()
        apart[:, :2] += classes[:, None] * (2 * boxes.abs().max() if len(boxes) else 0)
        chosen = kept(apart, scores, self.threshold)
        half = boxes[:, 2:] / 2
        rows = (boxes[:, :2] - half, boxes[:, :2] + half, scores[:, None], classes[:, None])
        return torch.cat(rows, dim=1)[chosen]
