"""Networks that take every second row of the middle of three axes."""

import torch
from torch import nn


class Stepped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        y = self.fc(x)
        even = y[:, ::2]
        return torch.relu(even) + y.mean(1, keepdim=True)


class SteppedLast(Stepped):
    def forward(self, x):
        y = torch.relu(x)
        return self.fc(y)[:, ::2]


class SteppedOnce(Stepped):
    def forward(self, x):
        y = torch.relu(x)
        even = self.fc(y)[:, ::2]
        return even + even.sum(1, keepdim=True)
