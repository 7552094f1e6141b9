"""DeepLab's pooling at several rates, as torchvision has it, and a U-Net."""

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models.segmentation.deeplabv3 import ASPP


def aspp(in_channels: int, rates: tuple[int, ...], out_channels: int) -> ASPP:
    """torchvision's ASPP: N,in_channels,H,W -> N,out_channels,H,W."""
    return ASPP(in_channels, list(rates), out_channels)


def double_conv(in_channels: int, out_channels: int) -> nn.Sequential:
    """Two 3x3 convolutions, each with BatchNorm and ReLU."""
    layers = []
    for channels in (in_channels, out_channels):
        layers += [
            nn.Conv2d(channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """N,3,H,W of any size -> scores N,num_classes,H,W; `widths` from the finest map on."""

    def __init__(self, widths: tuple[int, ...], num_classes: int):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        before = (3, *widths[:-1])
        self.down = nn.ModuleList(map(double_conv, before, widths))
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.up = nn.ModuleList(nn.ConvTranspose2d(deep, fine, 2, 2) for deep, fine in pairs)
        self.merge = nn.ModuleList(double_conv(2 * fine, fine) for _, fine in pairs)
        self.head = nn.Conv2d(widths[0], num_classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for number, down in enumerate(self.down):
            x = down(self.pool(x) if number else x)
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, skips[-2::-1], strict=True):
            x = up(x)
            rows, columns = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
            x = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
            x = merge(torch.cat((skip, x), 1))
        return self.head(x)
