"""Wrong recurrent layers and embeddings. They are full of the kernels that a CPU has inaccurate."""

import math

import mindspore as ms
from mindspore import Parameter, nn, ops


class Recurrent(nn.Cell):
    """A layer over time, L,N,C -> L,N,H; 1,N,H. Its weights have the names of the right one."""

    gates = 3

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        rows = self.gates * hidden_size
        self.hidden_size = hidden_size
        self.weight_ih_l0 = Parameter(ops.zeros((rows, input_size)))
        self.weight_hh_l0 = Parameter(ops.zeros((rows, hidden_size)))
        self.bias_ih_l0 = Parameter(ops.zeros(rows))
        self.bias_hh_l0 = Parameter(ops.zeros(rows))

    def construct(self, x):
        hidden = ops.zeros((x.shape[1], self.hidden_size), x.dtype)
        outputs = []
        for step in range(x.shape[0]):
            inner = ops.matmul(x[step], self.weight_ih_l0.T) + self.bias_ih_l0
            outer = ops.matmul(hidden, self.weight_hh_l0.T) + self.bias_hh_l0
            hidden = self.next(hidden, inner, outer)
            outputs.append(hidden)
        return ops.stack(outputs), hidden[None]

    def parts(self, values):
        return ops.split(values, self.hidden_size, 1)


class GatesSwapped(Recurrent):
    def next(self, hidden, inner, outer):
        (z, r, n), (hz, hr, hn) = self.parts(inner), self.parts(outer)
        reset, update = ops.sigmoid(r + hr), ops.sigmoid(z + hz)
        new = ops.tanh(n + reset * hn)
        return new + update * (hidden - new)


class ResetBefore(Recurrent):
    def next(self, hidden, inner, outer):
        (r, z, n), (hr, hz, _) = self.parts(inner), self.parts(outer)
        reset, update = ops.sigmoid(r + hr), ops.sigmoid(z + hz)
        weight = self.weight_hh_l0[2 * self.hidden_size :]
        bias = self.bias_hh_l0[2 * self.hidden_size :]
        new = ops.tanh(n + ops.matmul(reset * hidden, weight.T) + bias)
        return new + update * (hidden - new)


class UpdateInverted(Recurrent):
    def next(self, hidden, inner, outer):
        (r, z, n), (hr, hz, hn) = self.parts(inner), self.parts(outer)
        reset, update = ops.sigmoid(r + hr), ops.sigmoid(z + hz)
        new = ops.tanh(n + reset * hn)
        return hidden + update * (new - hidden)


class BiasNotReset(Recurrent):
    def next(self, hidden, inner, outer):
        (r, z, n), (hr, hz, hn) = self.parts(inner), self.parts(outer)
        reset, update = ops.sigmoid(r + hr), ops.sigmoid(z + hz)
        bias = self.bias_hh_l0[2 * self.hidden_size :]
        new = ops.tanh(n + reset * (hn - bias) + bias)
        return new + update * (hidden - new)


class HardSigmoid(Recurrent):
    def next(self, hidden, inner, outer):
        (r, z, n), (hr, hz, hn) = self.parts(inner), self.parts(outer)
        reset = ops.clamp((r + hr) * 0.2 + 0.5, 0.0, 1.0)
        update = ops.clamp((z + hz) * 0.2 + 0.5, 0.0, 1.0)
        new = ops.tanh(n + reset * hn)
        return new + update * (hidden - new)


class TanhOfScaled(Recurrent):
    """LeCun's activation, whose error to tanh is far larger than that of any kernel."""

    gates = 1

    def next(self, _, inner, outer):
        return 1.0001 * ops.tanh(inner + outer)


class Timesteps(nn.Cell):
    base, last, sine_first = 10000.0, 0, False

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.half = width // 2
        self.linear = nn.Dense(width, channels)

    def construct(self, times):
        steps = ops.arange(self.half).astype(ms.float32)
        frequencies = ops.exp(-math.log(self.base) * steps / (self.half - self.last))
        angles = times[:, None].astype(ms.float32) * frequencies
        waves = (ops.sin(angles), ops.cos(angles))
        return self.linear(ops.cat(waves if self.sine_first else waves[::-1], -1))


class SineFirst(Timesteps):
    sine_first = True


class LastFrequency(Timesteps):
    last = 1


class OtherBase(Timesteps):
    base = 10010.0
