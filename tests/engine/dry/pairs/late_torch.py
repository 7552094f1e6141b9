import copy

import numpy as np
import torch
from torch import nn

STEPS, WARMUP = 120, 40
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
average = copy.deepcopy(net)
matrices = [each for each in net.parameters() if each.dim() > 1]
vectors = [each for each in net.parameters() if each.dim() == 1]
groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: (s + 1) / WARMUP if s < WARMUP else 0.1 ** (s // 80)
)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=25)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(64, 6)).astype("float32"), rng.integers(0, 3, 64)

step = 0
for epoch in range(15):
    order = np.random.default_rng(epoch).permutation(64)
    for start in range(0, 64, 8):
        index = order[start : start + 8]
        x, y = torch.from_numpy(X[index]), torch.from_numpy(Y[index])
        loss = nn.functional.cross_entropy(net(x), y)
        loss = loss * (1.0 if step < 90 else 0.5)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        if step == 70:
            optimizer.param_groups[0]["weight_decay"] = 0.1
        decay = min(0.9, (1 + step) / (10 + step))
        with torch.no_grad():
            for mean, weight in zip(average.parameters(), net.parameters(), strict=True):
                mean.mul_(decay).add_(weight, alpha=1 - decay)
        step += 1
    torch.save(net.state_dict(), "last.pth")
