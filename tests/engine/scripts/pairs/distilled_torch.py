"""A student of a teacher that is not trained."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = np.random.default_rng(0).normal(size=(5, 8, 4)).astype("float32")
teacher, student = nn.Linear(4, 5), nn.Linear(4, 5)
teacher.eval()
optimizer = torch.optim.SGD(student.parameters(), 0.1)
for batch in data:
    x = torch.from_numpy(batch)
    with torch.no_grad():
        wanted = F.softmax(teacher(x) / 4, dim=1)
    loss = F.kl_div(F.log_softmax(student(x) / 4, dim=1), wanted, reduction="batchmean") * 16
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
