"""A small network and its optimisers, in PyTorch: trained from weights, or from a checkpoint."""

import torch

LR, MOMENTUM, DECAY = 0.05, 0.875, 0.02
BETAS = (0.9, 0.999)

# The second moment soon forgets, so that its largest value is another.
FORGETTING = (0.75, 0.5)


class Net(torch.nn.Module):
    """N,3,5,6 -> N,4 logits; smooth, so that no branch is taken otherwise."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn = torch.nn.BatchNorm2d(4)
        self.fc1 = torch.nn.Linear(4 * 5 * 6, 4)
        self.fc2 = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = torch.sigmoid(self.bn(self.conv(x)))
        return self.fc2(torch.sigmoid(self.fc1(x.flatten(1))))


def groups(network, named=False):
    """Decay for kernels alone."""
    kernels = [(n, p) for n, p in network.named_parameters() if p.ndim > 1]
    others = [(n, p) for n, p in network.named_parameters() if p.ndim == 1]
    return [
        {"params": members if named else [p for _, p in members], "weight_decay": wanted}
        for members, wanted in ((kernels, DECAY), (others, 0.0))
    ]


def momentum(network, named=False, **options):
    given = groups(network, named)
    return torch.optim.SGD(given, lr=LR, momentum=MOMENTUM, **options)


def nesterov(network):
    return momentum(network, nesterov=True)


def adam(network, betas=BETAS, **options):
    return torch.optim.Adam(network.parameters(), lr=LR, betas=betas, eps=1e-12, **options)


def amsgrad(network):
    return adam(network, FORGETTING, amsgrad=True)


def adamw(network, betas=BETAS, **options):
    return torch.optim.AdamW(groups(network), lr=LR, betas=betas, **options)


def adamw_amsgrad(network):
    return adamw(network, FORGETTING, amsgrad=True)


def load(network, optimizer, checkpoint):
    """A training checkpoint, complete."""
    network.load_state_dict(checkpoint["model"], strict=True)
    if optimizer is not None:
        optimizer.load_state_dict(checkpoint["optimizer"])


def train(network, optimizer, batches):
    """A step of the mean cross entropy for each batch: N,3,5,6 images and N labels."""
    network.train()
    for images, labels in batches:
        optimizer.zero_grad()
        images = torch.from_numpy(images).to(network.fc1.weight.dtype)
        loss = torch.nn.functional.cross_entropy(network(images), torch.from_numpy(labels).long())
        loss.backward()
        optimizer.step()


def weights(network):
    """Name -> values of every parameter."""
    return {name: p.detach().numpy().copy() for name, p in network.named_parameters()}
