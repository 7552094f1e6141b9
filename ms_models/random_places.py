"""Networks whose dropouts and noise have their places: a block, augmented spectrograms."""

from mindspore import nn, ops


class Attending(nn.Cell):
    """A block with a norm in front: attention by hand and a dense layer, each with its dropouts."""

    def __init__(self, width: int = 8, p: float = 0.3):
        super().__init__()
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.out, self.hidden = nn.Dense(width, width), nn.Dense(width, width)
        self.drop_weights, self.drop_out, self.drop_hidden = (nn.Dropout(p=p) for _ in range(3))

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = x + self.drop_out(self.out(mixed))
        return x + self.drop_hidden(ops.sigmoid(self.hidden(x)))


class Masks(nn.Cell):
    """Zeroes a run of frames and a run of bands of each spectrogram, N,F,T."""

    def construct(self, x):
        if not self.training:
            return x
        n, bands, frames = x.shape
        start = ops.randint(0, frames - 3, (n, 1, 1))
        place = ops.arange(frames).reshape(1, 1, frames)
        x = x.masked_fill(ops.logical_and(place >= start, place < start + 3), 0.0)
        start = ops.randint(0, bands - 2, (n, 1, 1))
        place = ops.arange(bands).reshape(1, bands, 1)
        return x.masked_fill(ops.logical_and(place >= start, place < start + 2), 0.0)


class Noise(nn.Cell):
    """Adds normal noise."""

    def construct(self, x):
        return x + 0.1 * ops.standard_normal(x.shape) if self.training else x


class Slopes(nn.Cell):
    """Negative numbers times a slope between 0.1 and 0.4 that is drawn."""

    def construct(self, x):
        slope = 0.1 + 0.3 * ops.rand(x.shape) if self.training else 0.25
        return ops.where(x >= 0.0, x, x * slope)


class Augmented(nn.Cell):
    """A convolution of spectrograms behind masks, with noise and random slopes."""

    def __init__(self, bands: int = 7, width: int = 6):
        super().__init__()
        self.masks, self.noise, self.slopes = Masks(), Noise(), Slopes()
        self.conv = nn.Conv1d(bands, width, 3, pad_mode="valid", has_bias=True)
        self.head = nn.Dense(width, 4)

    def construct(self, x):
        x = self.noise(self.conv(self.masks(x)))
        return self.head(self.slopes(x).mean(2))
