"""A detector in the manner of YOLOX, as people write one: what `coverage` is tried on."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BaseConv(nn.Module):
    def __init__(self, in_channels, out_channels, size, stride, groups=1):
        super().__init__()
        padding = (size - 1) // 2
        self.conv = nn.Conv2d(
            in_channels, out_channels, size, stride, padding, groups=groups, bias=False
        )
        self.bn = nn.BatchNorm2d(out_channels, eps=1e-3, momentum=0.03)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class SPPBottleneck(nn.Module):
    def __init__(self, channels, sizes=(5, 9, 13)):
        super().__init__()
        self.first = BaseConv(channels, channels // 2, 1, 1)
        self.pools = nn.ModuleList(nn.MaxPool2d(k, stride=1, padding=k // 2) for k in sizes)
        self.last = BaseConv(channels // 2 * (len(sizes) + 1), channels, 1, 1)

    def forward(self, x):
        x = self.first(x)
        return self.last(torch.cat([x] + [pool(x) for pool in self.pools], dim=1))


class Focus(nn.Module):
    def __init__(self, out_channels):
        super().__init__()
        self.conv = BaseConv(12, out_channels, 3, 1)

    def forward(self, x):
        corners = (x[..., i::2, j::2] for j in (0, 1) for i in (0, 1))
        return self.conv(torch.cat(tuple(corners), dim=1))


class Head(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.classes = nn.Conv2d(channels, classes, 1)
        self.boxes = nn.Conv2d(channels, 4, 1)
        self.objects = nn.Conv2d(channels, 1, 1)
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        for layer in (self.classes, self.objects):
            nn.init.constant_(layer.bias, -math.log((1 - 0.01) / 0.01))

    def forward(self, x):
        x = self.upsample(x)
        found = torch.cat([self.boxes(x), self.objects(x), self.classes(x)], 1)
        found = found.flatten(start_dim=2).permute(0, 2, 1)
        return self.decode(found, x.shape[-2:])

    def decode(self, found, size):
        rows, columns = torch.meshgrid([torch.arange(n) for n in size], indexing="ij")
        grid = torch.stack((columns, rows), 2).view(1, -1, 2).type_as(found)
        found[..., :2] = found[..., :2] + grid
        found[..., 2:4] = torch.exp(found[..., 2:4])
        return found


class IOULoss(nn.Module):
    def forward(self, found, target):
        top = torch.max(found[:, :2] - found[:, 2:] / 2, target[:, :2] - target[:, 2:] / 2)
        end = torch.min(found[:, :2] + found[:, 2:] / 2, target[:, :2] + target[:, 2:] / 2)
        area = torch.prod(end - top, 1) * (top < end).type(top.type()).prod(dim=1)
        union = torch.prod(found[:, 2:], 1) + torch.prod(target[:, 2:], 1) - area
        return 1 - (area / (union + 1e-16)) ** 2


def assign(scores, costs, matched):
    ious, _ = torch.topk(scores, min(10, scores.size(1)), dim=1)
    counts = torch.clamp(ious.sum(1).int(), min=1)
    for row, count in enumerate(counts.tolist()):
        _, columns = torch.topk(costs[row], k=count, largest=False)
        matched[row][columns] = 1
    return F.one_hot(matched.argmax(0), scores.shape[0]).float()


def losses(found, labels, weights):
    objects = F.binary_cross_entropy_with_logits(found[..., 4], weights, reduction="none")
    classes = nn.BCEWithLogitsLoss(reduction="none")(found[..., 5:], labels)
    distances = F.l1_loss(found[..., :4], labels[..., :4], reduction="none")
    return (objects.sum() + classes.sum() + distances.sum()) / max(weights.sum(), 1)


class Network(nn.Module):
    def __init__(self, channels=16, classes=5):
        super().__init__()
        self.stem = Focus(channels)
        self.pooled = SPPBottleneck(channels)
        self.head = Head(channels, classes)

    def forward(self, x):
        return self.head(self.pooled(self.stem(x)))
