"""Sampling and training of diffusion models: whole loops from given noise, losses, averages."""

import itertools
import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental import optim

from ms_models.diffusion import DiT
from ms_models.diffusion_unet import convolution
from ms_models.steps import TrainStep

TRAIN_STEPS = 1000


def cumulated_alphas(start: float = 0.00085, end: float = 0.012) -> np.ndarray:
    """The share of the signal at each step of a training, of latent diffusion's schedule."""
    betas = np.linspace(start**0.5, end**0.5, TRAIN_STEPS) ** 2
    return np.cumprod(1.0 - betas)


class Denoiser(nn.Cell):
    """A small network of images, times and labels; the last label stands for none."""

    def __init__(self, channels: int, width: int, classes: int):
        super().__init__()
        self.nothing = classes
        self.time = nn.Dense(1, width)
        self.label = nn.Embedding(classes + 1, width)
        self.conv_in = convolution(channels, width, 3)
        self.conv_out = convolution(width, channels, 3)

    def construct(self, x, times, labels):
        condition = self.time(times[:, None] / TRAIN_STEPS) + self.label(labels)
        h = ops.silu(self.conv_in(x) + condition[:, :, None, None])
        return self.conv_out(h)


class Guided(nn.Cell):
    """Classifier-free guidance: away from what the network says without a label."""

    def __init__(self, network: nn.Cell, scale: float):
        super().__init__()
        self.network, self.scale = network, scale

    def construct(self, x, time, labels):
        times = ops.full((2 * x.shape[0],), time, dtype=x.dtype)
        nothing = ops.full_like(labels, self.network.nothing)
        both = self.network(ops.cat([x, x]), times, ops.cat([nothing, labels]))
        without, with_label = ops.chunk(both, 2)
        return without + self.scale * (with_label - without)


class DDIM(nn.Cell):
    """Noise, labels, fresh noise of each step -> images, by DDIM.

    The network predicts the noise. `eta` is the share of fresh noise. What a step needs of the
    schedule are numbers, made in double precision when the cell is built.
    """

    def __init__(
        self, channels: int, width: int, classes: int, scale: float, steps: int, eta: float
    ):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        alphas, stride = cumulated_alphas().tolist(), TRAIN_STEPS // steps
        self.times = [1 + stride * i for i in reversed(range(steps))]
        # Past the last step stands the first alpha, not one.
        self.now = [alphas[time] for time in self.times]
        self.later = [alphas[max(time - stride, 0)] for time in self.times]
        self.sigma = [
            eta * math.sqrt((1 - later) / (1 - now) * (1 - now / later))
            for now, later in zip(self.now, self.later, strict=True)
        ]

    def construct(self, x, labels, fresh):
        for i in range(len(self.times)):
            now, later, sigma = self.now[i], self.later[i], self.sigma[i]
            noise = self.model(x, float(self.times[i]), labels)
            image = (x - (1 - now) ** 0.5 * noise) / now**0.5
            x = later**0.5 * image + (1 - later - sigma**2) ** 0.5 * noise
            x = x + sigma * fresh[i]
        return x


class DPMSolver(nn.Cell):
    """Noise, labels -> images, by DPM-Solver++ of second order in several steps.

    The network predicts the noise; the first and the last step are of first order.
    """

    def __init__(self, channels: int, width: int, classes: int, scale: float, steps: int):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        alphas = cumulated_alphas()
        times = np.linspace(0, TRAIN_STEPS - 1, steps + 1).round()[:0:-1].astype(int)
        self.times = times.tolist()
        self.alpha = [math.sqrt(alphas[t]) for t in times]
        self.sigma = [math.sqrt(1 - alphas[t]) for t in times]
        snr = [math.log(a / s) for a, s in zip(self.alpha, self.sigma, strict=True)]
        self.h = [later - now for now, later in itertools.pairwise(snr)]
        self.ahead = [self.alpha[i + 1] * math.expm1(-h) for i, h in enumerate(self.h)]

    def construct(self, x, labels):
        before = x
        for i in range(len(self.times)):
            noise = self.model(x, float(self.times[i]), labels)
            image = (x - self.sigma[i] * noise) / self.alpha[i]
            if i == len(self.times) - 1:
                x = image
            else:
                direction = image
                if i > 0:
                    ratio = self.h[i - 1] / self.h[i]
                    direction = image + (image - before) / (2 * ratio)
                x = self.sigma[i + 1] / self.sigma[i] * x - self.ahead[i] * direction
                before = image
        return x


