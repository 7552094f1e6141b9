"""Networks that ask for CUDA, whether torch has it or not."""

import torch
from torch import nn


class Built(nn.Module):
    """N,C -> N,C. It asks when it is built, too."""

    def __init__(self):
        super().__init__()
        self.half = torch.full((1,), 0.5, device="cuda")

    def forward(self, x):
        return torch.relu(x.to(self.half.device)) * self.half


class Moved(nn.Module):
    """N,C -> N,C. It asks when it runs."""

    def forward(self, x):
        return torch.relu(x.cuda()) * torch.full((1,), 0.5).cuda()
