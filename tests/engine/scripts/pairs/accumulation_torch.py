import copy

import numpy as np
import torch
from torch import nn

STEPS, MICRO = 6, 3


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for average, weight in zip(self.module.parameters(), model.parameters(), strict=True):
            average.mul_(self.decay).add_(weight, alpha=1 - self.decay)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.second = nn.Linear(8, 3)

    def forward(self, x):
        return self.second(torch.sigmoid(self.first(x)))


def train():
    net = Net()
    ema = EMA(net, 0.9)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    rng = np.random.default_rng(2)
    for _ in range(STEPS):
        for _ in range(MICRO):
            x = torch.from_numpy(rng.normal(size=(4, 5)).astype("float32"))
            y = torch.from_numpy(rng.integers(0, 3, 4))
            loss = nn.functional.cross_entropy(net(x), y) / MICRO
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 0.3)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        ema.update(net)


if __name__ == "__main__":
    train()
