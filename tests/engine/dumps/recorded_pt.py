"""A PyTorch network that is recorded: weights of one's own, an in-place layer, a shared one."""

import torch
from torch import nn


class Net(nn.Module):
    """N,4 -> N,2."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True))
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.body(self.body[0](x)) + x)


def trained(context, x, y, weights, steps=2):
    """The weights after some steps, and all losses; `context` gets the network."""
    net = Net()
    net.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()}, strict=False)
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=0.1), []
    with context(net) as recorder:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((net(torch.from_numpy(x)) - torch.from_numpy(y)) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if recorder is not None:
                recorder.loss(loss)
                recorder.step()
    return {n: p.detach().numpy().copy() for n, p in net.state_dict().items()}, losses, net
