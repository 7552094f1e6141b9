"""Networks in MindSpore that keep something from one call to the next."""

import mindspore as ms
from mindspore import nn


class Plain(nn.Cell):
    """Keeps nothing."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)

    def construct(self, x):
        return self.fc(x)


class Counting(nn.Cell):
    """Counts its calls in a parameter of its own. grows: how much the result grows with each."""

    def __init__(self, grows: float = 0.25):
        super().__init__()
        self.fc, self.grows = nn.Dense(4, 4), grows
        self.calls = ms.Parameter(ms.Tensor(0.0), name="calls", requires_grad=False)

    def construct(self, x):
        self.calls = self.calls + 1.0
        return self.fc(x) * (1.0 + self.grows * self.calls)


class Silent(Counting):
    """Counts its calls to no end."""

    def __init__(self):
        super().__init__(0.0)


class Buffered(nn.Cell):
    """Counts its calls in a buffer of its own."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.register_buffer("calls", ms.Tensor(0.0))

    def construct(self, x):
        self.calls.assign_value(self.calls + 1.0)
        return self.fc(x) * (1.0 + 0.25 * self.calls)


class Workspace(nn.Cell):
    """Keeps what it has computed, and never reads what an earlier call has left."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.space = ms.Parameter(ms.ops.zeros((2, 4)), name="space", requires_grad=False)

    def construct(self, x):
        self.space = self.fc(x)
        return self.fc(x)
