"""A training step with two passes: the second takes what the first optimiser has made."""

import torch
from torch import nn
from torch.nn.functional import softplus


class Passes(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.ModuleDict({"maker": nn.Linear(3, 5), "judge": nn.Linear(5, 1)})
        maker, judge = self.network["maker"], self.network["judge"]
        self.of_judge = torch.optim.SGD(judge.parameters(), 0.5)
        self.of_maker = torch.optim.SGD(maker.parameters(), 0.5)

    def forward(self, z, x):
        maker, judge = self.network["maker"], self.network["judge"]
        self.of_judge.zero_grad()
        told = softplus(-judge(x)).mean() + softplus(judge(maker(z).detach())).mean()
        told.backward()
        self.of_judge.step()
        self.of_maker.zero_grad()
        made = softplus(-judge(maker(z))).mean()
        made.backward()
        self.of_maker.step()
        return (told + made).detach()
