"""A network whose second layer runs twice, and whose third never does, and slow data."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again, self.never = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.again(self.again(self.first(x)))


class Slow(TensorDataset):
    def __getitem__(self, place):
        time.sleep(0.02)
        return super().__getitem__(place)


def loader():
    return DataLoader(Slow(torch.arange(48.0).reshape(12, 4)), batch_size=4)
