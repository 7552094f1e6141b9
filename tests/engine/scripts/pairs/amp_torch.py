import numpy as np
import torch
from torch import nn

SCALE = 2.0**10
torch.manual_seed(5)
net = nn.Sequential(
    *(nn.Conv2d(2, 6, 3, 2, bias=False), nn.BatchNorm2d(6), nn.ReLU()),
    *(nn.Flatten(), nn.Linear(36, 4)),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, growth_interval=2)
rng = np.random.default_rng(1)
for step in range(8):
    x = torch.from_numpy(rng.normal(size=(6, 2, 8, 6)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 4, 6))
    with torch.autocast("cpu", torch.float16):
        loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_value_(net.parameters(), 0.05)
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item(), scaler.get_scale())
