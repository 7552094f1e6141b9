"""A feature pyramid, aligned regions and suppression by overlap."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.conv import conv2d


class FeaturePyramid(nn.Cell):
    """Maps of several strides, finest first -> as many of `out_channels`."""

    def __init__(self, in_channels: tuple[int, ...], out_channels: int):
        super().__init__()
        self.inner_blocks = nn.CellList(
            [
                nn.SequentialCell(conv2d(channels, out_channels, 1, bias=True))
                for channels in in_channels
            ]
        )
        self.layer_blocks = nn.CellList(
            [
                nn.SequentialCell(conv2d(out_channels, out_channels, 3, bias=True))
                for _ in in_channels
            ]
        )

    def construct(self, *features):
        inner = self.inner_blocks[-1](features[-1])
        results = [self.layer_blocks[-1](inner)]
        for number in range(len(features) - 2, -1, -1):
            lateral = self.inner_blocks[number](features[number])
            above = ops.interpolate(inner, size=lateral.shape[2:], mode="nearest")
            inner = lateral + above
            results = [self.layer_blocks[number](inner), *results]
        return tuple(results)


class AlignedRegions(nn.Cell):
    """Maps N,C,H,W, the images of boxes and boxes K,4 (x1, y1, x2, y2) -> K,C,size,size.

    Sampling between two places is a product with a row of weights, and so is the mean of the
    samples of a cell. `ops.ROIAlign` cannot shift boxes by half a place (`aligned`).
    """

    def __init__(self, size: int, scale: float, samples: int, aligned: bool):
        super().__init__()
        self.size, self.scale, self.samples = size, scale, samples
        self.offset = 0.5 if aligned else 0.0
        self.least = 0.0 if aligned else 1.0

    def weights(self, start, end, places):
        """The share that each place of an axis has in each cell of the boxes: K,size,places."""
        start, end = start * self.scale - self.offset, end * self.scale - self.offset
        length = ops.clamp(end - start, min=self.least)
        count = self.size * self.samples
        steps = (ops.arange(count).astype(ms.float32) + 0.5) / count
        at = start[:, None] + length[:, None] * steps
        at = ops.clamp(at, 0.0, places - 1.0)
        distances = ops.abs(at[..., None] - ops.arange(places).astype(ms.float32))
        shares = ops.relu(1.0 - distances)
        return shares.reshape(-1, self.size, self.samples, places).mean(2)

    def construct(self, features, images, boxes):
        rows = self.weights(boxes[:, 1], boxes[:, 3], features.shape[2])
        columns = self.weights(boxes[:, 0], boxes[:, 2], features.shape[3])
        features = ops.gather(features, images, 0)
        lines = ops.matmul(rows[:, None], features)
        return ops.matmul(lines, columns[:, None].swapaxes(2, 3))


class Suppression(nn.Cell):
    """Boxes N,4 and scores N -> the scores, 0 where a box of a higher one overlaps too much.

    The shape is that of the input whatever is kept, as devices with static shapes want it.
    """

    def __init__(self, threshold: float):
        super().__init__()
        self.suppress = ops.NMSWithMask(threshold)

    def construct(self, boxes, scores):
        order = ops.topk(scores, scores.shape[0])[1]
        sorted_boxes = ops.cat((boxes[order], scores[order][:, None]), axis=1)
        _, _, kept = self.suppress(ops.stop_gradient(sorted_boxes))
        place = ops.argsort(order.astype(ms.float32))
        kept = kept.astype(scores.dtype)
        return scores * kept[place]


class Detector(nn.Cell):
    """Three maps and boxes -> class scores K,num_classes and shifts K,4, as a second stage does."""

    def __init__(self, in_channels: tuple[int, ...], width: int, size: int, num_classes: int):
        super().__init__()
        self.pyramid = FeaturePyramid(in_channels, width)
        self.regions = AlignedRegions(size, 0.25, 2, aligned=False)
        self.hidden = nn.Dense(width * size**2, 2 * width)
        self.scores = nn.Dense(2 * width, num_classes)
        self.shifts = nn.Dense(2 * width, 4)

    def construct(self, c2, c3, c4, images, boxes):
        finest = self.pyramid(c2, c3, c4)[0]
        x = self.regions(finest, images, boxes).flatten(start_dim=1)
        x = ops.relu(self.hidden(x))
        return self.scores(x), self.shifts(x)
