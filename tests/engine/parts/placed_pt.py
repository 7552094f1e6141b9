"""Networks whose mistakes show in whole numbers, in buffers, or in what is written in place."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 9)

    def forward(self, x):
        scores = self.fc(x)
        return scores, scores.argmax(-1)


class Lengths(nn.Module):
    """A sequence of halved length, and what is behind its end."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 5, 3, stride=2)

    def forward(self, x, lengths):
        y = self.conv(x)
        lengths = (lengths - 1) // 2
        mask = torch.arange(y.shape[-1])[None] < lengths[:, None]
        return y * mask[:, None], lengths


class Center(nn.Module):
    """Outputs around a moving mean of those before."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 5)
        self.register_buffer("center", torch.zeros(1, 5))

    def forward(self, x):
        y = self.fc(x)
        out = torch.softmax(y - self.center, -1)
        with torch.no_grad():
            self.center.mul_(0.9).add_(y.mean(0, keepdim=True) * 0.1)
        return out


class Queue(nn.Module):
    """The scores against the keys of earlier batches, of which the oldest are replaced."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 5)
        self.register_buffer("queue", torch.randn(5, 8))

    def forward(self, x):
        key = self.fc(x)
        scores = key @ self.queue.clone()
        with torch.no_grad():
            self.queue[:, : len(key)] = key.T
        return scores


class InPlace(nn.Module):
    """What the ReLU takes is what it gives, thereafter."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 8)
        self.act = nn.ReLU(inplace=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        before = self.fc(x)
        after = self.act(before)
        return self.head(after) + before.sum(-1, keepdim=True)


class Scan(nn.Module):
    """A linear recurrence."""

    def __init__(self):
        super().__init__()
        self.gate, self.new = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        state, states = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            gate = torch.sigmoid(self.gate(x[:, t]))
            new = self.new(x[:, t])
            state = gate * state + (1 - gate) * F.relu(new)
            states.append(state)
        return torch.stack(states, 1)


class Pooled(nn.Module):
    """A mean over an axis, which is gone then."""

    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Linear(6, 4), nn.Linear(4, 3)

    def forward(self, x):
        mean = torch.tanh(self.fc(x)).mean(1)
        return self.head(mean)


class Capped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Linear(6, 4), nn.Linear(4, 3)

    def forward(self, x):
        y = self.fc(x) * 3
        y = torch.clamp(y, max=2)
        return self.head(y)


class Knots(nn.Module):
    """Hats around knots: what goes in lies on some of them, where either piece is right."""

    def __init__(self):
        super().__init__()
        self.register_buffer("knots", torch.arange(-3, 9) * 0.4 - 1)
        self.weight = nn.Parameter(torch.randn(10, 3))

    def forward(self, x):
        x, knots = x[..., None], self.knots
        pieces = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
        left = (x - knots[:-2]) / (knots[1:-1] - knots[:-2])
        right = (knots[2:] - x) / (knots[2:] - knots[1:-1])
        hats = left * pieces[..., :-1] + right * pieces[..., 1:]
        return torch.tanh(hats @ self.weight)


class Teacher(nn.Module):
    """A teacher whose weights follow the student's, in place, before it is asked."""

    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(6, 4), nn.Linear(6, 4)
        self.teacher.requires_grad_(False)

    def follow(self):
        with torch.no_grad():
            self.teacher.weight.mul_(0.5).add_(self.student.weight, alpha=0.5)

    def forward(self, x):
        self.follow()
        return (self.student(x) - self.teacher(x)) ** 2


class Packed(nn.Module):
    """A recurrent layer over rows of other lengths."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 3, batch_first=True, bidirectional=True)

    def forward(self, x):
        packed = pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True)
        y = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]
        return torch.tanh(y), y * 2


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = torch.tanh(self.fc(x))
        return x + y


class Behind(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch, self.head = Branch(), nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.branch(x))
