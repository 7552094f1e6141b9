"""Products in half precision, and a softmax, a mean and a norm in float32."""

import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        half = x.half()
        query = half @ self.query.weight.half().t() + self.query.bias.half()
        share = torch.softmax((query @ half.transpose(1, 2)).float(), -1)
        y = (share.half() @ half).float()
        return self.norm(y + y.mean(1, keepdim=True))
