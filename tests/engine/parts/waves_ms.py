"""Layers that hand complex numbers to each other, and two that are wrong."""

from mindspore import nn, ops


class Waves(nn.Cell):
    def construct(self, x):
        return ops.rfft(x)


class ConjugateWaves(nn.Cell):
    def construct(self, x):
        return ops.conj(ops.rfft(x))


class Signal(nn.Cell):
    def construct(self, waves, length):
        return ops.irfft(waves, n=length)


class LouderSignal(nn.Cell):
    def construct(self, waves, length):
        return 1.1 * ops.irfft(waves, n=length)


class Filter(nn.Cell):
    def __init__(self, waves=Waves, signal=Signal):
        super().__init__()
        self.before = nn.Dense(8, 8)
        self.waves = waves()
        self.signal = signal()
        self.behind = nn.Dense(8, 8)

    def construct(self, x):
        return self.behind(self.signal(2 * self.waves(self.before(x)), 8))


def conjugate():
    return Filter(ConjugateWaves)


def louder():
    return Filter(signal=LouderSignal)
