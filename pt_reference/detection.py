"""A feature pyramid and aligned regions as torchvision has them, and suppression by overlap.

`torchvision.ops.nms` has no version in Python, and its compiled one is not in every build.
"""

import torch
from torch import nn
from torchvision.ops import FeaturePyramidNetwork, RoIAlign, box_iou


class FeaturePyramid(FeaturePyramidNetwork):
    """Maps of several strides, finest first -> as many of `out_channels`."""

    def __init__(self, in_channels: tuple[int, ...], out_channels: int):
        super().__init__(list(in_channels), out_channels)

    def forward(self, *features: torch.Tensor) -> tuple[torch.Tensor, ...]:
        names = [str(number) for number in range(len(features))]
        return tuple(super().forward(dict(zip(names, features, strict=True))).values())


class AlignedRegions(RoIAlign):
    """Maps N,C,H,W, the images of boxes and boxes K,4 (x1, y1, x2, y2) -> K,C,size,size."""

    def __init__(self, size: int, scale: float, samples: int, aligned: bool):
        super().__init__(size, scale, samples, aligned)

    def forward(
        self, features: torch.Tensor, images: torch.Tensor, boxes: torch.Tensor
    ) -> torch.Tensor:
        # torchvision would compile its version in Python.
        with torch.compiler.set_stance("force_eager"):
            return super().forward(features, torch.cat((images[:, None].to(boxes), boxes), 1))


class Suppression(nn.Module):
    """Boxes N,4 and scores N -> the scores, 0 where a box of a higher one overlaps too much."""

    def __init__(self, threshold: float):
        super().__init__()
        self.threshold = threshold

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        overlap = box_iou(boxes, boxes) > self.threshold
        kept = torch.zeros_like(scores)
        for number in scores.argsort(descending=True):
            if not (overlap[number] & (kept > 0)).any():
                kept[number] = 1.0
        return scores * kept


class Detector(nn.Module):
    """Three maps and boxes -> class scores K,num_classes and shifts K,4, as a second stage does."""

    def __init__(self, in_channels: tuple[int, ...], width: int, size: int, num_classes: int):
        super().__init__()
        self.pyramid = FeaturePyramid(in_channels, width)
        self.regions = AlignedRegions(size, 0.25, 2, aligned=False)
        self.hidden = nn.Linear(width * size**2, 2 * width)
        self.scores = nn.Linear(2 * width, num_classes)
        self.shifts = nn.Linear(2 * width, 4)

    def forward(
        self,
        c2: torch.Tensor,
        c3: torch.Tensor,
        c4: torch.Tensor,
        images: torch.Tensor,
        boxes: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        finest = self.pyramid(c2, c3, c4)[0]
        x = self.regions(finest, images, boxes).flatten(1)
        x = self.hidden(x).relu()
        return self.scores(x), self.shifts(x)
