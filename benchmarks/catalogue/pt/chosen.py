"""A PointNet, channel and spatial attention (CBAM), and a network of maxout units."""

import torch
from torch import nn
from torch.nn import functional


class PointNet(nn.Module):
    """N,3,points -> N,40. See Qi et al., "PointNet", 2017; without its two transforms.

    reduce: "max" or "amax": what takes the largest value over all points.
    """

    def __init__(self, reduce: str):
        super().__init__()
        layers: list[nn.Module] = []
        for into, out in ((3, 64), (64, 128), (128, 256)):
            layers += [nn.Conv1d(into, out, 1), nn.BatchNorm1d(out), nn.ReLU()]
        self.features, self.reduce = nn.Sequential(*layers), reduce
        self.classifier = nn.Linear(256, 40)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        return self.classifier(x.amax(2) if self.reduce == "amax" else torch.max(x, 2)[0])


class CBAM(nn.Module):
    """N,3,H,W -> N,10. See Woo et al., "CBAM: Convolutional Block Attention Module", 2018."""

    def __init__(self, channels: int):
        super().__init__()
        self.stages = nn.ModuleList(Attended(into, channels) for into in (3, channels, channels))
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for stage in self.stages:
            x = stage(x)
        return self.classifier(x.mean((2, 3)))


class Attended(nn.Module):
    """A convolution whose result is weighted by channel, and then by position."""

    def __init__(self, into: int, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(into, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.squeeze = nn.Linear(channels, channels // 8)
        self.excite = nn.Linear(channels // 8, channels)
        self.spatial = nn.Conv2d(2, 1, 7, padding=3)

    def _by_channel(self, pooled: torch.Tensor) -> torch.Tensor:
        return self.excite(torch.relu(self.squeeze(pooled.flatten(1))))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.silu(self.norm(self.conv(x)))
        pooled = functional.adaptive_avg_pool2d(x, 1), functional.adaptive_max_pool2d(x, 1)
        x = x * torch.sigmoid(sum(map(self._by_channel, pooled)))[:, :, None, None]
        both = [x.mean(1, keepdim=True), x.max(1, keepdim=True)[0]]
        return x * torch.sigmoid(self.spatial(torch.cat(both, 1)))


class Maxout(nn.Module):
    """N,3,H,W -> N,10. See Goodfellow et al., "Maxout Networks", 2013."""

    def __init__(self, channels: int):
        super().__init__()
        wide = 2 * channels
        into = (3, channels, channels, channels)
        self.convs = nn.ModuleList(nn.Conv2d(each, wide, 3, padding=1) for each in into)
        self.norms = nn.ModuleList(nn.BatchNorm2d(wide) for _ in into)
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = torch.maximum(*norm(conv(x)).chunk(2, 1))
        return self.classifier(x.mean((2, 3)))
