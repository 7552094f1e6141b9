import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.LayerNorm(8)
        self.mix = nn.Linear(8, 8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.norm(3000.0 * self.conv(x).mean((2, 3)))
        return self.fc(torch.relu(self.mix(x)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

for step in range(6):
    rng = np.random.default_rng(step)
    x = torch.from_numpy(rng.standard_normal((8, 3, 6, 6)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 5, 8))
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.float16):
        loss = nn.functional.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
