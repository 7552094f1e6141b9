"""MindCV's networks without what keeps them from being built or run with MindSpore 2.10."""

from mindcv.models import rexnet, volo
from mindspore import nn, ops


class ReXNetV1(rexnet.ReXNetV1):
    """Weights are drawn by the comparison; drawing them here reshapes a tensor without values."""

    def _initialize_weights(self) -> None:
        pass


class OutlookAttention(volo.OutlookAttention):
    """Pads by a tuple of numbers, not of pairs."""

    def construct(self, x):
        b, height, width, c = x.shape
        windows = self.kernel_size * self.kernel_size
        n = ((height - 1) // self.stride + 1) * ((width - 1) // self.stride + 1)
        v = ops.pad(ops.transpose(self.v(x), (0, 3, 1, 2)), (1, 1, 1, 1))
        v = ops.reshape(self.unfold(v), (b, self.num_heads, c // self.num_heads, windows, n))
        pooled = ops.transpose(self.pool(ops.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        scores = ops.reshape(self.attn(pooled), (b, n, self.num_heads, windows, windows))
        scores = self.softmax(ops.transpose(scores, (0, 2, 1, 3, 4)) * self.scale)
        mixed = self.batch_mat_mul(self.attn_drop(scores), ops.transpose(v, (0, 1, 4, 3, 2)))
        mixed = ops.reshape(ops.transpose(mixed, (0, 1, 4, 3, 2)), (b, c * windows, n))
        fold = volo.Fold(
            c, (height, width), self.kernel_size, padding=self.padding, stride=self.stride
        )
        return self.proj_drop(self.proj(ops.transpose(fold(mixed), (0, 2, 3, 1))))


def rexnet_10(num_classes: int) -> nn.Cell:
    return ReXNetV1(num_classes=num_classes)


def volo_d1(num_classes: int) -> nn.Cell:
    network = volo.volo_d1(num_classes=num_classes)
    for cell in network.cells_and_names():
        if isinstance(cell[1], volo.OutlookAttention):
            cell[1].__class__ = OutlookAttention
    return network
