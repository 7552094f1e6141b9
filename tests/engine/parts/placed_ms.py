"""Their ports, right ones and those with one mistake each."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class Chosen(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 9)

    def construct(self, x):
        scores = self.fc(x)
        return scores, scores.argmax(-1).astype(ms.int32)


class LeastChosen(Chosen):
    def construct(self, x):
        scores = self.fc(x)
        return scores, scores.argmin(-1).astype(ms.int32)


class Lengths(nn.Cell):
    less = 1

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 5, 3, stride=2, pad_mode="valid", has_bias=True)

    def construct(self, x, lengths):
        y = self.conv(x)
        lengths = (lengths - self.less) // 2
        mask = ops.arange(y.shape[-1])[None] < lengths[:, None]
        return y * mask[:, None], lengths


class LongerLengths(Lengths):
    less = -1


class Center(nn.Cell):
    keeps = 0.9

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 5)
        self.center = Parameter(ops.zeros((1, 5)), requires_grad=False)

    def construct(self, x):
        y = self.fc(x)
        out = ops.softmax(y - self.center.value().copy(), -1)
        mean = ops.stop_gradient(y).mean(0, keep_dims=True)
        ops.assign(self.center, self.center * self.keeps + mean * (1 - self.keeps))
        return out


class SlowCenter(Center):
    keeps = 0.99


class Queue(nn.Cell):
    early = False

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 5)
        keys = np.random.standard_normal((5, 8)).astype(np.float32)
        self.queue = Parameter(Tensor(keys), requires_grad=False)

    def construct(self, x):
        key = self.fc(x)
        old = self.queue.value().copy()
        new = ops.cat((ops.stop_gradient(key).T, old[:, key.shape[0] :]), 1)
        ops.assign(self.queue, new)
        used = new if self.early else old
        return ops.matmul(key, used)


class EarlyQueue(Queue):
    early = True


class InPlace(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.act, self.head = nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3)

    def construct(self, x):
        after = self.act(self.fc(x))
        return self.head(after) + after.sum(-1, keepdims=True)


class NotInPlace(InPlace):
    def construct(self, x):
        before = self.fc(x)
        after = self.act(before)
        return self.head(after) + before.sum(-1, keepdims=True)


class Scan(nn.Cell):
    late = 0

    def __init__(self):
        super().__init__()
        self.gate, self.new = nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x):
        state, states = ops.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            gate = ops.sigmoid(self.gate(x[:, t]))
            new = self.new(x[:, t - self.late])
            state = gate * state + (1 - gate) * ops.relu(new)
            states.append(state)
        return ops.stack(states, 1)


class LateScan(Scan):
    late = 1


class Pooled(nn.Cell):
    keeps = False

    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Dense(6, 4), nn.Dense(4, 3)

    def construct(self, x):
        mean = ops.tanh(self.fc(x)).mean(1, keep_dims=self.keeps)
        return self.head(mean)


class PooledInPlace(Pooled):
    keeps = True


class Capped(nn.Cell):
    most = 2

    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Dense(6, 4), nn.Dense(4, 3)

    def construct(self, x):
        y = self.fc(x) * 3
        y = ops.clamp(y, max=self.most)
        return self.head(y)


class HighlyCapped(Capped):
    """Its bound never bites, so that the statement gives what it takes."""

    most = 100


class Knots(nn.Cell):
    def __init__(self):
        super().__init__()
        knots = ms.Tensor(np.arange(-3, 9) * 0.4 - 1, ms.float32)
        self.knots = ms.Parameter(knots, requires_grad=False)
        self.weight = ms.Parameter(ops.ones((10, 3), ms.float32))

    def below(self, x, knots):
        return x < knots

    def construct(self, x):
        x, knots = x.expand_dims(-1), self.knots
        upper = self.below(x, knots[1:])
        pieces = ops.logical_and(x >= knots[:-1], upper).astype(x.dtype)
        left = (x - knots[:-2]) / (knots[1:-1] - knots[:-2])
        right = (knots[2:] - x) / (knots[2:] - knots[1:-1])
        hats = left * pieces[..., :-1] + right * pieces[..., 1:]
        return ops.tanh(ops.matmul(hats, self.weight))


class ClosedKnots(Knots):
    """On a knot, both pieces count."""

    def below(self, x, knots):
        return x <= knots


class Teacher(nn.Cell):
    late = False

    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Dense(6, 4), nn.Dense(6, 4)
        for weight in self.teacher.get_parameters():
            weight.requires_grad = False

    def follow(self):
        mean = self.teacher.weight * 0.5 + self.student.weight * 0.5
        ops.assign(self.teacher.weight, ops.stop_gradient(mean))

    def construct(self, x):
        if not self.late:
            self.follow()
        y = (self.student(x) - self.teacher(x)) ** 2
        if self.late:
            self.follow()
        return y


class LateTeacher(Teacher):
    late = True


class Packed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 3, batch_first=True, bidirectional=True)

    def construct(self, x):
        y = self.rnn(x, seq_length=Tensor([4, 2], ms.int32))[0]
        return ops.tanh(y), y * 2


class WholeRows(Packed):
    def construct(self, x):
        y = self.rnn(x)[0]
        return ops.tanh(y), y * 2


class Branch(nn.Cell):
    scale = 1.0

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)

    def construct(self, x):
        y = ops.tanh(self.fc(x)) * self.scale
        return x + y


class SilentBranch(Branch):
    """What it adds is zero: it gives what it takes."""

    scale = 0.0


class Behind(nn.Cell):
    def __init__(self):
        super().__init__()
        self.branch, self.head = Branch(), nn.Dense(6, 3)

    def construct(self, x):
        return self.head(self.branch(x))


class BehindRelu(Behind):
    def construct(self, x):
        return self.head(ops.relu(self.branch(x)))
