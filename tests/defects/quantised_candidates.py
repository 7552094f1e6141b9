"""Networks of eight bits in MindSpore; PyTorch's are those of the study of right networks."""

from mindspore import nn, ops


class EightBits(nn.Cell):
    """N,3,H,W -> N,10: convolutions whose inputs and kernels have eight bits."""

    def __init__(self):
        super().__init__()
        self.convs = nn.CellList(
            [nn.Conv2d(into, 16, 3, has_bias=True) for into in (3, 16, 16)],
        )
        self.classifier = nn.Dense(16, 10)

    def construct(self, x):
        for conv in self.convs:
            kernel = self.quantised(conv.weight)
            image = self.quantised(x)
            x = ops.conv2d(image, kernel, pad_mode="same") + conv.bias[:, None, None]
            x = ops.relu(x)
        return self.classifier(x.mean((2, 3)))

    def quantised(self, x):
        step = ops.stop_gradient(ops.abs(x).max() / 127)
        whole = ops.round(x / step)
        whole = ops.clamp(whole, -127, 127)
        return x + ops.stop_gradient(whole * step - x)


class EightBitsClamped(EightBits):
    """The same with the gradient of a clamp."""

    def quantised(self, x):
        step = ops.stop_gradient(ops.abs(x).max() / 127)
        within = ops.clamp(x / step, -127, 127)
        whole = within + ops.stop_gradient(ops.round(within) - within)
        return whole * step
