"""Candidates that draw otherwise than their references, rightly and wrongly."""

from mindspore import nn, ops


class Drawing(nn.Cell):
    """A dense layer and a layer that draws."""

    def __init__(self, draw):
        super().__init__()
        self.dense, self.draw = nn.Dense(6, 6), draw

    def construct(self, x):
        return self.draw(self.dense(x))


class Path(nn.Cell):
    """Keeps a sample where a number is below its share."""

    def construct(self, x):
        if not self.training:
            return x
        return x / 0.7 * (ops.rand(x.shape[0], 1, 1) < 0.7).astype(x.dtype)


class PathOfOtherShare(nn.Cell):
    """Keeps a little more than it should, which its law does not show."""

    def construct(self, x):
        if not self.training:
            return x
        return x / 0.7 * (ops.rand(x.shape[0], 1, 1) < 0.74).astype(x.dtype)


class Apart(nn.Cell):
    """Two noises of a draw each."""

    def construct(self, x):
        if not self.training:
            return x
        scale = ops.standard_normal(x.shape)
        return x * (1.0 + 0.1 * scale) + ops.standard_normal(x.shape)


class Fewer(nn.Cell):
    """One noise, of the spread that both have of ones."""

    def construct(self, x):
        return x + 1.01**0.5 * ops.standard_normal(x.shape) if self.training else x


class Elements(nn.Cell):
    """Drops elements with the sequence first."""

    def construct(self, x):
        return ops.dropout(x.swapaxes(0, 1), 0.4, self.training).swapaxes(0, 1)


class Rates(nn.Cell):
    """Normal numbers of the mean and the spread of Poisson's law."""

    def construct(self, x):
        return x + 1.0 + ops.standard_normal(x.shape) if self.training else x


class Raises(nn.Cell):
    """Fails where it trains."""

    def construct(self, x):
        return x + ops.standard_normal(x.shape + x.misspelt) if self.training else x


class Crossed(nn.Cell):
    """Drops in the other order, each layer what it drops in the reference."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Dropout(p=0.4), nn.Dropout(p=0.4)

    def construct(self, x):
        second = 2.0 * self.two(x)
        return self.one(x) + second


class Latent(nn.Cell):
    """Draws by itself, in evaluation, too."""

    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Dense(6, 3), nn.Dense(6, 3)
        self.dropout, self.back = nn.Dropout(p=0.3), nn.Dense(3, 6)

    def noise(self, spread):
        return ops.standard_normal(spread.shape)

    def construct(self, x):
        mean, spread = self.mean(x), ops.exp(0.5 * self.spread(x))
        return self.back(self.dropout(mean + spread * self.noise(spread)))


class Variances(Latent):
    """Takes the variance for the spread."""

    def construct(self, x):
        mean, spread = self.mean(x), ops.exp(self.spread(x))
        return self.back(self.dropout(mean + spread * self.noise(spread)))


class Still(Latent):
    """Draws nothing by itself."""

    def construct(self, x):
        return self.back(self.dropout(self.mean(x) + 0.0 * self.spread(x)))


class OfOtherLaw(Latent):
    """Draws uniform numbers."""

    def noise(self, spread):
        return ops.rand_like(spread)


class Uniform(Latent):
    """Draws uniform numbers where it needs them."""

    def latent(self, mean, spread):
        return mean + spread * ops.rand_like(spread)

    def construct(self, x):
        mean, spread = self.mean(x), ops.exp(0.5 * self.spread(x))
        return self.back(self.dropout(self.latent(mean, spread)))


class Dropped(Latent):
    """Drops what the last layer gives."""

    def construct(self, x):
        mean, spread = self.mean(x), ops.exp(0.5 * self.spread(x))
        return self.dropout(self.back(mean + spread * self.noise(spread)))


def path():
    return Drawing(Path())


def path_of_other_share():
    return Drawing(PathOfOtherShare())


def apart():
    return Drawing(Apart())


def fewer():
    return Drawing(Fewer())


def elements():
    return Drawing(Elements())


def rates():
    return Drawing(Rates())


def raises():
    return Drawing(Raises())


def crossed():
    return Drawing(Crossed())
