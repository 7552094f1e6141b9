"""A training step of Adam, whose updates do not tell how large its gradients are."""

import torch
from torch import nn

SCALE, LIMIT, DECAY, BETAS = 1024.0, 4.0, 1e-6, (0.875, 0.96875)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 5), nn.Linear(5, 3)

    def forward(self, x, y):
        return 100.0 * (self.two(torch.tanh(self.one(x))) - y).square().mean()


class Step(nn.Module):
    """Scales the loss, clips what is no longer scaled, and updates."""

    def __init__(self):
        super().__init__()
        self.network, self.scale = Network(), SCALE
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=1e-2, betas=BETAS, weight_decay=DECAY
        )

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = self.network(x, y)
        (self.scale * loss).backward()
        for weight in self.network.parameters():
            weight.grad /= self.scale
        nn.utils.clip_grad_norm_(self.network.parameters(), LIMIT)
        self.optimizer.step()
        return loss.detach()
