import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
rng = np.random.default_rng(4)
images = rng.normal(size=(48, 2, 8, 6)).astype("float32")
images[16:24] *= 3000  # in float16 the gradients of this batch overflow
labels = rng.integers(0, 4, 48)
loader = DataLoader(TensorDataset(torch.from_numpy(images), torch.from_numpy(labels)), 8)
net = nn.Sequential(
    *(nn.Conv2d(2, 6, 3, 2), nn.ReLU(), nn.Conv2d(6, 8, 2), nn.ReLU()),
    *(nn.Flatten(), nn.Linear(16, 4)),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=2)
for x, y in loader:
    with torch.autocast("cpu", torch.float16):
        loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(loss.item(), scaler.get_scale())
