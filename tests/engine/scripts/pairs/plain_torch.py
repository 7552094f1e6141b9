import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(4 * 9, 5)

    def forward(self, x):
        x = torch.nn.functional.gelu(self.bn(self.conv(x)))
        x = torch.nn.functional.avg_pool2d(x, 2).flatten(1)
        return self.fc(self.drop(x))


rng = np.random.default_rng(0)
images = rng.normal(size=(64, 1, 6, 6)).astype("float32")
labels = rng.integers(0, 5, 64)

net = Net()
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=16)

net.train()
for epoch in range(2):
    order = np.random.default_rng(epoch).permutation(64)
    for start in range(0, 64, 8):
        index = order[start : start + 8]
        x, y = torch.from_numpy(images[index]), torch.from_numpy(labels[index])
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        scheduler.step()
        print(epoch, start, loss.item())
