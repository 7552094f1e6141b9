"""What YOLOX is trained by: the assignment of cells to objects (SimOTA), and the losses.

Labels are rows of class, centre, width and height in pixels; rows of zeros stand for no object and
come last.
"""

import torch
import torch.nn.functional as F
from torch import nn

from pt_reference.yolox import cells, decode, rows

RADIUS = 1.5
"""How far, in cells, the centre of a cell may lie from that of an object it is assigned to."""

CANDIDATES = 10
"""How many of the best overlaps tell how many cells an object gets."""

FAR = 1e6
"""The cost of a cell that is near another object alone."""


def corners_of(boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper left and the lower right corners of boxes (..., 4) by centre and size."""
    half = boxes[..., 2:] / 2
    return boxes[..., :2] - half, boxes[..., :2] + half


def overlap(one: torch.Tensor, two: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Intersection over union of boxes (..., 4) by centre and size, and the union."""
    one_least, one_most = corners_of(one)
    two_least, two_most = corners_of(two)
    least, most = torch.max(one_least, two_least), torch.min(one_most, two_most)
    inner = (most - least).clamp(min=0).prod(-1)
    union = one[..., 2:].prod(-1) + two[..., 2:].prod(-1) - inner
    return inner / (union + 1e-16), union


class BoxLoss(nn.Module):
    """A loss for each pair of boxes: 1 - IoU^2, or 1 - GIoU."""

    def __init__(self, kind: str = "iou"):
        super().__init__()
        self.kind = kind

    def forward(self, found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        iou, union = overlap(found, wanted)
        if self.kind == "iou":
            return 1 - iou**2
        found_least, found_most = corners_of(found)
        wanted_least, wanted_most = corners_of(wanted)
        least = torch.min(found_least, wanted_least)
        most = torch.max(found_most, wanted_most)
        hull = (most - least).prod(-1).clamp(1e-16)
        return 1 - (iou - (hull - union) / hull).clamp(-1, 1)


class SimOTA(nn.Module):
    """Cells for the objects of one image, by cost; no gradient flows through it.

    (boxes and raw scores A,5+C; labels G,5; corners A,2; strides A,1) -> for each cell the number
    of its object, -1 for none, and its overlap with it.
    """

    @torch.no_grad()
    def forward(
        self,
        found: torch.Tensor,
        labels: torch.Tensor,
        corners: torch.Tensor,
        strides: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        objects = torch.full((len(found),), -1)
        overlaps = found.new_zeros(len(found))
        if len(labels) == 0:
            return objects, overlaps
        distance = ((corners + 0.5) * strides - labels[:, None, 1:3]).abs()
        near = (distance < RADIUS * strides).all(-1)
        inside = near.any(0).nonzero().flatten()
        near, found = near[:, inside], found[inside]
        iou, _ = overlap(labels[:, None, 1:], found[None, :, :4])
        matched = self.match(self.costs(found, labels, iou, near), iou)
        taken = matched.any(0)
        objects[inside[taken]] = matched[:, taken].int().argmax(0)
        overlaps[inside[taken]] = (matched * iou).sum(0)[taken]
        return objects, overlaps

    def costs(
        self, found: torch.Tensor, labels: torch.Tensor, iou: torch.Tensor, near: torch.Tensor
    ) -> torch.Tensor:
        """The cost G,A of each cell for each object."""
        scores = (found[:, 5:].sigmoid() * found[:, 4:5].sigmoid()).sqrt()
        wanted = F.one_hot(labels[:, 0].long(), scores.shape[1]).to(scores)
        pairs = len(labels), len(found), scores.shape[1]
        classes = F.binary_cross_entropy(
            scores[None].expand(pairs), wanted[:, None].expand(pairs), reduction="none"
        )
        return classes.sum(-1) - 3 * torch.log(iou + 1e-8) + FAR * ~near

    def match(self, costs: torch.Tensor, iou: torch.Tensor) -> torch.Tensor:
        """Whether a cell is an object's, G,A; no cell has two objects."""
        best, _ = iou.topk(min(CANDIDATES, iou.shape[1]), dim=1)
        counts = best.sum(1).int().clamp(min=1)
        matched = torch.zeros_like(costs, dtype=torch.bool)
        for row, count in enumerate(counts.tolist()):
            matched[row, costs[row].topk(count, largest=False).indices] = True
        several = matched.sum(0) > 1
        matched[:, several] = False
        matched[costs[:, several].argmin(0), several] = True
        return matched


class Assigned(nn.Module):
    """SimOTA of a batch: maps and labels B,M,5 -> objects B,A and overlaps B,A."""

    def __init__(self):
        super().__init__()
        self.assign = SimOTA()

    def forward(
        self, maps: tuple[torch.Tensor, ...], labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        found, (corners, strides) = decode(maps), cells(maps)
        counts = (labels.sum(-1) > 0).sum(-1)
        each = [
            self.assign(image, rows_[:count], corners, strides)
            for image, rows_, count in zip(found, labels, counts, strict=True)
        ]
        objects, overlaps = zip(*each, strict=True)
        return torch.stack(objects).int(), torch.stack(overlaps)


class YOLOXLoss(nn.Module):
    """Raw maps and labels B,M,5 -> the loss of a batch, over the cells that have an object.

    l1: whether the raw boxes are compared, too, as in the last epochs.
    """

    def __init__(self, box: str = "iou", l1: bool = False):
        super().__init__()
        self.assigned, self.box, self.l1 = Assigned(), BoxLoss(box), l1

    def forward(self, maps: tuple[torch.Tensor, ...], labels: torch.Tensor) -> torch.Tensor:
        found = decode(maps)
        objects, overlaps = self.assigned(maps, labels)
        taken = objects >= 0
        image, _ = taken.nonzero(as_tuple=True)
        wanted = labels[image, objects[taken].long()]
        count = max(len(wanted), 1)
        classes = F.one_hot(wanted[:, 0].long(), found.shape[-1] - 5) * overlaps[taken, None]
        boxes = self.box(found[taken][:, :4], wanted[:, 1:]).sum()
        scores = F.binary_cross_entropy_with_logits(
            found[..., 4], taken.to(found), reduction="sum"
        ) + F.binary_cross_entropy_with_logits(
            found[taken][:, 5:], classes.to(found), reduction="sum"
        )
        total = 5 * boxes + scores
        if self.l1:
            total = total + F.l1_loss(*self.raw(maps, wanted, taken), reduction="sum")
        return total / count

    def raw(
        self, maps: tuple[torch.Tensor, ...], wanted: torch.Tensor, taken: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The raw boxes of the cells that have an object, and what they should be."""
        corners, strides = (each.expand(len(taken), -1, -1)[taken] for each in cells(maps))
        centres = wanted[:, 1:3] / strides - corners
        sizes = torch.log(wanted[:, 3:] / strides + 1e-8)
        return rows(maps)[taken][:, :4], torch.cat((centres, sizes), dim=1)


def padded(classes: torch.Tensor, boxes: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Labels B,M,5 of classes B,M and boxes B,M,4, of which each image has a number."""
    rows_ = torch.cat((classes[..., None].to(boxes), boxes), dim=-1)
    return rows_ * (torch.arange(classes.shape[1]) < counts[:, None])[..., None]


class Trained(nn.Module):
    """(images, classes, boxes, counts) -> the loss of a detector."""

    def __init__(self, network: nn.Module, loss: nn.Module):
        super().__init__()
        self.network, self.loss = network, loss

    def forward(
        self, images: torch.Tensor, classes: torch.Tensor, boxes: torch.Tensor, counts: torch.Tensor
    ) -> torch.Tensor:
        return self.loss(self.network(images), padded(classes, boxes, counts))


class OfMaps(nn.Module):
    """(three maps, classes, boxes, counts) -> what `head`, a loss or an assignment, says."""

    def __init__(self, head: nn.Module):
        super().__init__()
        self.head = head

    def forward(self, fine, mean, coarse, classes, boxes, counts):
        return self.head((fine, mean, coarse), padded(classes, boxes, counts))


def assigned() -> nn.Module:
    """The assignment of given maps."""
    return OfMaps(Assigned())


def loss_of_maps(box: str, l1: bool) -> nn.Module:
    """The loss of given maps."""
    return OfMaps(YOLOXLoss(box, l1))
