"""Weights in half precision, of which an optimiser updates copies in float32."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 5)).half()
master = [weight.detach().clone().float().requires_grad_() for weight in net.parameters()]
optimizer = torch.optim.SGD(master, lr=0.1, momentum=0.9)
rng = np.random.default_rng(7)
for _ in range(4):
    x = torch.from_numpy(rng.normal(size=(16, 12)).astype("float16"))
    y = torch.from_numpy(rng.integers(0, 5, 16))
    loss = nn.functional.cross_entropy(net(x).float(), y)
    net.zero_grad()
    (loss * 128.0).backward()
    for copy, weight in zip(master, net.parameters(), strict=True):
        copy.grad = weight.grad.float() / 128.0
    optimizer.step()
    with torch.no_grad():
        for copy, weight in zip(master, net.parameters(), strict=True):
            weight.copy_(copy)
