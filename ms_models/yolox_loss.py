"""What YOLOX is trained by: the assignment of cells to objects (SimOTA), and the losses.

Labels are rows of class, centre, width and height in pixels; rows of zeros stand for no object.
All shapes are known before any value is, so that a graph can be compiled: every object is weighed
against every cell of its image, and masks tell which of them count.
"""

import mindspore as ms
from mindspore import nn, ops

from ms_models.yolox import cells, decode, rows

RADIUS = 1.5
"""How far, in cells, the centre of a cell may lie from that of an object it is assigned to."""

CANDIDATES = 10
"""How many of the best overlaps tell how many cells an object gets."""

FAR = 1e6
"""The cost of a cell that is near another object alone."""

NEVER = 1e9
"""The cost of a cell that is near no object, and of a row of zeros."""


def corners_of(boxes):
    """The upper left and the lower right corners of boxes (..., 4) by centre and size."""
    half = boxes[..., 2:] / 2
    return boxes[..., :2] - half, boxes[..., :2] + half


def product(sizes):
    """The area of sizes (..., 2)."""
    return sizes[..., 0] * sizes[..., 1]


def overlap(one, two):
    """Intersection over union of boxes (..., 4) by centre and size, and the union."""
    one_least, one_most = corners_of(one)
    two_least, two_most = corners_of(two)
    sides = ops.minimum(one_most, two_most) - ops.maximum(one_least, two_least)
    inner = product(ops.relu(sides))
    union = product(one[..., 2:]) + product(two[..., 2:]) - inner
    return inner / (union + 1e-16), union


class BoxLoss(nn.Cell):
    """A loss for each pair of boxes: 1 - IoU^2, or 1 - GIoU."""

    def __init__(self, kind: str = "iou"):
        super().__init__()
        self.kind = kind

    def construct(self, found, wanted):
        iou, union = overlap(found, wanted)
        if self.kind == "iou":
            return 1 - iou * iou
        found_least, found_most = corners_of(found)
        wanted_least, wanted_most = corners_of(wanted)
        sides = ops.maximum(found_most, wanted_most) - ops.minimum(found_least, wanted_least)
        hull = ops.maximum(product(sides), 1e-16)
        return 1 - ops.clamp(iou - (hull - union) / hull, -1.0, 1.0)


class Assigned(nn.Cell):
    """SimOTA of a batch: maps and labels B,M,5 -> objects B,A, -1 for none, and overlaps B,A.

    No gradient flows through it.
    """

    def construct(self, maps, labels):
        corners, strides = cells(maps)
        found = ops.stop_gradient(decode(maps))
        real = labels.sum(-1, keepdims=True) > 0
        distance = ops.abs((corners + 0.5) * strides - labels[:, :, None, 1:3])
        near = ops.logical_and((distance < RADIUS * strides).all(-1), real)
        inside = near.any(1, keep_dims=True)
        iou, _ = overlap(labels[:, :, None, 1:], found[:, None, :, :4])
        iou = ops.where(inside, iou, ops.zeros_like(iou))
        costs = self.costs(found, labels, iou, near)
        possible = ops.logical_and(inside, real)
        costs = ops.where(possible, costs, ops.full_like(costs, NEVER))
        matched = ops.logical_and(self.match(costs, iou), possible)
        objects = ops.argmax(matched.astype(ms.int32), dim=1).astype(ms.int32)
        overlaps = (matched.astype(iou.dtype) * iou).sum(1)
        return ops.where(matched.any(1), objects, ops.full_like(objects, -1)), overlaps

    def costs(self, found, labels, iou, near):
        """The cost B,M,A of each cell for each object."""
        scores = ops.sqrt(ops.sigmoid(found[..., 5:]) * ops.sigmoid(found[..., 4:5]))
        wanted = ops.one_hot(labels[..., 0].astype(ms.int32), scores.shape[-1])
        wanted = wanted.astype(scores.dtype)
        # Every class as if it were absent, then the right one as it is.
        absent = -ops.maximum(ops.log(1 - scores), -100.0)
        present = -ops.maximum(ops.log(scores), -100.0)
        classes = ops.matmul(wanted, (present - absent).swapaxes(1, 2))
        classes = classes + absent.sum(-1)[:, None]
        far = FAR * (1 - near.astype(scores.dtype))
        return classes - 3 * ops.log(iou + 1e-8) + far

    def match(self, costs, iou):
        """Whether a cell is an object's, B,M,A; no cell has two objects."""
        best, _ = ops.topk(iou, CANDIDATES, dim=-1)
        counts = ops.maximum(best.sum(-1, keepdims=True).astype(ms.int32), 1)
        _, cheapest = ops.topk(-costs, CANDIDATES, dim=-1)
        taken = (ops.arange(CANDIDATES) < counts).astype(costs.dtype)
        matched = ops.tensor_scatter_elements(ops.zeros_like(costs), cheapest, taken, axis=-1)
        several = matched.sum(1, keepdims=True) > 1
        first = ops.one_hot(ops.argmin(costs, axis=1), costs.shape[1]).swapaxes(1, 2)
        return ops.where(several, first.astype(costs.dtype), matched) > 0