class FlowEuler(nn.Cell):
    """Noise, labels -> images, along a flow by Euler's method; `shift` moves steps to the noise."""

    def __init__(
        self, channels: int, width: int, classes: int, scale: float, steps: int, shift: float
    ):
        super().__init__()
        self.model = Guided(Denoiser(channels, width, classes), scale)
        sigmas = np.linspace(1.0, 1.0 / TRAIN_STEPS, steps)
        self.sigmas = [*(shift * sigmas / (1 + (shift - 1) * sigmas)).tolist(), 0.0]

    def construct(self, x, labels):
        for i in range(len(self.sigmas) - 1):
            now, later = self.sigmas[i], self.sigmas[i + 1]
            flow = self.model(x, now * TRAIN_STEPS, labels)
            x = x + (later - now) * flow
        return x


class VelocityLoss(nn.Cell):
    """Images, noise, times, labels -> the loss of a predicted velocity, weighted by min-SNR."""

    def __init__(self, channels: int, width: int, classes: int, gamma: float):
        super().__init__()
        self.network, self.gamma = Denoiser(channels, width, classes), gamma
        self.alphas = ms.Tensor(cumulated_alphas().astype(np.float32))

    def construct(self, x, noise, times, labels):
        share = self.alphas[times]
        signal = ops.sqrt(share)[:, None, None, None]
        sigma = ops.sqrt(1 - share)[:, None, None, None]
        noisy = signal * x + sigma * noise
        velocity = self.network(noisy, times.astype(x.dtype), labels)
        target = signal * noise - sigma * x
        error = ops.square(velocity - target).mean((1, 2, 3))
        snr = share / (1 - share)
        weight = ops.clamp(snr, max=self.gamma) / (snr + 1)
        return (error * weight).mean()


class FlowLoss(nn.Cell):
    """Images, noise, shares of noise, labels -> the loss of a predicted flow."""

    def __init__(self, network: nn.Cell):
        super().__init__()
        self.network = network

    def construct(self, x, noise, sigmas, labels):
        share = sigmas[:, None, None, None]
        noisy = (1 - share) * x + share * noise
        flow = self.network(noisy, sigmas * TRAIN_STEPS, labels)
        return ops.square(flow - (noise - x)).mean()


def towards(share, average, weight):
    """An average, moved by a share of the way to a weight."""
    return ops.assign(average, average + share * (weight - average))


class AveragedStep(TrainStep):
    """A step that keeps a moving average of all weights, whose decay warms up."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, limit: float, decay: float):
        super().__init__(network, optimizer)
        self.limit, self.decay = limit, decay
        self.clip = self.clipped
        self.updates = ms.Parameter(ms.Tensor(0.0, ms.float32), name="updates", requires_grad=False)
        self.average = optimizer.parameters.clone(prefix="average", init="same")

    def clipped(self, gradients):
        """Gradients scaled until their common norm is at most the limit."""
        return ops.clip_by_global_norm(gradients, self.limit)

    def averaged(self):
        """Move the average towards the weights."""
        ops.assign_add(self.updates, ms.Tensor(1.0, ms.float32))
        decay = ops.clamp((1 + self.updates) / (10 + self.updates), max=self.decay)
        return self.map(ops.partial(towards, 1 - decay), self.average, self.optimizer.parameters)

    def construct(self, *batch):
        loss = super().construct(*batch)
        return ops.depend(loss, ops.depend(self.averaged(), loss))


def dit_training(
    learning_rate: float, weight_decay: float, limit: float, decay: float, **network
) -> nn.Cell:
    """A DiT learns a flow: AdamW, gradients clipped by their common norm, averaged weights.

    nn.AdamWeightDecay corrects no bias of its moments.
    """
    trained = FlowLoss(DiT(**network))
    optimizer = optim.AdamW(trained.trainable_params(), learning_rate, weight_decay=weight_decay)
    return AveragedStep(trained, optimizer, limit, decay)
