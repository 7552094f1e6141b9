"""DeepLab's pooling at several rates, and a U-Net."""

from mindspore import nn, ops

from ms_models.conv import conv2d


def conv_norm_relu(in_channels: int, out_channels: int, kernel_size: int, dilation: int = 1):
    """A convolution that keeps the size, BatchNorm and ReLU."""
    return nn.SequentialCell(
        conv2d(in_channels, out_channels, kernel_size, dilation=dilation),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
    )


class PooledBranch(nn.SequentialCell):
    """What the whole map says, at every place: N,C,H,W -> N,out_channels,H,W."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__(
            # Under the name that torchvision's convolution has after its pooling.
            nn.AdaptiveAvgPool2d(1),
            conv2d(in_channels, out_channels, 1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )

    def construct(self, x):
        # Interpolated from a single place, every place is that one.
        return ops.tile(super().construct(x), (1, 1, x.shape[2], x.shape[3]))


class ASPP(nn.Cell):
    """Dilated convolutions beside each other, joined: N,in_channels,H,W -> N,out_channels,H,W."""

    def __init__(self, in_channels: int, rates: tuple[int, ...], out_channels: int):
        super().__init__()
        self.convs = nn.CellList(
            [
                conv_norm_relu(in_channels, out_channels, 1),
                *(conv_norm_relu(in_channels, out_channels, 3, rate) for rate in rates),
                PooledBranch(in_channels, out_channels),
            ]
        )
        self.project = conv_norm_relu((len(rates) + 2) * out_channels, out_channels, 1)
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        parts = [conv(x) for conv in self.convs]
        x = ops.cat(parts, axis=1)
        return self.drop(self.project(x))


def double_conv(in_channels: int, out_channels: int) -> nn.SequentialCell:
    """Two 3x3 convolutions, each with BatchNorm and ReLU."""
    cells = []
    for channels in (in_channels, out_channels):
        cells += [conv2d(channels, out_channels, 3), nn.BatchNorm2d(out_channels), nn.ReLU()]
    return nn.SequentialCell(cells)


class UNet(nn.Cell):
    """N,3,H,W of any size -> scores N,num_classes,H,W; `widths` from the finest map on."""

    def __init__(self, widths: tuple[int, ...], num_classes: int):
        super().__init__()
        self.pool = nn.MaxPool2d(2, 2)
        self.down = nn.CellList(list(map(double_conv, (3, *widths[:-1]), widths)))
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.up = nn.CellList(
            [
                nn.Conv2dTranspose(deep, fine, 2, 2, pad_mode="valid", has_bias=True)
                for deep, fine in pairs
            ]
        )
        self.merge = nn.CellList([double_conv(2 * fine, fine) for _, fine in pairs])
        self.head = conv2d(widths[0], num_classes, 1, bias=True)

    def construct(self, x):
        skips = [self.down[0](x)]
        for down in self.down[1:]:
            skips.append(down(self.pool(skips[-1])))
        x = skips[-1]
        for number in range(len(self.up)):
            skip = skips[-2 - number]
            x = self.up[number](x)
            rows, columns = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
            sides = (rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)
            # In graph mode the gradient of ops.pad is wrong from the second call on.
            x = ops.Pad(((0, 0), (0, 0), *sides))(x)
            x = ops.cat((skip, x), axis=1)
            x = self.merge[number](x)
        return self.head(x)
