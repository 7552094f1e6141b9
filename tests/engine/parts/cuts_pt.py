"""References that cut their gradients on purpose."""

import torch
from torch import nn


class Two(nn.Module):
    """N,6 -> N,3."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 3)


class Attended(Two):
    """Its second output is detached."""

    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(h), h.detach()


class Weighed(Two):
    def forward(self, x):
        h = self.a(x)
        return self.b(h) * h.data.mean(1, keepdim=True)


class Gated(Two):
    def forward(self, x):
        h = self.a(x)
        with torch.no_grad():
            gate = torch.sigmoid(h).mean(1, keepdim=True)
        return self.b(h) * gate


class Moved(Two):
    """What is detached is written in place."""

    def forward(self, x):
        h = self.a(x)
        shift = self.a.bias.detach()
        shift.mul_(1.0)
        return self.b(h) + shift.mean()


class Quantised(Two):
    """One line cuts twice."""

    def forward(self, x):
        h = self.a(x)
        q = torch.tanh(self.a.bias) + h * 0
        loss = (q - h.detach()).pow(2).mean() + 0.25 * (q.detach() - h).pow(2).mean()
        return self.b(h), loss
