"""Networks with a mean over all positions: its gradient is the same at each."""

from torch import nn


class Pooled(nn.Module):
    """N,3,H,W -> N,4."""

    def __init__(self):
        super().__init__()
        layers: list[nn.Module] = []
        for channels in (3, 16, 16):
            layers.append(nn.Conv2d(channels, 16, 3, padding=1, bias=False))
            layers += [nn.BatchNorm2d(16), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Flat(Pooled):
    """The mean is of a norm: over one sample nothing goes back through that norm."""

    def forward(self, x):
        return self.classifier(self.features[:-1](x).mean((2, 3)))


class Grouped(nn.Module):
    """N,3,H,W -> N,4."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, 16)
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        return self.classifier(self.norm(self.conv(x)).mean((2, 3)))


class Tokens(nn.Module):
    """N,L whole numbers below 4 -> N,4."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 32)
        self.inner = nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32)
        self.classifier = nn.Linear(32, 4)

    def forward(self, x):
        x = self.table(x)
        return self.classifier((x + self.inner(x) + self.norm(x)).mean(1))
