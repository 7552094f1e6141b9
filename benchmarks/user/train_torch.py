"""A training loop as it stands: SGD with a cosine of rates, over photos that are drawn here."""

import numpy as np
import torch
from net_torch import Net
from torch import nn

torch.manual_seed(0)
net = Net()
photos = np.random.default_rng(0).normal(size=(48, 3, 8, 8)).astype(np.float32)
labels = np.arange(48) % 5
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for start in range(0, 48, 8):
        images = torch.tensor(photos[start : start + 8])
        targets = torch.tensor(labels[start : start + 8])
        loss = criterion(net(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.6f}")
