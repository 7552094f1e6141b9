"""Networks in MindSpore that look up rows of tables, right and wrong."""

import math

import numpy as np
from mindspore import Parameter, Tensor, nn


class Palette(nn.Cell):
    """Colours by their numbers. wrong: of a number that may never be asked for."""

    def __init__(self, wrong: int | None = None):
        super().__init__()
        table = np.sin(np.linspace(-1.0, 1.0, 40, dtype=np.float32)).reshape(20, 2)
        if wrong is not None:
            table[wrong, 1] *= -1.0
        self.table = Tensor(table)
        self.mask = Tensor(np.triu(np.full((8, 8), -1e9, np.float32), 1))
        self.fc = nn.Dense(2, 3)

    def construct(self, ids):
        return self.fc(self.table[ids]).reshape(-1, 3)


class Renamed(nn.Cell):
    """The same table by another name, as an array. wrong: as of `Palette`."""

    def __init__(self, wrong: int | None = None):
        super().__init__()
        other = Palette(wrong)
        self.colours, self.fc = other.table.asnumpy(), nn.Dense(2, 3)

    def construct(self, ids):
        return self.fc(Tensor(self.colours)[ids]).reshape(-1, 3)


class Kept(Palette):
    """The same table as a parameter of its own name. wrong: as of `Palette`."""

    def __init__(self, wrong: int | None = None):
        super().__init__(wrong)
        table = self.table
        del self.table
        self.table = Parameter(table, name="table", requires_grad=False)


class Positions(nn.Cell):
    """Adds the sines of positions. last: from here on the table repeats a row."""

    def __init__(self, length: int = 64, width: int = 8, last: int | None = None):
        super().__init__()
        places = np.arange(length)[:, None]
        turns = np.exp(np.arange(0, width, 2) * (-math.log(1e4) / width))
        table = np.zeros((1, length, width), np.float32)
        table[..., 0::2], table[..., 1::2] = np.sin(places * turns), np.cos(places * turns)
        if last is not None:
            table[:, last:] = table[:, last - 1 : last]
        self.pe = Tensor(table)
        self.fc = nn.Dense(width, width)

    def construct(self, x):
        return self.fc(x + self.pe[:, : x.shape[1]])


def kept_palette() -> Kept:
    """Right."""
    return Kept()


def wrong_palette() -> Palette:
    """One number of the table has the other sign."""
    return Palette(17)


def wrong_renamed() -> Renamed:
    """The same mistake in a table of another name."""
    return Renamed(17)


def wrong_kept() -> Kept:
    """The same mistake in a parameter."""
    return Kept(17)


def short_positions() -> Positions:
    """The table ends early."""
    return Positions(last=40)
