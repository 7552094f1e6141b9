"""The residual networks of the r0.5 and r1.7 guides, whole: their blocks behind their stem."""

from mindspore import nn, ops

from ms_models.conv import conv_same
from ms_models.resnet import PooledBottleneck, WideBottleneck

BLOCKS = {"wide": (WideBottleneck, 1e-4), "pooled": (PooledBottleneck, 1e-5)}


class AssembledResNet(nn.Cell):
    """N,3,H,W -> N,num_classes; a stem of `stem` channels, then stages of `widths` channels.

    block: "wide" of the r0.5 guide, "pooled" of the r1.7 guide.
    """

    def __init__(
        self,
        block: str,
        layers: tuple[int, ...],
        stem: int,
        widths: tuple[int, ...],
        num_classes: int,
    ):
        super().__init__()
        build, eps = BLOCKS[block]
        self.conv1 = conv_same(3, stem, 7, 2)
        self.bn1 = nn.BatchNorm2d(stem, eps=eps)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        stages, before = [], stem
        for number, (count, width) in enumerate(zip(layers, widths, strict=True)):
            first = build(before, width, 1 if number == 0 else 2)
            rest = [build(width, width) for _ in range(count - 1)]
            stages.append(nn.SequentialCell(first, *rest))
            before = width
        self.stages = nn.CellList(stages)
        self.mean = ops.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.end_point = nn.Dense(before, num_classes)

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in self.stages:
            x = stage(x)
        return self.end_point(self.flatten(self.mean(x, (2, 3))))