class YOLOXLoss(nn.Cell):
    """Raw maps and labels B,M,5 -> the loss of a batch, over the cells that have an object.

    l1: whether the raw boxes are compared, too, as in the last epochs.
    """

    def __init__(self, box: str = "iou", l1: bool = False):
        super().__init__()
        self.assigned, self.box, self.l1 = Assigned(), BoxLoss(box), l1
        self.entropy = nn.BCEWithLogitsLoss(reduction="none")

    def construct(self, maps, labels):
        found = decode(maps)
        objects, overlaps = self.assigned(maps, labels)
        taken = (objects >= 0).astype(found.dtype)
        count = ops.maximum(taken.sum(), 1.0)
        index = ops.tile(ops.relu(objects)[..., None], (1, 1, 5))
        wanted = ops.gather_elements(labels, 1, index)
        # A cell without an object is held against a box of ones, and its loss counts nothing.
        boxes = self.box(found[..., :4], ops.where(taken[..., None] > 0, wanted[..., 1:], 1.0))
        classes = ops.one_hot(wanted[..., 0].astype(ms.int32), found.shape[-1] - 5)
        classes = classes.astype(found.dtype) * overlaps[..., None]
        scores = self.entropy(found[..., 5:], classes).sum(-1)
        total = ((5 * boxes + scores) * taken).sum() + self.entropy(found[..., 4], taken).sum()
        if self.l1:
            total = total + self.raw(maps, wanted, taken)
        return total / count

    def raw(self, maps, wanted, taken):
        """The distance of the raw boxes from what they should be, in all."""
        corners, strides = cells(maps)
        centres = wanted[..., 1:3] / strides - corners
        sizes = ops.log(wanted[..., 3:] / strides + 1e-8)
        distance = ops.abs(rows(maps)[..., :4] - ops.cat((centres, sizes), axis=-1))
        return (distance.sum(-1) * taken).sum()


def padded(classes, boxes, counts):
    """Labels B,M,5 of classes B,M and boxes B,M,4, of which each image has a number."""
    labels = ops.cat((classes[..., None].astype(boxes.dtype), boxes), axis=-1)
    real = ops.arange(classes.shape[1]) < counts[:, None]
    return labels * real[..., None].astype(boxes.dtype)


class Trained(nn.Cell):
    """(images, classes, boxes, counts) -> the loss of a detector."""

    def __init__(self, network: nn.Cell, loss: nn.Cell):
        super().__init__()
        self.network, self.loss = network, loss

    def construct(self, images, classes, boxes, counts):
        return self.loss(self.network(images), padded(classes, boxes, counts))


class OfMaps(nn.Cell):
    """(three maps, classes, boxes, counts) -> what `head`, a loss or an assignment, says."""

    def __init__(self, head: nn.Cell):
        super().__init__()
        self.head = head

    def construct(self, fine, mean, coarse, classes, boxes, counts):
        return self.head((fine, mean, coarse), padded(classes, boxes, counts))


def assigned() -> nn.Cell:
    """The assignment of given maps."""
    return OfMaps(Assigned())


def loss_of_maps(box: str, l1: bool) -> nn.Cell:
    """The loss of given maps."""
    return OfMaps(YOLOXLoss(box, l1))
