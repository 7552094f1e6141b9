"""Small trainings in PyTorch, whose curves `curves.py` compares with those of their ports."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from torch.nn import functional

CLASSES, SIDE, SAMPLES, BATCH = 8, 12, 256, 16
MEAN = np.array([0.5, 0.3, -0.4], np.float32).reshape(3, 1, 1)


def data() -> tuple[np.ndarray, np.ndarray]:
    """Pictures (SAMPLES, 3, SIDE, SIDE) in RGB and their labels (SAMPLES,), always the same."""
    draws = np.random.default_rng(7)
    labels = draws.integers(0, CLASSES, SAMPLES)
    centres = draws.standard_normal((CLASSES, 3, SIDE, SIDE))
    noise = draws.standard_normal((SAMPLES, 3, SIDE, SIDE))
    return (0.5 * centres[labels] + noise + MEAN).astype(np.float32), labels.astype(np.int32)


def batches(seed: int, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pictures, labels and which pictures are flipped, for each step; shuffled in each epoch."""
    pictures, labels = data()
    draws, order = np.random.default_rng(seed), np.zeros(0, int)
    for _ in range(steps):
        if len(order) < BATCH:
            order = draws.permutation(SAMPLES)
        now, order = order[:BATCH], order[BATCH:]
        yield pictures[now], labels[now], draws.random(BATCH) < 0.5


def rates(schedule: str, steps: int, base: float) -> list[float]:
    """The learning rate of each step."""
    at = np.arange(steps) / 300
    by = {
        "constant": np.ones(steps),
        "cosine": 0.5 * (1 + np.cos(np.pi * np.minimum(at, 1))),
        "steps": 0.3 ** np.floor(at * 6),
        "warmup": np.minimum((np.arange(steps) + 1) / 30, 1.0) * 0.995 ** np.arange(steps),
    }
    return [float(base * each) for each in by[schedule]]


def initial(shapes: list[tuple[int, ...]], seed: int) -> list[np.ndarray]:
    """Initial weights, in the order of the parameters; vectors are scales and shifts."""
    draws = np.random.default_rng(100 + seed)
    made = []
    for shape in shapes:
        scale = (2 / int(np.prod(shape[1:]))) ** 0.5 if len(shape) > 1 else 0.1
        made.append((draws.standard_normal(shape) * scale).astype(np.float32))
    return made


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm = nn.Linear(3 * SIDE * SIDE, 32), nn.LayerNorm(32)
        self.b, self.c = nn.Linear(32, 32), nn.Linear(32, CLASSES)

    def forward(self, x):
        x = torch.relu(1 + self.norm(self.a(x.flatten(1))))
        return self.c(torch.relu(self.b(x)))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm_a = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.b, self.norm_b = nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.c = nn.Linear(16, CLASSES)

    def forward(self, x):
        x = torch.relu(0.5 + self.norm_a(self.a(x)))
        x = torch.relu(0.5 + self.norm_b(self.b(x)))
        return self.c(x.mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self, width=24, heads=2):
        super().__init__()
        self.heads = heads
        self.patch = nn.Linear(3 * 16, width)
        self.norm_a, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out, self.norm_b = nn.Linear(width, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        n = len(x)
        x = x.reshape(n, 3, 3, 4, 3, 4).permute(0, 2, 4, 1, 3, 5).reshape(n, 9, 48)
        x = self.patch(x)
        q, k, v = (
            self.qkv(1 + self.norm_a(x)).reshape(n, 9, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(n, 9, -1))
        x = x + self.down(torch.relu(self.up(1 + self.norm_b(x))))
        return self.head(x.mean(1))


NETWORKS = {"mlp": Mlp, "cnn": Cnn, "transformer": Transformer}


def train(
    network: str, optimizer: str, schedule: str, base: float, steps: int = 300, seed: int = 0
) -> Iterator[dict[str, float]]:
    """Train, and yield the loss of each step; every ten steps also losses in evaluation.

    network, schedule: of this module. optimizer: "sgd", "momentum" or "adamw".
    base: the largest learning rate.
    """
    net = NETWORKS[network]()
    parameters = [*net.parameters()]
    for parameter, values in zip(
        parameters, initial([tuple(p.shape) for p in parameters], seed), strict=True
    ):
        parameter.data = torch.from_numpy(values)
    matrices = [p for p in parameters if p.ndim > 1]
    groups = [
        {"params": matrices, "weight_decay": 0.02},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    by_rate = rates(schedule, steps, base)
    if optimizer == "adamw":
        stepping = torch.optim.AdamW(groups, lr=base)
    else:
        momentum = 0.9 if optimizer == "momentum" else 0.0
        stepping = torch.optim.SGD(groups, lr=base, momentum=momentum)
    average = [p.detach().clone() for p in parameters]
    whole, labels = map(torch.from_numpy, data())
    whole, labels = whole[:64] - torch.from_numpy(MEAN), labels[:64].long()
    for step, (x, y, flipped) in enumerate(batches(seed, steps)):
        x = torch.from_numpy(x - MEAN)
        x = torch.where(torch.from_numpy(flipped)[:, None, None, None], torch.flip(x, [3]), x)
        for group in stepping.param_groups:
            group["lr"] = by_rate[step]
        stepping.zero_grad()
        loss = functional.cross_entropy(net(x), torch.from_numpy(y).long(), label_smoothing=0.1)
        loss.backward()
        stepping.step()
        told = {"loss": loss.item()}
        with torch.no_grad():
            for kept, now in zip(average, parameters, strict=True):
                kept.mul_(0.9).add_(now, alpha=0.1)
        if step % 10 == 9:
            told["eval_loss"] = _evaluate(net, whole, labels)
            now = [p.data for p in parameters]
            for parameter, kept in zip(parameters, average, strict=True):
                parameter.data = kept
            told["ema_loss"] = _evaluate(net, whole, labels)
            for parameter, values in zip(parameters, now, strict=True):
                parameter.data = values
        yield told


@torch.no_grad()
def _evaluate(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    net.eval()
    loss = functional.cross_entropy(net(x), y).item()
    net.train()
    return loss
